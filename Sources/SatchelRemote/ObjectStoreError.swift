import SatchelStorage

/// Why an object store did not do what it was asked, told so that the caller knows what to do next.
public struct ObjectStoreError: Error, Sendable, CustomStringConvertible {
  public enum Reason: Sendable, Equatable {
    /// There is no object under the key.
    case notFound
    /// The object is not as the condition wants it: somebody else was there first. Nothing was changed.
    case preconditionFailed
    /// A write may have taken effect or not (its answer was lost, or the store said 409 or 5xx): read back
    /// before trying again. Milliseconds, when the store said how long to wait.
    case unknownOutcome(retryAfter: Int64?)
    /// Credentials, permissions, or a link that would lead out of the store. Trying again does not help.
    case denied
    /// Nothing was changed, and trying again may help. Milliseconds, when the store said how long to wait.
    case transient(retryAfter: Int64?)
    /// The body ended before its announced length.
    case truncated
    /// The caller gave up.
    case cancelled
    /// The key or prefix is none, or none that this store can hold.
    case invalidKey
    /// Anything else; trying again does not help.
    case failed(SatchelError.Code)
  }

  public var reason: Reason
  /// Names the key and the cause; holds no credentials and no content.
  public var message: String

  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  public var description: String { message }

  /// Whether the same request may simply be sent again. An unknown outcome may not: it has to be read back first.
  public var isTransient: Bool {
    switch reason {
    case .transient, .truncated: true
    default: false
    }
  }

  /// How long the store asked to be left alone, in milliseconds.
  public var retryAfter: Int64? {
    switch reason {
    case .transient(let wait), .unknownOutcome(let wait): wait
    default: nil
    }
  }

  /// The same for callers of the library.
  public var satchelError: SatchelError {
    let code: SatchelError.Code =
      switch reason {
      case .notFound: .notFound
      case .preconditionFailed, .unknownOutcome, .transient: .busy
      case .denied: .readOnly
      case .truncated: .damaged
      case .cancelled: .cancelled
      case .invalidKey: .invalid
      case .failed(let code): code
      }
    return SatchelError(code, message, underlying: self)
  }
}
