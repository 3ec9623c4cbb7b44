import SatchelCore

/// A wrapper around another store that counts requests and bytes.
package final class MeteredStore: LazyObjectStore, DatedObjectStore {
  private let store: any ObjectStore
  private let meter = Locked(Traffic())

  package init(_ store: any ObjectStore) { self.store = store }

  package var identity: String? { store.identity }

  package var listsETags: Bool { store.listsETags }

  package var date: Int64? { (store as? any DatedObjectStore)?.date }

  /// The traffic since this wrapper was created.
  package var traffic: Traffic { meter.withLock { $0 } }

  private func count(up: Int = 0, down: Int = 0, requests: Int64 = 0) {
    meter.withLock { traffic in
      traffic.requests += requests
      traffic.bytesUp += Int64(up)
      traffic.bytesDown += Int64(down)
    }
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    count(requests: 1)
    let reading = try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    if case .object(let object) = reading { count(down: object.body.count) }
    return reading
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    count(up: body.count, requests: 1)
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  package func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    guard let store = store as? any LazyObjectStore else {
      _ = try put(key, body, condition: .ifAbsent, metadata: .none, cancellation: cancellation)
      return
    }
    count(up: body.count, requests: 1)
    try store.putLazily(key, body, cancellation: cancellation)
  }

  /// Sends no request: objects of a network store are durable already.
  package func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError) {
    try (store as? any LazyObjectStore)?.makeDurable(prefix)
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    count(requests: 1)
    return try store.head(key, cancellation: cancellation)
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    count(requests: 1)
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    count(requests: 1)
    return try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}

/// The requests and bytes exchanged with a store.
package struct Traffic: Sendable, Equatable {
  /// Calls of the store. A store may send several HTTP requests for one call; they count once.
  package var requests: Int64 = 0
  /// Bytes of bodies written, including repeated attempts.
  package var bytesUp: Int64 = 0
  /// Bytes of bodies read.
  package var bytesDown: Int64 = 0

  package init() {}
}
