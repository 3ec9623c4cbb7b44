import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelRemote

/// The counts of a sync for the records, or for the state.
public struct SyncCounts: Sendable, Equatable, JSONConvertible {
  public var downloaded = 0
  public var uploaded = 0
  public var deletedLocally = 0
  public var deletedRemotely = 0
  /// Content that both sides had changed, and that was merged.
  public var merged = 0
  /// Conflicts: those that the host has to resolve, and those of versions that were discarded and are kept; see
  /// `Store.conflicts`.
  public var conflicts = 0
  /// Of these, the versions that were discarded.
  public var lost = 0
  /// Remote versions that cannot be applied yet; see `Store.conflicts`.
  public var waiting = 0

  public init() {}

  public var json: JSONValue {
    [
      "downloaded": .int(Int64(downloaded)), "uploaded": .int(Int64(uploaded)),
      "deleted_locally": .int(Int64(deletedLocally)), "deleted_remotely": .int(Int64(deletedRemotely)),
      "merged": .int(Int64(merged)), "conflicts": .int(Int64(conflicts)), "lost": .int(Int64(lost)),
      "waiting": .int(Int64(waiting)),
    ]
  }
}

/// A record or a part of the state that could not be sent, and is tried again by a later sync, or whose entry could not be
/// applied.
public struct SyncFailure: Sendable, Equatable, JSONConvertible {
  package var key: SyncKey
  public var code: SatchelError.Code
  public var message: String

  package init(_ key: SyncKey, _ error: SatchelError) {
    self.key = key
    code = error.code
    message = error.message
  }

  /// The collection; "@state" for state.
  public var collection: String { key.collection }
  public var id: String { key.id }

  public var json: JSONValue {
    [
      "collection": .string(collection), "id": .string(id), "code": .int(Int64(code.rawValue)),
      "message": .string(message),
    ]
  }
}

/// A pack of the sync log that could not be read.
public struct SyncLoss: Sendable, Equatable, JSONConvertible {
  /// The name of the object.
  public var pack: String
  public var entries: Int

  public var json: JSONValue { ["pack": .string(pack), "entries": .int(Int64(entries))] }
}

/// The action that a sync would take for one record, or one part of the state.
public struct SyncPlanned: Sendable, Equatable, JSONConvertible {
  public enum Action: String, Sendable, CaseIterable {
    case upload
    case download
    case deleteRemotely = "delete_remotely"
    case deleteLocally = "delete_locally"
    case merge
    case conflict
    case wait
  }

  package var key: SyncKey
  public var action: Action

  /// The collection; "@state" for state.
  public var collection: String { key.collection }
  public var id: String { key.id }

  public var json: JSONValue {
    ["collection": .string(collection), "id": .string(id), "action": .string(action.rawValue)]
  }
}

/// The assets that a sync has transferred.
public struct SyncAssetCounts: Sendable, Equatable, JSONConvertible {
  /// The number of assets whose bytes were uploaded.
  public internal(set) var uploaded = 0
  /// The number of assets whose bytes were downloaded.
  public internal(set) var downloaded = 0
  /// Of the uploaded ones, those that the remote had lost, or had damaged.
  public internal(set) var repaired = 0
  /// The number of assets that were removed from the remote, because nothing has referred to them for long.
  public internal(set) var dropped = 0
  /// The assets that could not be downloaded. Records that wait for an upload are in `StoreSyncReport.failed`.
  public internal(set) var failed: [SyncAssetFailure] = []

  public init() {}

  public var json: JSONValue {
    [
      "uploaded": .int(Int64(uploaded)), "downloaded": .int(Int64(downloaded)),
      "repaired": .int(Int64(repaired)), "dropped": .int(Int64(dropped)),
      "failed": .array(failed.map(\.json)),
    ]
  }
}

/// An asset that could not be downloaded.
public struct SyncAssetFailure: Sendable, Equatable, JSONConvertible {
  /// 64 hexadecimal digits in lower case.
  public var sha256: String { digest.text }
  package var digest: AssetDigest
  public var code: SatchelError.Code
  public var message: String

