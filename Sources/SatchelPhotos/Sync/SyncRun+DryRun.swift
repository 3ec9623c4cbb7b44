import SatchelRemote

extension SyncRun {
  /// Tells what would move, by reading only. Bytes are told exactly but for two things that show only on the way:
  /// what merged shards have, and what has to be repaired.
  func dryRun(_ state: SyncState, _ changed: Set<Shard.Index>) throws -> SyncReport {
    let plan = try makePlan(state, changed: changed)
    var entries: [ManifestEntry] = []
    var (up, down) = (report.withLock { $0.bytesUp }, Int64(0))
    for shard in state.shards where plan.shards.contains(shard.index) {
      try remote.cancellation.check()
      let (isDownload, isUpload, size) = try foresee(shard, plan.step(of: shard.index))
      report.withLock { report in
        if isDownload { report.downloaded.append(shard.index) }
        if isUpload { report.uploaded.append(shard.index) }
        if plan.step(of: shard.index) == .both { report.conflicts.append(shard.index) }
      }
      if isDownload { down += size }
      guard isUpload, !isDownload else { continue }
      let export = try ledger.export(shard.index)
      up += Int64(export.bytes.count)
      learn(shard.index, export.checksum, photos: export.photos)
      entries.append(
        ManifestEntry(
          shard: shard.index, checksum: export.checksum, photos: export.photos, origin: .upload(export)))
    }
    let view = master.withLock { $0 }
    if !entries.isEmpty {
      let manifest = ManifestUpdate(entries).manifest(
        replacing: view.manifest, uuid: state.masterUUID, now: now(),
        photos: photos.withLock { $0 })
      up += Int64(try manifest.serialized().count)
    }
    return report.withLock { report in
      report.isDryRun = true
      (report.bytesUp, report.bytesDown) = (up, down)
      return report
    }
  }

  /// - Returns: whether the shard would be downloaded and uploaded, and the bytes of its object
  private func foresee(
    _ shard: ShardState, _ step: SyncPlan.Step
  ) throws -> (isDownload: Bool, isUpload: Bool, size: Int64) {
    switch step {
    case .nothing: return (false, false, 0)
    case .upload: return (false, true, 0)
    case .download, .both:
      let size = try remote.head(remote.key(shard.index))?.size ?? 0
      return (true, step == .both && options.policy == .mergeRows, size)
    case .examine:
      guard let head = try remote.head(remote.key(shard.index)) else {
        return (false, shard.hasChanges || shard.agreedChecksum != Shard.emptyChecksum, 0)
      }
      if head.etag == shard.etag { return (false, shard.hasChanges, 0) }
      let isOurs = head.metadata[SyncRemote.checksumName] == shard.intent?.checksum
      let export = isOurs ? try ledger.export(shard.index) : nil
      let isUpload = export.map { $0.checksum != shard.intent?.checksum } ?? (options.policy == .mergeRows)
      return (true, shard.hasChanges && isUpload, head.size)
    }
  }
}
