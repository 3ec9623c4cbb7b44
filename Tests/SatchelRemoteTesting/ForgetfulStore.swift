@testable import SatchelRemote

/// A store that ignores conditions.
package final class ForgetfulStore: ForwardingStore {
  package enum Weakness: Sendable {
    case ifAbsent, ifMatch, both
    /// Responds with 501 Not Implemented.
    case refusesIfMatch
    /// Returns the same ETag for every object.
    case oneTag
    /// Responds with 412 to every condition, also one that is met.
    case refusesAll, refusesMatching
    /// Writes an object that does not exist despite If-Match.
    case createsDespiteIfMatch
  }

  package let store: any ObjectStore
  private let weakness: Weakness

  package init(_ store: any ObjectStore, _ weakness: Weakness) {
    self.store = store
    self.weakness = weakness
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    var effective = condition
    switch (weakness, condition) {
    case (.ifAbsent, .ifAbsent), (.both, _), (.ifMatch, .ifMatch): effective = .none
    case (.refusesIfMatch, .ifMatch):
      throw ObjectStoreError(.failed(.foreign), "\(key): the store responded with 501")
    case (.oneTag, .ifMatch): effective = .none
    case (.refusesAll, .ifAbsent), (.refusesAll, .ifMatch), (.refusesMatching, .ifMatch):
      throw ObjectStoreError(.preconditionFailed, "\(key): the store responded with 412")
    case (.createsDespiteIfMatch, .ifMatch):
      if (try? store.head(key)) == nil { effective = .none }
    default: break
    }
    let etag = try store.put(key, body, condition: effective, metadata: metadata, cancellation: cancellation)
    return weakness == .oneTag ? ETag(hash: [0]) : etag
  }
}
