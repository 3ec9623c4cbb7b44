/// What a server answered.
struct HTTPResponse: Sendable {
  var status = 0
  /// By their names in lower case; of several of a name the last.
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  var isSuccess: Bool { (200..<300).contains(status) }
}
