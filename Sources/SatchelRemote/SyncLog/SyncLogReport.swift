import SatchelCore

/// What a sync has done.
package struct SyncLogReport: Sendable, Equatable {
  /// A pack that could not be read.
  package struct Loss: Sendable, Equatable {
    package var pack: String
    package var entries: Int64
  }

  /// A change that could not be sent.
  package struct Failure: Sendable, Equatable {
    package var key: SyncKey
    package var code: SatchelError.Code
    package var message: String
  }

  /// Head writes.
  package internal(set) var commits = 0
  /// Changes that were sent, deletions among them.
  package internal(set) var sent = 0
  package internal(set) var deletionsSent = 0
  package internal(set) var applied = 0
  package internal(set) var deleted = 0
  package internal(set) var merged = 0
  package internal(set) var kept = 0
  /// Conflicts that the host is asked about.
  package internal(set) var conflicts = 0
  package internal(set) var waiting = 0
  /// Content that is sent again, because the remote has lost it.
  package internal(set) var resent = 0
  /// Packs that were rewritten.
  package internal(set) var compacted = 0
  /// Objects that were deleted because no head named them.
  package internal(set) var swept = 0
  /// Packs that were rewritten because replaced or deleted entries were in them.
  package internal(set) var purged = 0
  /// Packs that were written again because they were missing or damaged.
  package internal(set) var repaired = 0
  package internal(set) var losses: [Loss] = []
  package internal(set) var failed: [Failure] = []
  /// Whether a transaction was sent in parts, because it is too large for one commit.
  package internal(set) var isCut = false

  package init() {}

  mutating func add(_ decided: SyncDecided) {
    applied += decided.applied
    deleted += decided.deleted
    merged += decided.merged
    kept += decided.kept
    conflicts += decided.conflicts
    waiting += decided.waiting
    resent += decided.resent
  }
}

/// How a sync is done.
package struct SyncLogOptions: Sendable {
  package var retry = Retry()
  package var cancellation = Cancellation.never
  /// Packs that are read at the same time.
  package var parallel = 4
  /// Whether to go on with what can be read where a pack is lost, and no other device has repaired it.
  package var acceptsLoss = false
  /// Whether to look for objects that no head names, and for packs that are missing.
  package var sweeps = false
  /// The key of an encrypted sync log; nil for one that is not encrypted. See `SyncLogRun.rekey`.
  package var key: EncryptionKey?
  /// Whether to read all packs, and to write those again that are damaged.
  package var verifies = false
  /// Whether to remove the bytes of all replaced and deleted entries from the remote.
  package var purges = false
  /// Rounds without success after which a sync ends.
  package var rounds = 8

  package init() {}
}
