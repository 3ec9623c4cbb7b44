import SatchelCore

import SatchelRemote

/// A store to which the connection ends with one of the requests, before or after it takes effect.
final class SyncFailingStore: ObjectStore {
  private let store: SyncMemoryStore
  private let request: Int
  private let isAfter: Bool
  private let count = Locked(0)
  /// The requests that were tried.
  var requests: Int { count.withLock { $0 } }

  /// - Parameter request: the number of the request, from 0
  init(_ store: SyncMemoryStore, at request: Int, isAfter: Bool) {
    self.store = store
    self.request = request
    self.isAfter = isAfter
  }

  private func perform<Value>(
    _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let failure = ObjectStoreError(.failed(.internal), "the device has crashed")
    let number = count.withLock { count in
      count += 1
      return count - 1
    }
    if number > request || number == request && !isAfter { throw failure }
    let value = try body()
    if number == request { throw failure }
    return value
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try perform { () throws(ObjectStoreError) in
      try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    }
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try perform { () throws(ObjectStoreError) in
      try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    }
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try perform { () throws(ObjectStoreError) in try store.head(key, cancellation: cancellation) }
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    try perform { () throws(ObjectStoreError) in
      try store.delete(key, ifMatch: known, cancellation: cancellation)
    }
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try perform { () throws(ObjectStoreError) in
      try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
    }
  }
}
