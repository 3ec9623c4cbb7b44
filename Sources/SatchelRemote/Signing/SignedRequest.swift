/// What has to be sent, byte for byte: the store makes the same signature of it, or refuses it.
public struct SignedRequest: Sendable {
  public var method: SigningRequest.Method
  /// Path and query, encoded.
  public var target: String
  /// All headers, `host` and `authorization` among them; names in lower case, in their order.
  public var headers: [SigningRequest.Field]

  /// The value of a header.
  ///
  /// - Parameter name: in lower case
  public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}
