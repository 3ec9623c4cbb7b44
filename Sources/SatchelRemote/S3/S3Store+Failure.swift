import CCurl
import SatchelStorage

extension S3Store {
  /// What an answer that is no success means for the caller.
  func failure(_ response: HTTPResponse, about what: String, isWriting: Bool = false) -> ObjectStoreError {
    let complaint = S3Complaint(response.body, hiding: credentials)
    let wait = retryAfter(response)
    let reason = Self.reason(response.status, complaint.code, isWriting: isWriting, retryAfter: wait)
    var message = "\(what): the store answered \(response.status)"
    if !complaint.code.isEmpty { message += " \(complaint.code)" }
    if !complaint.message.isEmpty { message += ": \(complaint.message)" }
    if let hint = hint(response, complaint.code) { message += " (\(hint))" }
    return ObjectStoreError(reason, message)
  }

  private static func reason(_ status: Int, _ code: String, isWriting: Bool, retryAfter: Int64?)
    -> ObjectStoreError.Reason
  {
    let again: ObjectStoreError.Reason =
      isWriting ? .unknownOutcome(retryAfter: retryAfter) : .transient(retryAfter: retryAfter)
    switch code {
    case "NoSuchBucket": return .failed(.notFound)
    case "QuotaExceeded", "EntityTooLarge": return .failed(.full)
    case "KeyTooLongError", "InvalidURI": return .invalidKey
    // Damaged on the way, and found out before anything was changed.
    case "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch": return .transient(retryAfter: retryAfter)
    case "RequestTimeout", "SlowDown": return again
    case "ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed", "InvalidAccessKeyId",
      "SignatureDoesNotMatch", "RequestTimeTooSkewed":
      return .denied
    default: break
    }
    switch status {
    case 401, 403: return .denied
    case 404: return .notFound
    case 412 where isWriting: return .preconditionFailed
    case 408, 409, 425, 429: return again
    case 413, 507: return .failed(.full)
    case 501, 505: return .failed(.foreign)
    case 500...599: return again
    case 300..<400: return .failed(.invalid)
    default: return .failed(.foreign)
    }
  }

  /// What may help a person.
  private func hint(_ response: HTTPResponse, _ code: String) -> String? {
    if let region = response.headers["x-amz-bucket-region"], (300...400).contains(response.status),
      region.utf8.count <= 32, region.utf8.allSatisfy({ (0x2D...0x7A).contains($0) })
    {
      return "the bucket is in the region \(region)"
    }
    guard response.status == 403 || code == "RequestTimeTooSkewed",
      let there = response.headers["date"].map({ ccurl_date($0) }), there > 0
    else { return nil }
    let difference = options.clock.now() / 1000 - there
    guard difference.magnitude > 300 else { return nil }
    let minutes = difference.magnitude / 60
    return "the clock here is \(minutes) minutes \(difference < 0 ? "behind" : "ahead of") that of the store"
  }

  /// Milliseconds; a date is as good as a number of seconds.
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

  /// What no answer, or none that is whole, means for the caller.
  static func failure(_ failure: HTTPFailure, about what: String, isWriting: Bool) -> ObjectStoreError {
    let reason: ObjectStoreError.Reason =
      switch failure.kind {
      case .notSent: .transient(retryAfter: nil)
      case .noReply: isWriting ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil)
      case .truncated: isWriting ? .unknownOutcome(retryAfter: nil) : .truncated
      case .notTrusted: .denied
      case .tooLarge: isWriting ? .unknownOutcome(retryAfter: nil) : .failed(.full)
      case .cancelled: .cancelled
      case .noMemory: .failed(.noMemory)
      case .impossible: .failed(.invalid)
      case .missing: .failed(.io)
      }
    switch failure.kind {
    case .cancelled: return ObjectStoreError(reason, "\(what): cancelled by the caller")
    case .tooLarge:
      return ObjectStoreError(reason, "\(what): the store's answer is larger than can be accepted")
    default: return ObjectStoreError(reason, "\(what): \(failure.message)")
    }
  }
}
