import CSatchel
import Satchel
import Synchronization

/// The host's response to one request. Its handle is valid until the host's function returns; later calls
/// with it are ignored.
final class RemoteAnswer: Sendable {
  /// The values that the host set; invalid bytes count as not set.
  struct Content: Sendable {
    var body: [UInt8]?
    var etag: String?
    var metadata: [UInt8]?
    var size: Int64?
    var message: String?
    /// Of content, in seconds.
    var maxAge: Int64?
    var retryAfter: Int64?
    var isComplete = false
    /// Whether the body is larger than the limit.
    var isTooLarge = false
  }

  private let content = Mutex(Content())
  /// The maximum size of the body: a larger one is not copied.
  private let limit: Int64
  private let cancellation: Cancellation

  private init(_ limit: Int64, _ cancellation: Cancellation) {
    (self.limit, self.cancellation) = (limit, cancellation)
  }

  /// Calls a function of the host with a handle for its response, and returns its result and the response.
  static func of(
    limit: Int64, cancellation: Cancellation = .never, _ ask: (OpaquePointer?) -> satchel_remote_result
  ) -> (satchel_remote_result, Content) {
    let answer = RemoteAnswer(limit, cancellation)
    let handle = Handles.answers.insert(answer)
    let result = ask(handle)
    _ = Handles.answers.remove(handle)
    return (result, answer.content.withLock { $0 })
  }

  /// Changes the content of a response; ignores an invalid handle.
  static func set(_ handle: OpaquePointer?, _ change: (inout Content) throws -> Void) {
    guard let answer = try? Handles.answers.borrow(handle) else { return }
    answer.content.withLock { content in
      do { try change(&content) } catch { content.message = "\(error)" }
    }
  }

  /// Whether the call that asks was cancelled; false for an invalid handle.
  static func isCancelled(_ handle: OpaquePointer?) -> Bool {
    (try? Handles.answers.borrow(handle))?.cancellation.isCancelled() ?? false
  }

  static func setBody(_ handle: OpaquePointer?, _ body: satchel_bytes) {
    guard let limit = (try? Handles.answers.borrow(handle))?.limit else { return }
    set(handle) { answer in
      answer.body = nil
      let bytes = try body.raw("body")
      answer.isTooLarge = Int64(bytes.count) > limit
      answer.body = answer.isTooLarge ? [] : Array(bytes)
    }
  }
}

@_cdecl("satchel_remote_answer_body") @implementation
public func satchel_remote_answer_body(_ answer: OpaquePointer!, _ body: satchel_bytes) {
  RemoteAnswer.setBody(answer, body)
}

@_cdecl("satchel_remote_answer_etag") @implementation
public func satchel_remote_answer_etag(_ answer: OpaquePointer!, _ etag: satchel_bytes) {
  RemoteAnswer.set(answer) { answer in
    answer.etag = nil
    answer.etag = try etag.text("etag")
  }
}

@_cdecl("satchel_remote_answer_metadata") @implementation
public func satchel_remote_answer_metadata(_ answer: OpaquePointer!, _ metadata: satchel_bytes) {
  RemoteAnswer.set(answer) { $0.metadata = try Array(metadata.raw("metadata")) }
}

@_cdecl("satchel_remote_answer_size") @implementation
public func satchel_remote_answer_size(_ answer: OpaquePointer!, _ size: Int64) {
  RemoteAnswer.set(answer) { $0.size = size }
}

@_cdecl("satchel_remote_answer_message") @implementation
public func satchel_remote_answer_message(_ answer: OpaquePointer!, _ message: satchel_bytes) {
  // Invalid UTF-8 is replaced: the message is only displayed.
  RemoteAnswer.set(answer) { answer in
    answer.message = try String(decoding: message.raw("message").prefix(2000), as: UTF8.self)
  }
}

/// Converts a host's result and response to the values and errors of an object store.
struct RemoteResult {
  let result: satchel_remote_result
  let content: RemoteAnswer.Content
  /// The key or other subject of the request, for messages.
  let subject: String
  /// Whether the request may have written something.
  let isWrite: Bool

  /// - Parameter limit: the maximum size of the body
  init(
    about subject: String, isWrite: Bool = false, limit: Int64 = StoredObject.maximumSize,
    _ ask: (OpaquePointer?) -> satchel_remote_result
  ) {
    (result, content) = RemoteAnswer.of(limit: limit) { answer in
      HostWork.calling("a function of the remote") { ask(answer) }
    }
    self.subject = subject
    self.isWrite = isWrite
  }

