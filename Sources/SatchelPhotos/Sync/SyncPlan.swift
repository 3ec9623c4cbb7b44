import SatchelCore
/// The transfers that synchronize both sides. A value computed without disk or network.
package struct SyncPlan: Equatable, Sendable {
  /// Shards changed only in the remote.
  package var download: [Shard.Index] = []
  /// Shards changed only locally, or missing in the remote.
  package var upload: [Shard.Index] = []
  /// Shards changed on both sides.
  package var conflicts: [Shard.Index] = []
  /// Shards whose object has to be examined: an upload has an unknown outcome, there is no manifest, or the
  /// object is not the one synchronized last.
  package var examine: [Shard.Index] = []

  /// Whether nothing has to be transferred.
  package var isEmpty: Bool { shards.isEmpty }

  /// Removes all other shards.
  mutating func keep(_ shards: Set<Shard.Index>) {
    download.removeAll { !shards.contains($0) }
    upload.removeAll { !shards.contains($0) }
    conflicts.removeAll { !shards.contains($0) }
    examine.removeAll { !shards.contains($0) }
  }

  /// All shards in the plan, in order.
  package var shards: [Shard.Index] { (download + upload + conflicts + examine).ordered() }

  /// The action for one shard.
  enum Step: Equatable, Sendable { case nothing, download, upload, both, examine }

  /// - Parameters:
  ///   - manifest: nil when the remote has none, which never means that everything was deleted
  ///   - present: without a manifest, the shards that have an object
  ///   - changed: shards whose object is not the one synchronized last
  init(
    local: SyncState, manifest: Manifest?, present: Set<Shard.Index> = [], changed: Set<Shard.Index> = []
  ) {
    for shard in local.shards {
      let step = SyncPlan.step(
        shard, manifest: manifest, isPresent: present.contains(shard.index),
        hasChanged: changed.contains(shard.index))
      switch step {
      case .nothing: break
      case .download: download.append(shard.index)
      case .upload: upload.append(shard.index)
      case .both: conflicts.append(shard.index)
      case .examine: examine.append(shard.index)
      }
    }
  }

  private static func step(
    _ shard: ShardState, manifest: Manifest?, isPresent: Bool, hasChanged: Bool
  ) -> Step {
    if shard.pendingUpload != nil { return .examine }
    guard let manifest else {
      if isPresent { return .examine }
      // A shard that was synchronized and is missing is uploaded again.
      return shard.hasChanges || shard.baseChecksum != Shard.emptyChecksum ? .upload : .nothing
    }
    let isSame = manifest.checksum(of: shard.index) == shard.baseChecksum
    if isSame, hasChanged { return .examine }
    switch (isSame, shard.hasChanges) {
    case (true, false): return .nothing
    case (true, true): return .upload
    case (false, false): return .download
    case (false, true): return .both
    }
  }

  /// Returns what to do with one shard.
  func step(of shard: Shard.Index) -> Step {
    if download.contains(shard) { return .download }
    if upload.contains(shard) { return .upload }
    if conflicts.contains(shard) { return .both }
    return examine.contains(shard) ? .examine : .nothing
  }
}

extension ShardState {
  /// The checksum of the version synchronized last; before the first sync, of the empty shard.
  var baseChecksum: String { syncedChecksum ?? Shard.emptyChecksum }
}
