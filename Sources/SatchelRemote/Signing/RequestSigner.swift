import SatchelCore

/// Signs S3 requests with AWS Signature Version 4 in the headers, with the payload in a single chunk.
///
/// libcurl's own signer is not used, because it sends no payload hash, does not encode paths and queries, and
/// sorts headers incorrectly.
package struct RequestSigner: Sendable {
  private static let algorithm = "AWS4-HMAC-SHA256"

  private let credentials: Credentials
  private let region: String
  private let clock: Clock

  /// - Parameter clock: the current time; servers refuse requests whose date is off by more than 15 minutes
  /// - Throws: `.failed(.invalid)` for an invalid region name
  package init(credentials: Credentials, region: String, clock: Clock = .system) throws(ObjectStoreError) {
    try Self.check(region: region)
    self.credentials = credentials
    self.region = region
    self.clock = clock
  }

  /// - Throws: `.failed(.invalid)` for an invalid region name
  static func check(region: String) throws(ObjectStoreError) {
    let isName = region.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ",")
    }
    guard !region.isEmpty, isName else {
      throw ObjectStoreError(.failed(.invalid), "the region is empty or contains invalid characters")
    }
  }

  /// Signs a request.
  ///
  /// - Throws: `.failed(.invalid)` for a path that does not begin with a slash, control characters in
  ///   headers, or a clock outside of the years 1970 to 9999
  package func sign(_ request: SigningRequest) throws(ObjectStoreError) -> SignedRequest {
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

  /// Derives the signing key for one day and region.
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

/// A time in the format of signatures, in UTC.
struct SigningTime {
  /// The date, such as "20130524".
  let day: String
  /// The date and time, such as "20130524T000000Z".
  let text: String

  /// - Parameter milliseconds: Unix time
  /// - Throws: `.failed(.invalid)` outside of the years 1970 to 9999
  init(_ milliseconds: Int64) throws(ObjectStoreError) {
    var seconds = time_t(clamping: milliseconds / 1000)
    var parts = tm()
    guard milliseconds >= 0, gmtime_r(&seconds, &parts) != nil, parts.tm_year <= 9999 - 1900 else {
      throw ObjectStoreError(.failed(.invalid), "the clock is not between the years 1970 and 9999")
    }
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
    }
    day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
    text = day + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
  }
}