  public var json: JSONValue {
    ["sha256": .string(sha256), "code": .int(Int64(code.rawValue)), "message": .string(message)]
  }

  init(digest: AssetDigest, error: SatchelError) {
    (self.digest, code, message) = (digest, error.code, error.message)
  }
}

/// The result of a sync.
package struct SyncLogReport: Sendable, Equatable {
  /// Head writes.
  package internal(set) var commits = 0
  package internal(set) var records = SyncCounts()
  package internal(set) var state = SyncCounts()
  package internal(set) var assets = SyncAssetCounts()
  /// Local content that stays, and is sent over an entry,
  var kept = 0
  /// or because the remote has lost it.
  var resent = 0
  /// Packs that were rewritten,
  var compacted = 0
  /// those of them with replaced or deleted entries that a purge removes,
  var purged = 0
  /// and those that were missing or damaged.
  package internal(set) var repaired = 0
  /// Objects that were deleted because no head named them.
  var swept = 0
  package internal(set) var losses: [SyncLoss] = []
  package internal(set) var failed: [SyncFailure] = []
  /// Whether a transaction was divided, because it exceeds the limit of one commit.
  package internal(set) var isCut = false
  /// The actions of a dry run.
  package internal(set) var planned: [SyncPlanned] = []

  package init() {}

  /// The number of changes that were sent.
  package var sent: Int { [records, state].reduce(0) { $0 + $1.uploaded + $1.deletedRemotely } }

  private mutating func changeCounts(of key: SyncKey, _ change: (inout SyncCounts) -> Void) {
    if key.collection == SyncKey.state { change(&state) } else { change(&records) }
  }

  mutating func add(_ decided: SyncDecided) {
    records.conflicts += decided.lost
    records.lost += decided.lost
    failed += decided.failures
    var (kept, resent) = (0, 0)
    for outcome in decided.outcomes {
      changeCounts(of: outcome.key) { counts in
        switch outcome.decision {
        case .match: break
        case .apply where outcome.isDeletion: counts.deletedLocally += 1
        case .apply: counts.downloaded += 1
        case .keep: kept += 1
        case .merged: counts.merged += 1
        case .conflict: counts.conflicts += 1
        case .waiting: counts.waiting += 1
        case .resend: resent += 1
        }
      }
    }
    self.kept += kept
    self.resent += resent
  }

  mutating func addSent(_ envelope: SyncEnvelope) {
    addSent(envelope.key, isDeletion: envelope.content.isDeleted)
  }

  private mutating func addSent(_ key: SyncKey, isDeletion: Bool) {
    if key.collection == SyncKey.asset { return }
    changeCounts(of: key) { if isDeletion { $0.deletedRemotely += 1 } else { $0.uploaded += 1 } }
  }

  /// Adds failures of earlier syncs that are tried again later.
  mutating func add(postponed failures: [SyncFailure]) {
    let known = Set(failed.map(\.key))
    failed += failures.filter { !known.contains($0.key) }
  }

  mutating func plan(_ decided: SyncDecided) {
    for outcome in decided.outcomes {
      let action: SyncPlanned.Action
      switch outcome.decision {
      // Entries that are kept or sent again are among the changes to send.
      case .match, .keep, .resend: continue
      case .apply: action = outcome.isDeletion ? .deleteLocally : .download
      case .merged: action = .merge
      case .conflict: action = .conflict
      case .waiting: action = .wait
      }
      planned.append(SyncPlanned(key: outcome.key, action: action))
    }
  }

  /// Adds a change that a sync would send.
  mutating func plan(sending key: SyncKey, isDeletion: Bool) {
    addSent(key, isDeletion: isDeletion)
    planned.append(SyncPlanned(key: key, action: isDeletion ? .deleteRemotely : .upload))
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
  /// Which assets are downloaded.
  package var assets = AssetDownloads.lazy
  /// Whether assets are uploaded; if not, their records wait.
  package var uploadsAssets = true
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
