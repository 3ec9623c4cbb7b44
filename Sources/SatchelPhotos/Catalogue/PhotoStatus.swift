import SatchelJSON

/// What there is to say of a catalogue without a look at its photos.
public struct PhotoStatus: Sendable, Equatable {
  public var directory: String
  /// The catalogue's own name; nil while nothing was written to it.
  public var uuid: String?
  /// Unix milliseconds.
  public var created: Int64?
  public var modified: Int64?
  public var photos: Int64 = 0
  /// All sixteen, in order.
  public var shards = Shard.Index.all.map { ShardStatus(shard: $0) }
  public var conflicts: Int64 = 0
  /// Photos by status of their backup; those that are not backed up are not counted.
  public var backups: [BackupStatus: Int64] = [:]
  /// The master's name and user, once there was an agreement.
  public var masterUUID: String?
  public var user: String?
  /// When a sync last ended well: Unix milliseconds.
  public var lastSync: Int64?

  /// Shards with changes that the master has not yet.
  public var pendingShards: [Shard.Index] { shards.filter(\.isPending).map(\.shard) }
  /// Lines that are no photos, kept in their shards.
  public var keptLines: Int64 { shards.reduce(0) { $0 + $1.keptLines } }
  /// Photos that were changed here since the last agreement with the master.
  public var changes: Int64 { shards.reduce(0) { $0 + $1.changes } }

  /// As it crosses the C boundary.
  public var json: JSONValue {
    var counts = JSONObject()
    for status in BackupStatus.allCases where status != .notBackedUp {
      counts[status.rawValue] = .int(backups[status] ?? 0)
    }
    return [
      "directory": .string(directory), "uuid": uuid.map { .string($0) } ?? .null,
      "created": created.map { .int($0) } ?? .null, "modified": modified.map { .int($0) } ?? .null,
      "photos": .int(photos), "changes": .int(changes), "shards": .array(shards.map(\.json)),
      "conflicts": .int(conflicts), "backup": .object(counts),
      "master_uuid": masterUUID.map { .string($0) } ?? .null, "user": user.map { .string($0) } ?? .null,
      "last_sync": lastSync.map { .int($0) } ?? .null,
    ]
  }
}
