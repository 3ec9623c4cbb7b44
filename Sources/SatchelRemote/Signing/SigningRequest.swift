import SatchelCore

/// A request before it is encoded and signed.
package struct SigningRequest: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case head = "HEAD"
    case delete = "DELETE"
  }

  /// A name and a value. Query names may be repeated; the values of repeated header names are joined.
  package typealias Field = (name: String, value: String)

  package var method: Method
  /// The host, with the port unless it is the scheme's default.
  package var host: String
  /// The path, which begins with a slash; not encoded.
  package var path: String
  /// The query parameters, not encoded, in any order.
  package var query: [Field]
  /// The headers without host, date, payload hash and session token, which the signer adds.
  package var headers: [Field]
  package var payload: PayloadHash

  package init(
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

/// A signed request. It must be sent exactly as it is, because the server verifies the signature.
package struct SignedRequest: Sendable {
  package var method: SigningRequest.Method
  /// The path and query, encoded.
  package var target: String
  /// All headers, including `host` and `authorization`; names in lower case and sorted.
  package var headers: [SigningRequest.Field]

  /// Returns the value of a header.
  ///
  /// - Parameter name: in lower case
  package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The SHA-256 of a request's body, as part of the signature.
package struct PayloadHash: Sendable, Equatable {
  /// The value of the header `x-amz-content-sha256`.
  package let text: String

  private init(text: String) { self.text = text }

  package init(of body: [UInt8]) { text = SHA256.digest(body).hexadecimal }

  init(of digests: ContentDigests) { text = digests.sha256.hexadecimal }

  /// Creates a payload hash from a known digest; nil unless it has 32 bytes.
  package init?(digest: [UInt8]) {
    guard digest.count == 32 else { return nil }
    text = digest.hexadecimal
  }

  /// The hash of an empty body.
  package static let empty = PayloadHash(of: [])

  /// The body is not signed; for bodies that are not known in advance.
  package static let unsigned = PayloadHash(text: "UNSIGNED-PAYLOAD")
}
