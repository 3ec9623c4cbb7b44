@testable import SatchelRemote

/// A store that does not heed conditions as it should.
final class ForgetfulStore: ObjectStore {
  enum Weakness: Sendable {
    case ifAbsent, ifMatch, both
    /// Answers that it has not been made for this.
    case refusesIfMatch
    /// The same tag for everything.
    case oneTag
  }

  private let store: any ObjectStore
  private let weakness: Weakness

  init(_ store: any ObjectStore, _ weakness: Weakness) {
    self.store = store
    self.weakness = weakness
  }

  func get(_ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError)
    -> ObjectReading
  { try store.get(key, ifNoneMatch: known, cancellation: cancellation) }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    var heeded = condition
    switch (weakness, condition) {
    case (.ifAbsent, .ifAbsent), (.both, _), (.ifMatch, .ifMatch): heeded = .none
    case (.refusesIfMatch, .ifMatch):
      throw ObjectStoreError(.failed(.foreign), "\(key): the store answered 501")
    case (.oneTag, .ifMatch): heeded = .none
    default: break
    }
    let etag = try store.put(key, body, condition: heeded, metadata: metadata, cancellation: cancellation)
    return weakness == .oneTag ? ETag(hash: [0]) : etag
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