  /// Checks the result.
  ///
  /// - Throws: the error of a result other than `SATCHEL_REMOTE_OK`
  func check() throws(ObjectStoreError) {
    switch result {
    case SATCHEL_REMOTE_OK: return
    case SATCHEL_REMOTE_NOT_FOUND: throw failure(.notFound, "no such object")
    case SATCHEL_REMOTE_PRECONDITION_FAILED:
      throw failure(.preconditionFailed, "the object was changed meanwhile")
    case SATCHEL_REMOTE_UNKNOWN where isWrite:
      throw failure(.unknownOutcome(retryAfter: nil), "the outcome of the write is unknown")
    case SATCHEL_REMOTE_UNKNOWN, SATCHEL_REMOTE_TRANSIENT:
      throw failure(.transient(retryAfter: nil), "temporarily unavailable")
    case SATCHEL_REMOTE_DENIED: throw failure(.denied, "denied")
    case SATCHEL_REMOTE_FAILED: throw failure(.failed(.io), "failed")
    case SATCHEL_REMOTE_NOT_MODIFIED:
      throw invalid("SATCHEL_REMOTE_NOT_MODIFIED is not a result of this function")
    default: throw invalid("\(Int32(truncatingIfNeeded: result.rawValue)) is not a satchel_remote_result")
    }
  }

  func reading() throws(ObjectStoreError) -> HostReading {
    if result == SATCHEL_REMOTE_NOT_MODIFIED { return .notModified }
    try check()
    guard let body = content.body else { throw invalid("no body was set") }
    if content.isTooLarge { throw failure(.tooLarge, "the body is larger than the limit") }
    return .object(body: body, etag: try etag(), metadata: try metadata())
  }

  func head() throws(ObjectStoreError) -> HostHead {
    try check()
    guard let size = content.size else { throw invalid("no size was set") }
    return HostHead(size: size, etag: try etag(), metadata: try metadata())
  }

  func range() throws(ObjectStoreError) -> HostRange {
    try check()
    guard let body = content.body, let size = content.size else {
      throw invalid("no body or no size was set")
    }
    if content.isTooLarge { throw invalid("the body is longer than the range") }
    return HostRange(body: body, size: size, etag: try etag())
  }

  func etag() throws(ObjectStoreError) -> String {
    try check()
    guard let etag = content.etag else { throw invalid("no etag was set") }
    return etag
  }

  func page() throws(ObjectStoreError) -> HostPage {
    try check()
    guard let body = content.body, let listing = try? JSONValue(parsing: body).objectValue,
      let entries = listing["entries"]?.arrayValue, let hasMore = listing["has_more"]?.boolValue
    else { throw invalid("the listing is not {\"entries\": […], \"has_more\": boolean}") }
    var page = HostPage(entries: [], hasMore: hasMore)
    for entry in entries {
      guard let key = entry.objectValue?["key"]?.stringValue, let size = entry.objectValue?["size"]?.intValue
      else { throw invalid("an entry of the listing is not {\"key\", \"size\", \"etag\"}") }
      page.entries.append(
        HostPage.Entry(key: key, size: size, etag: entry.objectValue?["etag"]?.stringValue))
    }
    return page
  }

  /// The host's credentials. Any failure but a temporary one is a lack of them, whatever the function's result says
  /// about objects.
  func credentials() throws(ObjectStoreError) -> Credentials {
    do throws(ObjectStoreError) {
      try check()
    } catch {
      let detail = content.message.map { ": \($0)" } ?? ""
      throw ObjectStoreError(
        error.isTransient ? error.reason : .denied, "the host's function gave no credentials\(detail)")
    }
    let object = content.body.flatMap { try? JSONValue(parsing: $0).objectValue }
    guard let object, let access = object["access_key"]?.stringValue,
      let secret = object["secret_key"]?.stringValue
    else {
      throw ObjectStoreError(.denied, "the host's credentials are not {\"access_key\", \"secret_key\"}")
    }
    return try Credentials(
      accessKey: access, secretKey: secret, sessionToken: object["session_token"]?.stringValue,
      expires: object["expires"]?.intValue)
  }

  private func metadata() throws(ObjectStoreError) -> [String: String] {
    guard let bytes = content.metadata, !bytes.isEmpty else { return [:] }
    guard let object = try? JSONValue(parsing: bytes).objectValue else {
      throw invalid("the metadata is not a JSON object")
    }
    var values: [String: String] = [:]
    for (name, value) in object {
      guard let text = value.stringValue else { throw invalid("the metadata \"\(name)\" is not a string") }
      values[name] = text
    }
    return values
  }

  private func invalid(_ message: String) -> ObjectStoreError { failure(.failed(.foreign), message) }

  private func failure(_ reason: ObjectStoreError.Reason, _ message: String) -> ObjectStoreError {
    let detail = content.message.map { ": \($0)" } ?? ""
    return ObjectStoreError(reason, "\(subject): the host's store: \(message)\(detail)")
  }
}
