import SatchelCore

import SatchelRemote

/// An object store in memory that notes its requests.
// Unchecked: guarded by the lock, or used by one thread at a time.
final class SyncMemoryStore: ObjectStore, @unchecked Sendable {
  struct Object {
    var body: [UInt8]
    var etag: ETag
    var metadata: ObjectMetadata
  }

  private struct State {
    var objects: [String: Object] = [:]
    var count = 0
    var requests: [String] = []
  }

  private let state = Locked(State())

  var objects: [String: Object] {
    get { state.withLock { $0.objects } }
    set { state.withLock { $0.objects = newValue } }
  }

  /// The requests since this was last asked, as "GET head".
  func takeRequests() -> [String] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  private func note(_ method: String, _ key: String) {
    let parts = key.split(separator: "/").dropFirst(2)
    state.withLock { $0.requests.append("\(method) \(parts.first ?? "")") }
  }

  private static func missing(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.notFound, "\(key): does not exist")
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    note("GET", key.text)
    guard let object = objects[key.text] else { throw Self.missing(key) }
    if object.etag == known { return .notModified }
    guard Int64(object.body.count) <= limit else { throw ObjectStoreError(.tooLarge, "\(key): is too large") }
    return .object(StoredObject(body: object.body, etag: object.etag, metadata: object.metadata))
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    note("PUT", key.text)
    let old = objects[key.text]?.etag
    switch condition {
    case .none: break
    case .ifAbsent where old == nil: break
    case .ifMatch(let known) where known == old: break
    case .ifMatch where old == nil: throw Self.missing(key)
    case .ifAbsent, .ifMatch: throw ObjectStoreError(.preconditionFailed, "\(key): was changed")
    }
    let etag = state.withLock { state in
      state.count += 1
      return ETag("\"\(state.count)\"")
    }
    guard let etag else { throw ObjectStoreError(.failed(.internal), "no ETag") }
    objects[key.text] = Object(body: body, etag: etag, metadata: metadata)
    return etag
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    note("HEAD", key.text)
    guard let object = objects[key.text] else { throw Self.missing(key) }
    return ObjectHead(size: Int64(object.body.count), etag: object.etag, metadata: object.metadata)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    note("DELETE", key.text)
    objects[key.text] = nil
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    note("LIST", prefix.text)
    var entries: [ObjectPage.Entry] = []
    for (key, object) in objects.sorted(by: { $0.key < $1.key }) where key.hasPrefix(prefix.text) {
      entries.append(
        ObjectPage.Entry(key: try ObjectKey(key), size: Int64(object.body.count), etag: object.etag))
    }
    return ObjectPage(entries: entries)
  }
}
