import SatchelRemote

/// What the manifest is to say of a shard, because it was seen there after the manifest was read.
struct ManifestEntry: Sendable {
  enum Origin: Sendable {
    /// We put it there.
    case upload(ShardExport)
    /// Somebody else did, and has not told.
    case found
  }

  var shard: Shard.Index
  var checksum: String
  var photos: Int64
  /// The tag of the object that holds it.
  var etag: ETag?
  /// What that object was built on.
  var lineage: String?
  var origin: Origin
  /// It replaced a damaged object.
  var isRepair = false

  var export: ShardExport? {
    if case .upload(let export) = origin { export } else { nil }
  }

  /// Whether an object was built on the one that was seen.
  func isAncestor(of head: ObjectHead?) -> Bool {
    SyncLineage(head?.metadata[SyncLineage.name]).contains(SyncLineage(lineage))
  }

  /// Whether an object is still the one that was seen.
  func isHeld(by head: ObjectHead?) -> Bool {
    guard let head else { return false }
    return head.etag == etag || head.metadata[SyncRemote.checksumName] == checksum
  }
}
