import SatchelRemote

/// A wrapper around a store: each request goes to the wrapped store, unless the wrapper implements it. Faulty
/// stores implement one.
package protocol ForwardingStore: ObjectStore {
  var store: any ObjectStore { get }
}

extension ForwardingStore {
  package var identity: String? { store.identity }

  package var listsETags: Bool { store.listsETags }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try store.head(key, cancellation: cancellation)
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}

/// A store that ignores the conditions of writes.
package struct UnconditionalStore: ForwardingStore {
  package let store: any ObjectStore
  /// The only object whose conditions it ignores; nil for all.
  private let only: ObjectKey?

  package init(_ store: any ObjectStore, only: ObjectKey? = nil) {
    self.store = store
    self.only = only
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let isIgnored = only == nil || only == key
    return try store.put(
      key, body, condition: isIgnored ? .none : condition, metadata: metadata, cancellation: cancellation)
  }
}
