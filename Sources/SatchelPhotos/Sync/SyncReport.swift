import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The result of a sync; of a dry run, the expected result.
public struct SyncReport: Sendable, TrafficReport {
  /// A rejected line: of the remote, or, when its fault is `replaced`, of the local shard before.
  public struct Rejected: Sendable, Equatable {
    public var shard: Shard.Index
    public var row: RejectedRow
  }

  /// Shards whose rows were downloaded.
  public var downloaded: [Shard.Index] = []
  /// Shards whose rows were uploaded.
  public var uploaded: [Shard.Index] = []
  /// Shards that had been changed on both sides.
  public var conflicts: [Shard.Index] = []
  /// Shards that were repaired in the remote: the manifest did not match the object, or the object was
  /// damaged.
  public var repaired: [Shard.Index] = []
  /// Local changes that were overwritten; they are in the conflict log.
  public var conflictRows = 0
  /// Local photos that were deleted because the remote's shards do not have them.
  public var removed: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  /// Shards that failed, and stay pending.
  public var failed: [ShardFailure] = []
  /// Rejected lines. They are kept and written back, except those whose fault is `replaced` or `discarded`:
  /// this report is the only copy of these.
  public var rejected: [Rejected] = []
  public var isDryRun = false

  /// Whether nothing had to be transferred.
  public var isUnchanged: Bool {
    downloaded.isEmpty && uploaded.isEmpty && repaired.isEmpty && failed.isEmpty
  }
}

extension SyncReport: JSONConvertible {
  public var json: JSONValue {
    [
      "downloaded": SyncReport.numbers(downloaded), "uploaded": SyncReport.numbers(uploaded),
      "conflicts": SyncReport.numbers(conflicts), "repaired": SyncReport.numbers(repaired),
      "conflict_rows": .int(Int64(conflictRows)), "removed": .int(removed), "requests": .int(requests),
      "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown), "failed": .array(failed.map(\.json)),
      "rejected": .array(rejected.map(\.json)), "unchanged": .bool(isUnchanged), "dry_run": .bool(isDryRun),
    ]
  }

  private static func numbers(_ shards: [Shard.Index]) -> JSONValue {
    .array(shards.ordered().map { .int(Int64($0.number)) })
  }
}

extension SyncReport.Rejected: JSONConvertible {
  /// The line as a JSON object: the members of a rejected row, and shard.
  public var json: JSONValue { row.json(in: shard) }
}
