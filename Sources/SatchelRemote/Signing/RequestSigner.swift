import SatchelStorage

/// Signs requests to S3 in their headers (AWS Signature Version 4, one chunk).
///
/// Ours because libcurl's own sends no payload hash, takes paths and queries as they are, and sorts headers wrongly.
public struct RequestSigner: Sendable {
  private static let algorithm = "AWS4-HMAC-SHA256"

  private let credentials: Credentials
  private let region: String
  private let clock: Clock

  /// - Parameter clock: the time of day; stores refuse what is off by more than a quarter of an hour
  /// - Throws: `.failed(.invalid)` for a region that is no name
  public init(credentials: Credentials, region: String, clock: Clock = .system) throws(ObjectStoreError) {
    let isName = region.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ",")
    }
    guard !region.isEmpty, isName else {
      throw ObjectStoreError(.failed(.invalid), "the region is not a name")
    }
    self.credentials = credentials
    self.region = region
    self.clock = clock
  }

  /// - Throws: `.failed(.invalid)` for what cannot be sent: a path without its first slash, control characters in
  ///   headers, a clock beyond reason
  public func sign(_ request: SigningRequest) throws(ObjectStoreError) -> SignedRequest {
    let time = try SigningTime(clock.now())
    let canonical = try canonicalRequest(request, time)
    let scope = "\(time.day)/\(region)/s3/aws4_request"
    let hash = SHA256.digest(canonical.text.utf8).hexadecimal
    let message = [Self.algorithm, time.text, scope, hash].joined(separator: "\n")
    var key = key(time.day)
    let signature = SHA256.authenticationCode(message.utf8, key: key).hexadecimal
    key.erase()
    let authorization =
      "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope), "
      + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature)"
    let headers = canonical.headers.filter { $0.name != "authorization" } + [("authorization", authorization)]
    return SignedRequest(method: request.method, target: canonical.target, headers: headers)
  }

  func canonicalRequest(_ request: SigningRequest, _ time: SigningTime) throws(ObjectStoreError)
    -> CanonicalRequest
  {
    var added = ["host": request.host, "x-amz-date": time.text, "x-amz-content-sha256": request.payload.text]
    if let token = credentials.sessionToken { added["x-amz-security-token"] = token.text }
    return try CanonicalRequest(request, adding: added)
  }

  /// Good for one day in one region.
  private func key(_ day: String) -> [UInt8] {
    var key = Array("AWS4".utf8)
    key.reserveCapacity(1024)
    credentials.secretKey.withBytes { key.append(contentsOf: $0) }
    for part in [day, region, "s3", "aws4_request"] {
      let next = SHA256.authenticationCode(part.utf8, key: key)
      key.erase()
      key = next
    }
    return key
  }
}
