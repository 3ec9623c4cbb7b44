/// Why there is no whole answer.
struct HTTPFailure: Error {
  enum Kind: Sendable {
    /// Nothing was sent, and trying again may help.
    case notSent
    /// It was sent at least in part, and nothing is known of what became of it.
    case noReply
    /// The answer began, and broke off.
    case truncated
    /// The server could not prove who it is.
    case notTrusted
    case tooLarge
    case cancelled
    case noMemory
    /// It could not be sent as it is, or an option is none.
    case impossible
    /// A library is not installed.
    case missing
  }

  var kind: Kind
  /// What libcurl says, without headers and bodies.
  var message: String
}
