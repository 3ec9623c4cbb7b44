import SatchelJSON
import SatchelStorage

/// What a sync did; of a dry run, what it would do.
public struct SyncReport: Sendable {
  /// A line that is no row: of the master's, or, when its fault is `replaced`, of what was here before.
  public struct Rejected: Sendable, Equatable {
    public var shard: Shard.Index
    public var row: RejectedRow
  }

  /// Shards whose rows came from the master.
  public var downloaded: [Shard.Index] = []
  /// Shards whose rows went to the master.
  public var uploaded: [Shard.Index] = []
  /// Shards that had been changed on both sides.
  public var conflicts: [Shard.Index] = []
  /// Shards that were put right in the master: the manifest did not tell what they are, or the object was damaged.
  public var repaired: [Shard.Index] = []
  /// Local changes that lost, and are in the conflict log.
  public var conflictRows = 0
  /// Photos that were here before, and that the master's shards do not have.
  public var removed: Int64 = 0
  /// Requests to the object store, repeated ones included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  /// Shards that stay pending.
  public var failed: [ShardFailure] = []
  /// They are kept, and written back, but for those whose fault is `replaced` or `discarded`: their bytes are
  /// only here.
  public var rejected: [Rejected] = []
  public var isDryRun = false

  /// Whether there was nothing to move.
  public var isUnchanged: Bool {
    downloaded.isEmpty && uploaded.isEmpty && repaired.isEmpty && failed.isEmpty
  }
}
