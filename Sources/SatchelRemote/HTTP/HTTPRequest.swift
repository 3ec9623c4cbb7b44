/// What is sent to a server, byte for byte.
struct HTTPRequest {
  var method: String
  var url: String
  /// All headers but the length of the body.
  var headers: [SigningRequest.Field]
  var body: [UInt8]?
  /// Whether it must not be sent twice without our knowing: libcurl repeats what it sent on a kept connection that
  /// turns out to be dead, although the server may have carried it out.
  var needsOwnConnection = false
  /// The most bytes of a body to accept.
  var limit: Int64
}
