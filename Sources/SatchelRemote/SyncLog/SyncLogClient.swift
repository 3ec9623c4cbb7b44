import SatchelCore
import SatchelStorage

/// The subjects of a store, as the sync log sees them: records and state. All calls are made inside a transaction of the
/// store, and none may use the network.
package protocol SyncLogClient: Sendable {
  /// The collections that are declared and synchronized, targets of relations before those that refer to them. Entries
  /// of all others are stored and never decided.
  func collections(_ connection: Connection) throws -> [String]

  /// The local content of a key, to be sent. For nil, which means that it was deleted, a deletion is sent if an envelope
  /// was sent before.
  ///
  /// - Parameter isEncrypted: whether it is for an encrypted log; without one, sensitive content cannot be sent
  /// - Throws: `SatchelError` for content that cannot be sent, `unauthorized` for what is sensitive; it is tried again
  ///   later, and the others are sent
  func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing?

  /// The ids of a collection's local content, in any order that does not change.
  ///
  /// - Parameter position: the end of the previous part; nil for the first
  /// - Throws: `.damaged` when the part does not lie after the position
  func ids(
    of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs

  /// Decides what becomes of entries, and changes the local content accordingly.
  ///
  /// - Parameters:
  ///   - entries: in the order of `collections`
  ///   - isLast: whether no other entries are undecided: relations must hold afterwards
  func decide(_ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction) throws -> SyncDecisions

  /// The keys of entries that wait, and that can perhaps be applied together with others.
  func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey]

  /// The collections whose documents have sensitive parts: their entries are stored sealed, also those that other
  /// devices have not marked as sensitive.
  func sensitiveCollections(_ connection: Connection) throws -> Set<String>
}

extension SyncLogClient {
  package func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey] { [] }

  package func sensitiveCollections(_ connection: Connection) throws -> Set<String> { [] }
}

/// Local content that is sent.
package struct SyncOutgoing: Sendable, Equatable {
  package var content: SyncContent
  /// The version of its collection's documents.
  package var version: Int64
  /// Whether the document has sensitive parts.
  package var isSensitive: Bool

  package init(content: SyncContent, version: Int64, isSensitive: Bool = false) {
    self.content = content
    self.version = version
    self.isSensitive = isSensitive && !content.isDeleted
  }
}

/// An entry that is to be set against the local content.
package struct SyncUndecided: Sendable, Equatable {
  package var key: SyncKey
  /// The last synced envelope; nil when the two sides have seen none in common. It may be locked: then only its metadata
  /// are known.
  package var base: SyncEnvelope?
  /// The entry; nil when it was deleted so long ago that the deletion itself is gone.
  package var remote: SyncEnvelope?
  /// Whether there is a local change, or, in a store that went back, content that others have not built on.
  package var isChanged: Bool
  /// Whether the entry was not built on the base, and nothing changed locally: the remote lost the base, and others went on
  /// from something older. Both sides count as changed, and `base` is nil.
  package var isFork: Bool
  /// Of local content whose deletion is pending: its metadata, and the time of the deletion.
  package var deletion: SyncContent?
  /// Whether the host was asked about an entry that this one has replaced: that conflict is over.
  package var endsConflict: Bool
}

/// The decisions about some entries.
package struct SyncDecisions: Sendable, Equatable {
  /// One for each entry.
  package var decisions: [SyncDecision]
  /// How many versions were discarded, and are kept in a conflict log.
  package var lost: Int
  /// Why entries wait that no conflict log has.
  package var failures: [SyncFailure]

  package init(decisions: [SyncDecision], lost: Int = 0, failures: [SyncFailure] = []) {
    self.decisions = decisions
    self.lost = lost
    self.failures = failures
  }
}

/// What becomes of an entry. The client has changed the local content before it returns the decision.
package enum SyncDecision: Sendable, Equatable {
  /// Both sides are equal.
  case match
  /// The local content is now the entry's.
  case apply
  /// The local content stays, and is sent over the entry.
  case keep
  /// The local content was made of both, and is sent.
  case merged
  /// Both are kept until the host decides; see `SyncLogTables.resolve`.
  case conflict
  /// The entry cannot be applied before something else has changed; see `SyncLogTables.reconsider`.
  case waiting
  /// The base is to be sent again over the entry: what the client has put back.
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
