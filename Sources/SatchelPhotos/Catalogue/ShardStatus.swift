import SatchelJSON

/// What there is to say of a shard without a look at its photos.
public struct ShardStatus: Sendable, Equatable {
  public var shard: Shard.Index
  public var photos: Int64 = 0
  /// Photos that were changed here since the last agreement with the master; those of a file that was imported are
  /// not counted.
  public var changes: Int64 = 0
  /// Lines that are no photos.
  public var keptLines: Int64 = 0
  /// Whether there is something that the master has not yet.
  public var isPending = false

  init(shard: Shard.Index) { self.shard = shard }

  init(_ record: ShardRecord) {
    shard = record.shard
    photos = record.photos
    changes = record.changes
    keptLines = record.base.kept
    isPending = record.hasChanges
  }

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "photos": .int(photos), "changes": .int(changes),
      "kept": .int(keptLines), "pending": .bool(isPending),
    ]
  }
}
