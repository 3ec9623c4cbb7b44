@testable import SatchelRemote

/// A wrapper around a store, with another identity.
final class NamedStore: ObjectStore {
  private let store: any ObjectStore
  let identity: String?

  init(_ store: any ObjectStore, identity: String) {
    self.store = store
    self.identity = identity
  }

  func get(_ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError)
    -> ObjectReading
  { try store.get(key, ifNoneMatch: known, cancellation: cancellation) }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try store.head(key, cancellation: cancellation)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}
