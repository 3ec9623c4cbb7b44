import SatchelJSON

/// What became of the files of a directory.
public struct DirectoryReport: Sendable {
  /// Photos in the files.
  public var photos: Int64 = 0
  /// Lines that were not taken, by shard. All but duplicates stay in their shards.
  public var rejected: [Shard.Index: [RejectedRow]] = [:]
  /// Changes of this side that lost, and are in the conflict log.
  public var conflicts = 0
  /// Shards whose content changed.
  public var changed: [Shard.Index] = []
  /// Shards without a file; they stay as they were.
  public var missing: [Shard.Index] = []
  /// Whether a manifest.json stood beside the files. Without one nothing shows whether they are complete.
  public var hasManifest = false
  /// Shards whose file could not be read, or is not the one that the manifest names; they stay as they were.
  public var failed: [ShardFailure] = []

  /// As it crosses the C boundary.
  public var json: JSONValue {
    let rows = rejected.sorted { $0.key < $1.key }.flatMap { shard, rows in rows.map { $0.json(in: shard) } }
    func numbers(_ shards: [Shard.Index]) -> JSONValue { .array(shards.map { .int(Int64($0.number)) }) }
    return [
      "photos": .int(photos), "rejected": .array(rows), "conflicts": .int(Int64(conflicts)),
      "changed": numbers(changed), "missing": numbers(missing), "has_manifest": .bool(hasManifest),
      "failed": .array(failed.map(\.json)),
    ]
  }
}
