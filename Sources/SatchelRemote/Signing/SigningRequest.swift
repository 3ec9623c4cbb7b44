/// A request as it is meant, before anything in it is encoded or signed.
public struct SigningRequest: Sendable {
  public enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case put = "PUT"
    case head = "HEAD"
    case delete = "DELETE"
    case post = "POST"
  }

  /// A name and a value; names of a query may occur again, names of headers are joined then.
  public typealias Field = (name: String, value: String)

  public var method: Method
  /// With the port, where it is not the scheme's own.
  public var host: String
  /// Begins with a slash; not encoded.
  public var path: String
  /// Not encoded, in any order.
  public var query: [Field]
  /// Without host, date, payload hash and session token, which the signer adds.
  public var headers: [Field]
  public var payload: PayloadHash

  public init(
    _ method: Method, host: String, path: String, query: [Field] = [], headers: [Field] = [],
    payload: PayloadHash = .empty
  ) {
    self.method = method
    self.host = host
    self.path = path
    self.query = query
    self.headers = headers
    self.payload = payload
  }
}
