/// What has to move so that both sides agree. A value: making one touches neither disk nor network.
public struct SyncPlan: Equatable, Sendable {
  /// Changed only in the master.
  public var download: [Shard.Index] = []
  /// Changed only here, or missing in the master.
  public var upload: [Shard.Index] = []
  /// Changed on both sides.
  public var conflicts: [Shard.Index] = []
  /// What is in the master has to be looked at: an upload was begun and not seen to end, there is no manifest, or the
  /// object is not the one last synced.
  public var examine: [Shard.Index] = []

  /// Whether both sides agree.
  public var isEmpty: Bool { shards.isEmpty }

  /// Leaves out all other shards.
  mutating func keep(_ shards: Set<Shard.Index>) {
    download.removeAll { !shards.contains($0) }
    upload.removeAll { !shards.contains($0) }
    conflicts.removeAll { !shards.contains($0) }
    examine.removeAll { !shards.contains($0) }
  }

  /// All that have something to do, in order.
  public var shards: [Shard.Index] { (download + upload + conflicts + examine).sorted() }

  /// What to do with one shard.
  enum Step: Equatable, Sendable { case nothing, download, upload, both, examine }

  /// - Parameters:
  ///   - manifest: nil when the master has none. It never means that everything was deleted.
  ///   - present: without a manifest, the shards of which there is an object
  ///   - changed: shards whose object is not the one last synced
  init(
    local: SyncState, manifest: Manifest?, present: Set<Shard.Index> = [], changed: Set<Shard.Index> = [],
    heedsIntents: Bool = true
  ) {
    for shard in local.shards {
      let step = SyncPlan.step(
        shard, manifest: manifest, isPresent: present.contains(shard.index),
        hasChanged: changed.contains(shard.index), heedsIntents: heedsIntents)
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
    _ shard: ShardState, manifest: Manifest?, isPresent: Bool, hasChanged: Bool, heedsIntents: Bool
  ) -> Step {
    if shard.intent != nil, heedsIntents { return .examine }
    guard let manifest else {
      if isPresent { return .examine }
      // What was agreed and is gone is put there again.
      return shard.hasChanges || shard.agreedChecksum != Shard.emptyChecksum ? .upload : .nothing
    }
    let isSame = manifest.checksum(of: shard.index) == shard.agreedChecksum
    if isSame, hasChanged { return .examine }
    switch (isSame, shard.hasChanges) {
    case (true, false): return .nothing
    case (true, true): return .upload
    case (false, false): return .download
    case (false, true): return .both
    }
  }

  /// What to do with one shard.
  func step(of shard: Shard.Index) -> Step {
    if download.contains(shard) { return .download }
    if upload.contains(shard) { return .upload }
    if conflicts.contains(shard) { return .both }
    return examine.contains(shard) ? .examine : .nothing
  }
}

extension ShardState {
  /// The checksum of what was agreed; without an agreement the master is taken to have nothing.
  var agreedChecksum: String { agreed ?? Shard.emptyChecksum }
}
