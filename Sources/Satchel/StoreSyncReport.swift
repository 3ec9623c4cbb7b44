import SatchelCore
import SatchelJSON
import SatchelPhotos
import SatchelSync

/// The result of `Store.sync`; of a dry run, the expected result.
public struct StoreSyncReport: Sendable, TrafficReport, JSONConvertible {
  /// The counts of a sync for the records, or for the state.
  public struct Counts: Sendable, Equatable, JSONConvertible {
    public var downloaded = 0
    public var uploaded = 0
    public var deletedLocally = 0
    public var deletedRemotely = 0
    /// Content that both sides had changed, and that was merged.
    public var merged = 0
    /// Conflicts: those that the host has to resolve, and those of versions that were discarded and are kept; see
    /// `RecordCollection.conflicts`.
    public var conflicts = 0
    /// Of these, the versions that were discarded.
    public var lost = 0
    /// Remote versions that cannot be applied yet; see `RecordCollection.conflicts`.
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

  /// A record or a part of the state that could not be sent. It is tried again by a later sync.
  public struct Failure: Sendable, Equatable, JSONConvertible {
    /// The collection; "@state" for state.
    public var collection: String
    public var id: String
    public var code: SatchelError.Code
    public var message: String

    public var json: JSONValue {
      [
        "collection": .string(collection), "id": .string(id), "code": .int(Int64(code.rawValue)),
        "message": .string(message),
      ]
    }
  }

  /// A part of the sync log that could not be read, and was given up with `acceptLoss`.
  public struct Loss: Sendable, Equatable, JSONConvertible {
    /// The name of the object.
    public var pack: String
    public var entries: Int

    public var json: JSONValue { ["pack": .string(pack), "entries": .int(Int64(entries))] }
  }

  /// The action that a sync would take for one record, or one part of the state.
  public struct Planned: Sendable, Equatable, JSONConvertible {
    public enum Action: String, Sendable, CaseIterable {
      case upload
      case download
      case deleteRemotely = "delete_remotely"
      case deleteLocally = "delete_locally"
      case merge
      case conflict
      case wait
    }

    /// The collection; "@state" for state.
    public var collection: String
    public var id: String
    public var action: Action

    public var json: JSONValue {
      ["collection": .string(collection), "id": .string(id), "action": .string(action.rawValue)]
    }
  }

  public var records = Counts()
  public var state = Counts()
  /// The sync of the photo catalogue that is bound to the same remote and user, by its first sync; nil without one.
  public var photos: SyncReport?
  /// Of the first sync as a user, the number of records and parts of the state that were sent; 0 for every other one.
  public var firstUpload = 0
  /// A change that could not be sent.
  public var failed: [Failure] = []
  /// Parts of the remote that were missing or damaged, and were written again.
  public var repaired = 0
  public var losses: [Loss] = []
  /// Whether a batch was sent in parts, because it is too large for one request.
  public var isBatchCut = false
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  public var isDryRun = false
  /// Of a dry run, what a sync would do; empty otherwise.
  public var planned: [Planned] = []

  public init() {}

  /// Whether nothing had to be transferred.
  public var isUnchanged: Bool {
    records == Counts() && state == Counts() && repaired == 0 && failed.isEmpty && planned.isEmpty
      && photos?.isUnchanged ?? true
  }

  public var json: JSONValue {
    [
      "records": records.json, "state": state.json, "photos": photos?.json ?? .null,
      "failed": .array(failed.map(\.json)), "repaired": .int(Int64(repaired)),
      "losses": .array(losses.map(\.json)), "batch_cut": .bool(isBatchCut), "requests": .int(requests),
      "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown), "unchanged": .bool(isUnchanged),
      "dry_run": .bool(isDryRun), "first_upload": .int(Int64(firstUpload)),
      "planned": .array(planned.map(\.json)),
    ]
  }
}

extension StoreSyncReport {
  init(_ report: SyncLogReport) {
    records = Counts(report.records)
    state = Counts(report.state)
    failed = report.failed.map {
      Failure(collection: $0.key.collection, id: $0.key.id, code: $0.code, message: $0.message)
    }
    repaired = report.repaired
    losses = report.losses.map { Loss(pack: $0.pack, entries: Int($0.entries)) }
    isBatchCut = report.isCut
    planned = report.planned.compactMap { planned in
      Planned.Action(rawValue: planned.action.rawValue).map {
        Planned(collection: planned.key.collection, id: planned.key.id, action: $0)
      }
    }
    // A dry run sends nothing: changes that it would send are not counted yet.
    for planned in planned {
      func count(_ counts: inout Counts) {
        if planned.action == .upload { counts.uploaded += 1 }
        if planned.action == .deleteRemotely { counts.deletedRemotely += 1 }
      }
      if planned.collection == SyncKey.state { count(&state) } else { count(&records) }
    }
  }
}

extension StoreSyncReport.Counts {
  init(_ counts: SyncLogReport.Counts) {
    downloaded = counts.applied
    uploaded = counts.sent - counts.deletionsSent
    deletedLocally = counts.deleted
    deletedRemotely = counts.deletionsSent
    merged = counts.merged
    conflicts = counts.conflicts
    lost = counts.lost
    waiting = counts.waiting
  }
}
