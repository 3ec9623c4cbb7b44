import CCurl
import SatchelCore

extension S3Store {
  /// Converts an error response.
  func failure(_ response: HTTPResponse, about subject: String, isWriting: Bool = false) -> ObjectStoreError {
    let errorBody = S3ErrorBody(response.body, hiding: credentials.known)
    let wait = retryAfter(response)
    let reason = Self.reason(response.status, errorBody.code, isWriting: isWriting, retryAfter: wait)
    var message = "\(subject): the store responded with \(response.status)"
    if !errorBody.code.isEmpty { message += " \(errorBody.code)" }
    if !errorBody.message.isEmpty { message += ": \(errorBody.message)" }
    if let hint = hint(response, errorBody.code) { message += " (\(hint))" }
    let concernsObject: Bool =
      switch (errorBody.code, response.status) {
      case ("EntityTooLarge", _), ("InvalidObjectState", _), (_, 413): true
      // A client error with a code that nothing above explains.
      case (_, 400...499): !errorBody.code.isEmpty && reason == .failed(.foreign) && response.status != 405
      default: false
      }
    return ObjectStoreError(reason, message, faultClass: concernsObject ? .object : nil)
  }

  private static func reason(_ status: Int, _ code: String, isWriting: Bool, retryAfter: Int64?)
    -> ObjectStoreError.Reason
  {
    let retryable: ObjectStoreError.Reason =
      isWriting ? .unknownOutcome(retryAfter: retryAfter) : .transient(retryAfter: retryAfter)
    switch code {
    case "NoSuchBucket": return .failed(.notFound)
    case "QuotaExceeded", "EntityTooLarge": return .failed(.full)
    case "KeyTooLongError", "InvalidURI": return .invalidKey
    case "InvalidObjectState": return .failed(.unavailable)
    // The body was damaged in transit, which the server detected before it changed anything.
    case "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch": return .transient(retryAfter: retryAfter)
    case "RequestTimeout", "SlowDown": return retryable
    case "ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed", "InvalidAccessKeyId",
      "SignatureDoesNotMatch", "RequestTimeTooSkewed":
      return .denied
    default: break
    }
    switch status {
    case 401, 403: return .denied
    case 404: return .notFound
    case 412 where isWriting: return .preconditionFailed
    case 408, 409, 425, 429: return retryable
    case 413, 507: return .failed(.full)
    case 501, 505: return .failed(.foreign)
    case 500...599: return retryable
    case 300..<400: return .failed(.invalid)
    default: return .failed(.foreign)
    }
  }

  /// Returns a hint for the user: an archived object, the bucket's region, or a wrong clock.
  private func hint(_ response: HTTPResponse, _ code: String) -> String? {
    if code == "InvalidObjectState" {
      return "the object is in an archive: have the store restore it (RestoreObject), then try again"
    }
    if let region = response.headers["x-amz-bucket-region"], (300...400).contains(response.status),
      region.utf8.count <= 32, region.utf8.allSatisfy({ (0x2D...0x7A).contains($0) })
    {
      return "the bucket is in region \(region)"
    }
    guard response.status == 403 || code == "RequestTimeTooSkewed", let there = Self.date(response),
      isSkewed(there)
    else { return nil }
    let difference = clock.now() - there
    let minutes = difference.magnitude / 60_000
    return "this device's clock is \(minutes) minutes \(difference < 0 ? "behind" : "ahead of") the store's"
  }

  /// Returns the Retry-After header in milliseconds; it has a number of seconds or a date.
  private func retryAfter(_ response: HTTPResponse) -> Int64? {
    guard let text = response.headers["retry-after"] else { return nil }
    let seconds: Int64
    if let number = Int64(text) {
      seconds = number
    } else {
      let date = ccurl_date(text)
      guard date > 0 else { return nil }
      seconds = date - options.clock.now() / 1000
    }
    return min(max(seconds, 0), 86_400) * 1000
  }

  /// Converts a failure without a complete response.
  static func failure(_ failure: HTTPFailure, about subject: String, isWriting: Bool) -> ObjectStoreError {
    let reason: ObjectStoreError.Reason =
      switch failure.kind {
      case .notSent: .transient(retryAfter: nil)
      case .noReply: isWriting ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil)
      case .truncated: isWriting ? .unknownOutcome(retryAfter: nil) : .truncated
      case .notTrusted: .denied
      case .tooLarge: isWriting ? .unknownOutcome(retryAfter: nil) : .tooLarge
      case .cancelled: .cancelled
      case .noMemory: .failed(.noMemory)
      case .invalidRequest, .forbiddenAddress: .failed(.invalid)
      case .libraryMissing: .failed(.io)
      case .refused(let error): error.reason
      }
    switch failure.kind {
    case .refused(let error): return error
    case .cancelled: return ObjectStoreError(reason, "\(subject): cancelled by the caller")
    case .tooLarge:
      return ObjectStoreError(reason, "\(subject): the store's response is larger than the limit")
    default: return ObjectStoreError(reason, "\(subject): \(failure.message)")
    }
  }
}

/// The XML body of an S3 error response.
struct S3ErrorBody {
  /// The error code, such as "NoSuchKey"; empty when it is missing or must not be shown.
  private(set) var code = ""
  /// The message; empty when it is missing or must not be shown.
  private(set) var message = ""

  /// - Parameter credentials: never shown, even if the server repeats them; nil for what is not shown at all
  init(_ body: [UInt8], hiding credentials: Credentials? = nil) {
    guard !body.isEmpty else { return }
    var (code, message) = ("", "")
    // Errors are ignored, and elements before the error are used: a gateway may send an HTML error page.
    try? XMLReader.read(body) { path, text in
      switch (path.count, path.last) {
      case (2, "Code"): code = text
      case (2, "Message"): message = text
      default: break
      }
      return true
    }
    let isName = code.utf8.count <= 64 && code.utf8.allSatisfy { (0x30...0x7A).contains($0) }
    self.code = isName && credentials?.appear(in: code) != true ? code : ""
    let shown = String(
      String.UnicodeScalarView(
        message.unicodeScalars.prefix(200).filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }))
    self.message = credentials?.appear(in: message) == true ? "" : shown
  }
}
