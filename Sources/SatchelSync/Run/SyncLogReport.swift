import SatchelCore
import SatchelRemote

/// A change that could not be sent, or an entry that could not be applied.
package struct SyncFailure: Sendable, Equatable {
  package var key: SyncKey
  package var code: SatchelError.Code
  package var message: String

  package init(_ key: SyncKey, _ error: SatchelError) {
    self.key = key
    code = error.code
    message = error.message
  }
}

/// The result of a sync.
package struct SyncLogReport: Sendable, Equatable {
  /// The counts of a sync for one subject.
  package struct Counts: Sendable, Equatable {
    /// Changes that were sent, including deletions.
    package internal(set) var sent = 0
    package internal(set) var deletionsSent = 0
    package internal(set) var applied = 0
    package internal(set) var deleted = 0
    package internal(set) var merged = 0
    package internal(set) var kept = 0
    /// New open conflicts, and versions that were discarded and are kept in a conflict log.
    package internal(set) var conflicts = 0
    /// Only the discarded versions.
    package internal(set) var lost = 0
    package internal(set) var waiting = 0
    /// Entries that are sent again, because the remote has lost them.
    package internal(set) var resent = 0

    package init() {}
  }

  /// A pack that could not be read.
  package struct Loss: Sendable, Equatable {
    package var pack: String
    package var entries: Int64
  }

  /// The action that a sync would take for one key.
  package struct Planned: Sendable, Equatable {
    package enum Action: String, Sendable {
      case upload
      case deleteRemotely = "delete_remotely"
      case download
      case deleteLocally = "delete_locally"
      case merge
      case conflict
      case wait
    }

    package var key: SyncKey
    package var action: Action
  }

  /// Head writes.
  package internal(set) var commits = 0
  package internal(set) var records = Counts()
  package internal(set) var state = Counts()
  /// Packs that were rewritten.
  package internal(set) var compacted = 0
  /// Objects that were deleted because no head named them.
  package internal(set) var swept = 0
  /// Packs that were rewritten because replaced or deleted entries were in them.
  package internal(set) var purged = 0
  /// Packs that were written again because they were missing or damaged.
  package internal(set) var repaired = 0
  package internal(set) var losses: [Loss] = []
  package internal(set) var failed: [SyncFailure] = []
  /// Whether a transaction was divided, because it exceeds the limit of one commit.
  package internal(set) var isCut = false
  /// The actions of a dry run.
  package internal(set) var planned: [Planned] = []

  package init() {}

  // Both subjects together.
  package var sent: Int { records.sent + state.sent }
  package var deletionsSent: Int { records.deletionsSent + state.deletionsSent }
  package var applied: Int { records.applied + state.applied }
  package var deleted: Int { records.deleted + state.deleted }
  package var kept: Int { records.kept + state.kept }
  package var resent: Int { records.resent + state.resent }
  package var conflicts: Int { records.conflicts + state.conflicts }
  package var waiting: Int { records.waiting + state.waiting }

  private mutating func changeCounts(of key: SyncKey, _ change: (inout Counts) -> Void) {
    if key.collection == SyncKey.state { change(&state) } else { change(&records) }
  }

  mutating func add(_ decided: SyncDecided) {
    records.conflicts += decided.lost
    records.lost += decided.lost
    failed += decided.failures
    for outcome in decided.outcomes {
      changeCounts(of: outcome.key) { counts in
        switch outcome.decision {
        case .match: break
        case .apply where outcome.isDeletion: counts.deleted += 1
        case .apply: counts.applied += 1
        case .keep: counts.kept += 1
        case .merged: counts.merged += 1
        case .conflict: counts.conflicts += 1
        case .waiting: counts.waiting += 1
        case .resend: counts.resent += 1
        }
      }
    }
  }

  mutating func addSent(_ envelope: SyncEnvelope) {
    changeCounts(of: envelope.key) { counts in
      counts.sent += 1
      if envelope.content.isDeleted { counts.deletionsSent += 1 }
    }
  }

  /// Adds failures of earlier syncs that are tried again later.
  mutating func add(postponed failures: [SyncFailure]) {
    let known = Set(failed.map(\.key))
    failed += failures.filter { !known.contains($0.key) }
  }

  mutating func plan(_ decided: SyncDecided) {
    for outcome in decided.outcomes {
      let action: Planned.Action
      switch outcome.decision {
      // Entries that are kept or sent again are among the changes to send.
      case .match, .keep, .resend: continue
      case .apply: action = outcome.isDeletion ? .deleteLocally : .download
      case .merged: action = .merge
      case .conflict: action = .conflict
      case .waiting: action = .wait
      }
      planned.append(Planned(key: outcome.key, action: action))
    }
  }
}

/// Options of a sync.
package struct SyncLogOptions: Sendable {
  package var retry = Retry()
  package var cancellation = Cancellation.never
  /// The number of packs that are read at the same time.
  package var parallel = 4
  /// Whether to continue with the readable entries when a pack is lost, and no other device has repaired it.
  package var acceptsLoss = false
  /// Whether to search for objects that no head names, and for missing packs.
  package var sweeps = false
  /// The key of an encrypted sync log; nil for one that is not encrypted. See `SyncLogRun.rekey`.
  package var key: EncryptionKey?
  /// Whether to read all packs, and to rewrite the damaged ones.
  package var verifies = false
  /// Whether to remove the bytes of all replaced and deleted entries from the remote.
  package var purges = false
  /// Whether to begin a new log over that of a closed account.
  package var reopens = false
  /// Whether to send everything again to a remote without any object of the user.
  package var recreates = false
  /// The number of failed rounds after which a sync fails.
  package var rounds = 8
  /// Called between requests and steps; throws to cancel the sync.
  package var progress: @Sendable (SyncLogProgress) throws -> Void = { _ in }

  package init() {}
}

/// The progress of a sync.
package enum SyncLogProgress: Sendable, Equatable {
  /// The head is being read.
  case look
  /// The number of new packs that have been read, and their total.
  case pull(done: Int, total: Int)
  /// Entries are compared with the local content.
  case decide
  /// The number of changes that have been sent.
  case send(Int)
}
