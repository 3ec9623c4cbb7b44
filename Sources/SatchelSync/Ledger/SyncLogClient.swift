import SatchelCore
import SatchelStorage

/// The interface of the sync log to the subjects of a store: records and state. All calls are made inside a
/// transaction of the store, and must not use the network.
package protocol SyncLogClient: Sendable {
  /// The collections that are declared and synchronized, targets of relations before those that refer to them. Entries
  /// of all others are stored and never decided.
  func collections(_ connection: Connection) throws -> [String]

  /// The local content of a key, to be sent; nil when it was deleted: then a tombstone is sent if an envelope
  /// was sent before.
  ///
  /// - Parameter isEncrypted: whether it is for an encrypted log; without one, sensitive content cannot be sent
  /// - Throws: `SatchelError` for content that cannot be sent, `unauthorized` for sensitive content; it is
  ///   retried later, and the others are sent
  func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing?

  /// The document of a key's local content, byte for byte as it is sent; nil when there is none, and for content that is
  /// sealed, or that changes without `SyncTracker.keepDocument`.
  func document(of key: SyncKey, _ connection: Connection) throws -> [UInt8]?

  /// The ids of a collection's local content, in any order that does not change.
  ///
  /// - Parameter position: the end of the previous part; nil for the first
  /// - Throws: `.damaged` when the part does not lie after the position
  func ids(
    of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs

  /// Decides about entries, and changes the local content accordingly. A decision ends the open or waiting conflict of
  /// a key.
  ///
  /// - Parameters:
  ///   - entries: in the order of `collections`
  ///   - isLast: whether no other entries are undecided: relations must hold afterwards
  func decide(_ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction) throws -> SyncDecisions

  /// Ends open and waiting conflicts of keys whose entry the remote has lost: its version may be here alone.
  func keepLost(_ keys: [SyncKey], in transaction: Transaction) throws

  /// The assets of the store; nil for a store without.
  var assets: (any AssetStorage)? { get }

  /// The keys of waiting entries that may be applicable together with others.
  func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey]

  /// The collections whose documents have sensitive parts: their entries are stored sealed, also those that other
  /// devices have not marked as sensitive.
  func sensitiveCollections(_ connection: Connection) throws -> Set<String>
}

/// Returns the document of local content; see `SyncLogClient.document`.
package typealias SyncDocuments = (SyncKey, Connection) throws -> [UInt8]?

extension SyncLogClient {
  package var assets: (any AssetStorage)? { nil }

  package func document(of key: SyncKey, _ connection: Connection) throws -> [UInt8]? { nil }

  package func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey] { [] }

  package func keepLost(_ keys: [SyncKey], in transaction: Transaction) throws {}

  package func sensitiveCollections(_ connection: Connection) throws -> Set<String> { [] }
}

/// An entry to decide about, with the local state of its key.
package struct SyncUndecided: Sendable, Equatable {
  package var key: SyncKey
  /// The last synced envelope; nil without a common version. It may be locked: then only its metadata are
  /// known.
  package var base: SyncEnvelope?
  /// The entry; nil when it was deleted so long ago that its tombstone was removed.
  package var remote: SyncEnvelope?
  /// Whether there is a local change, or, in a restored store, content that other devices have not built on.
  package var isChanged: Bool
  /// Whether the entry was not built on the base, although nothing changed locally: the remote lost the base,
  /// and other devices built on an older version. Both sides count as changed, and `base` is nil.
  package var isFork: Bool
  /// The metadata of local content whose deletion is pending, and the time of the deletion.
  package var deletion: SyncContent?
}

/// The decisions about some entries.
package struct SyncDecisions: Sendable, Equatable {
  /// One for each entry.
  package var decisions: [SyncDecision]
  /// The number of versions that were discarded, and are kept in a conflict log.
  package var lost: Int
  /// The reasons of waiting entries that are not in a conflict log.
  package var failures: [SyncFailure]

  package init(decisions: [SyncDecision], lost: Int = 0, failures: [SyncFailure] = []) {
    self.decisions = decisions
    self.lost = lost
    self.failures = failures
  }
}

/// The decision about an entry. The client has changed the local content before it returns the decision.
package enum SyncDecision: Sendable, Equatable {
  /// Both sides are equal.
  case match
  /// The local content is now the entry's.
  case apply
  /// The local content stays, and is sent over the entry.
  case keep
  /// The local content was merged from both, and is sent.
  case merged
  /// Both are kept until the host decides; see `SyncLogTables.resolve`.
  case conflict
  /// The entry cannot be applied before something else has changed; see `SyncLogTables.reconsider`.
  case waiting
  /// The base, which the client has restored, is sent again over the entry.
  case resend
}

/// A part of the ids of a collection's local content.
package struct SyncIDs {
  package enum Position {
    case row(Int64)
    case id(String)
  }

  package var ids: [String]
  /// The position of the last one; nil when there are no more.
  package var end: Position?

  package init(_ ids: [String], end: Position?) { (self.ids, self.end) = (ids, end) }
}
