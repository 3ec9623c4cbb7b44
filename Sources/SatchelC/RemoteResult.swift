import CSatchel
import Satchel

/// A host's answer about one thing, read into what an object store gives or throws.
struct RemoteResult {
  let result: satchel_remote_result
  let content: RemoteAnswer.Content
  /// The key, or what else was asked about.
  let subject: String
  /// Whether something may have been written.
  var isWrite = false

  init(
    about subject: String, isWrite: Bool = false, _ ask: (OpaquePointer?) -> satchel_remote_result
  ) {
    (result, content) = RemoteAnswer.of { answer in
      HostWork.calling("a function of the remote") { ask(answer) }
    }
    self.subject = subject
    self.isWrite = isWrite
  }

  /// - Throws: what the result says, unless it is success
  func check() throws(ObjectStoreError) {
    switch result {
    case SATCHEL_REMOTE_OK: return
    case SATCHEL_REMOTE_NOT_FOUND: throw failure(.notFound, "no such object")
    case SATCHEL_REMOTE_PRECONDITION_FAILED: throw failure(.preconditionFailed, "it is another object by now")
    case SATCHEL_REMOTE_UNKNOWN where isWrite:
      throw failure(.unknownOutcome(retryAfter: nil), "it is not known whether it was written")
    case SATCHEL_REMOTE_UNKNOWN, SATCHEL_REMOTE_TRANSIENT:
      throw failure(.transient(retryAfter: nil), "not now")
    case SATCHEL_REMOTE_DENIED: throw failure(.denied, "denied")
    case SATCHEL_REMOTE_FAILED: throw failure(.failed(.io), "failed")
    case SATCHEL_REMOTE_NOT_MODIFIED: throw nonsense("\"not modified\" is no answer to this")
    default: throw nonsense("\(Int32(truncatingIfNeeded: result.rawValue)) is no result")
    }
  }

  func reading() throws(ObjectStoreError) -> HostReading {
    if result == SATCHEL_REMOTE_NOT_MODIFIED { return .notModified }
    try check()
    guard let body = content.body else { throw nonsense("no body was set") }
    return .object(body: body, etag: try etag(), metadata: try metadata())
  }

  func head() throws(ObjectStoreError) -> HostHead {
    try check()
    guard let size = content.size else { throw nonsense("no size was set") }
    return HostHead(size: size, etag: try etag(), metadata: try metadata())
  }

  func etag() throws(ObjectStoreError) -> String {
    try check()
    guard let etag = content.etag else { throw nonsense("no etag was set") }
    return etag
  }

  func page() throws(ObjectStoreError) -> HostPage {
    try check()
    guard let body = content.body, let listing = try? JSONValue(parsing: body).objectValue,
      let entries = listing["entries"]?.arrayValue, let hasMore = listing["has_more"]?.boolValue
    else { throw nonsense("the listing is not {\"entries\": […], \"has_more\": boolean}") }
    var page = HostPage(entries: [], hasMore: hasMore)
    for entry in entries {
      guard let key = entry.objectValue?["key"]?.stringValue, let size = entry.objectValue?["size"]?.intValue
      else { throw nonsense("an entry of the listing is not {\"key\", \"size\", \"etag\"}") }
      page.entries.append(
        HostPage.Entry(key: key, size: size, etag: entry.objectValue?["etag"]?.stringValue))
    }
    return page
  }

  private func metadata() throws(ObjectStoreError) -> [String: String] {
    guard let bytes = content.metadata, !bytes.isEmpty else { return [:] }
    guard let object = try? JSONValue(parsing: bytes).objectValue else {
      throw nonsense("the metadata is no JSON object")
    }
    var values: [String: String] = [:]
    for (name, value) in object {
      guard let text = value.stringValue else { throw nonsense("the metadata \"\(name)\" is no text") }
      values[name] = text
    }
    return values
  }

  private func nonsense(_ why: String) -> ObjectStoreError { failure(.failed(.foreign), why) }

  private func failure(_ reason: ObjectStoreError.Reason, _ why: String) -> ObjectStoreError {
    let said = content.message.map { ": \($0)" } ?? ""
    return ObjectStoreError(reason, "\(subject): the host's store: \(why)\(said)")
  }
}
