import SatchelRemote

/// The manifest as it was read or written last.
struct MasterView: Sendable {
  /// Nil when the master has none.
  var manifest: Manifest?
  var etag: ETag?
  /// Grows when it was found to be another one.
  var generation = 0

  /// What the manifest says of a shard; nil when there is no manifest.
  func checksum(of shard: Shard.Index) -> String? { manifest?.checksum(of: shard) }
}
