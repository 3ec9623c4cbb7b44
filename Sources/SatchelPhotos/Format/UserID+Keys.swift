import SatchelRemote

extension UserID {
  /// The key of the manifest: "catalogs/{user}/manifest.json".
  var manifestKey: String { "catalogs/\(text)/manifest.json" }

  /// The key of a shard: "catalogs/{user}/shards/{0-f}.csv".
  func shardKey(_ shard: Shard.Index) -> String { "catalogs/\(text)/shards/\(shard.fileName)" }
}
