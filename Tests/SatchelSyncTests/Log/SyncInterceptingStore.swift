import SatchelCore
import SatchelRemote

/// A store that calls something before requests: the first of each method, or each.
final class SyncInterceptingStore: ObjectStore {
  private let store: SyncMemoryStore
  private let before: @Sendable (String) throws -> Void
  private let log = Locked<[String]>([])
  private let isEach: Bool
  var requests: [String] { log.withLock { $0 } }

  init(
    _ store: SyncMemoryStore, each isEach: Bool = false, _ before: @escaping @Sendable (String) throws -> Void
  ) {
    self.store = store
    self.isEach = isEach
    self.before = before
  }

  private func intercept(_ method: String, _ key: String) {
    let isFirst = log.withLock { log in
      log.append("\(method) \(key.hasSuffix("head") ? "head" : "p")")
      return log.count { $0.hasPrefix(method) } == 1
    }
    if isFirst || isEach { try? before(method) }
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    intercept("GET", key.text)
    return try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    intercept("PUT", key.text)
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try store.head(key, cancellation: cancellation)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    intercept("DELETE", key.text)
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    intercept("LIST", prefix.text)
    return try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}
