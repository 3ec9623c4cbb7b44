import SatchelJSON
import SatchelSync

/// The status of a catalogue, which is known without reading its photos.
public struct PhotoStatus: Sendable, Equatable, JSONConvertible {
  public var directory: String
  /// The catalogue's identifier; nil while nothing was written to it.
  public var uuid: String?
  /// Unix milliseconds.
  public var created: Int64?
  public var modified: Int64?
  public var photos: Int64 = 0
  /// All sixteen, in order.
  public var shards = Shard.Index.all.map { ShardStatus(shard: $0) }
  public var conflicts: Int64 = 0
  /// Photos by backup status; photos that are not backed up are not counted.
  public var backups: [BackupStatus: Int64] = [:]
  /// The declared policy for shards that were changed on both sides.
  public var onConflict = ConflictPolicy.remoteWins
  /// The remote's identifier; nil until a sync has found or made the remote's manifest.
  public var remoteUUID: String?
  /// The user that it is synchronized as; nil until the first sync.
  public var user: String?
  /// When a sync last succeeded: Unix milliseconds.
  public var lastSync: Int64?

  /// Shards with changes that the remote does not have yet.
  public var pendingShards: [Shard.Index] { shards.filter(\.isPending).map(\.shard) }
  /// Lines that are not photos, kept in their shards.
  public var keptLines: Int64 { shards.reduce(0) { $0 + $1.keptLines } }
  /// Photos that were changed locally since the last sync.
  public var changes: Int64 { shards.reduce(0) { $0 + $1.changes } }

  /// The status as a JSON object.
  public var json: JSONValue {
    var counts = JSONObject()
    for status in BackupStatus.allCases where status != .notBackedUp {
      counts[status.rawValue] = .int(backups[status] ?? 0)
    }
    return [
      "directory": .string(directory), "uuid": uuid.map { .string($0) } ?? .null,
      "created": created.map { .int($0) } ?? .null, "modified": modified.map { .int($0) } ?? .null,
      "photos": .int(photos), "changes": .int(changes), "shards": .array(shards.map(\.json)),
      "conflicts": .int(conflicts), "backup": .object(counts), "on_conflict": .string(onConflict.rawValue),
      "remote_uuid": remoteUUID.map { .string($0) } ?? .null, "user": user.map { .string($0) } ?? .null,
      "last_sync": lastSync.map { .int($0) } ?? .null,
    ]
  }
}

/// The status of a shard, which is known without reading its photos.
public struct ShardStatus: Sendable, Equatable, JSONConvertible {
  public var shard: Shard.Index
  public var photos: Int64 = 0
  /// Photos that were changed locally since the last sync; those of an imported file are not counted.
  public var changes: Int64 = 0
  /// Lines that are not photos.
  public var keptLines: Int64 = 0
  /// Whether the remote does not have all content yet.
  public var isPending = false
  /// When the content last changed here: Unix milliseconds; nil while it never had any.
  public var modified: Int64?
  /// When it was last synchronized: Unix milliseconds; nil until the first sync.
  public var lastSync: Int64?
  /// SHA-256 of the remote's bytes at the last sync, in hexadecimal digits; nil until the first sync.
  public var checksum: String?

  init(shard: Shard.Index) { self.shard = shard }

  init(_ record: ShardRecord) {
    shard = record.shard
    photos = record.photos
    changes = record.changes
    keptLines = record.kept
    isPending = record.hasChanges
    (modified, lastSync, checksum) = (record.modified, record.synced, record.syncedChecksum)
  }

  /// The status as a JSON object: shard, photos, changes, kept, pending, modified, last_sync, checksum.
  public var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "photos": .int(photos), "changes": .int(changes),
      "kept": .int(keptLines), "pending": .bool(isPending),
      "modified": modified.map { .int($0) } ?? .null, "last_sync": lastSync.map { .int($0) } ?? .null,
      "checksum": checksum.map { .string($0) } ?? .null,
    ]
  }
}
