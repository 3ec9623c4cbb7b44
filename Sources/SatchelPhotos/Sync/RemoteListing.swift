import SatchelRemote

/// What a listing shows of a user's manifest and shards. One request tells so whether any of them is another object
/// than the one last synced: changed by a device that died before it wrote the manifest, damaged, or gone.
struct RemoteListing: Sendable {
  var manifest: ETag?
  var shards: [Shard.Index: ObjectPage.Entry] = [:]

  /// Shards whose object is not the one last synced.
  func changed(since state: SyncState) -> Set<Shard.Index> {
    Set(state.shards.filter(hasChanged).map(\.index))
  }

  private func hasChanged(_ shard: ShardState) -> Bool {
    let isEmpty = shard.agreedChecksum == Shard.emptyChecksum
    guard let entry = shards[shard.index] else { return !isEmpty }
    return entry.etag != shard.etag && !(isEmpty && entry.size == 0)
  }
}
