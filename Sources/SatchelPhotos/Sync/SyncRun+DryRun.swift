import SatchelRemote

extension SyncRun {
  /// Reports what would be transferred, only by reading. The numbers of bytes are exact except for the
  /// content of merged shards, and for repairs.
  func dryRun(_ state: SyncState, _ changed: Set<Shard.Index>) throws -> SyncReport {
    let plan = try makePlan(state, changed: changed)
    var entries: [ManifestEntry] = []
    var (up, down) = (report.withLock { $0.bytesUp }, Int64(0))
    for shard in state.shards where plan.shards.contains(shard.index) {
      try remote.cancellation.check()
      let (isDownload, isUpload, size) = try predict(shard, plan.step(of: shard.index))
      report.withLock { report in
        if isDownload { report.downloaded.append(shard.index) }
        if isUpload { report.uploaded.append(shard.index) }
        if plan.step(of: shard.index) == .both { report.conflicts.append(shard.index) }
      }
      if isDownload { down += size }
      guard isUpload, !isDownload else { continue }
      let export = try ledger.export(shard.index)
      up += Int64(export.bytes.count)
      recordPhotoCount(shard.index, export.checksum, photos: export.photos)
      entries.append(
        ManifestEntry(
          shard: shard.index, checksum: export.checksum, photos: export.photos, origin: .upload(export)))
    }
    let view = manifestView.withLock { $0 }
    if !entries.isEmpty {
      let manifest = ManifestUpdate(entries).manifest(
        replacing: view.manifest, uuid: state.newRemoteUUID, now: now(),
        photos: photos.withLock { $0 })
      up += Int64(try manifest.serialized().count)
    }
    return report.withLock { report in
      report.isDryRun = true
      (report.bytesUp, report.bytesDown) = (up, down)
      return report
    }
  }

  /// - Returns: whether the shard would be downloaded and uploaded, and the bytes of the download that this dry run
  ///   has not itself read
  private func predict(
    _ shard: ShardState, _ step: SyncPlan.Step
  ) throws -> (isDownload: Bool, isUpload: Bool, size: Int64) {
    switch step {
    case .nothing: return (false, false, 0)
    case .upload: return (false, true, 0)
    case .download: return (true, false, try remote.head(remote.key(shard.index))?.size ?? 0)
    case .both: return (true, try keepsChanges(shard.index), 0)
    case .examine:
      guard let head = try remote.head(remote.key(shard.index)) else {
        return (false, shard.hasChanges || shard.baseChecksum != Shard.emptyChecksum, 0)
      }
      if head.etag == shard.etag { return (false, shard.hasChanges, 0) }
      guard shard.hasChanges else { return (true, false, head.size) }
      guard let pending = shard.pendingUpload, head.metadata[SyncRemote.checksumName] == pending.checksum
      else { return (true, try keepsChanges(shard.index), 0) }
      return (true, try ledger.export(shard.index).checksum != pending.checksum, head.size)
    }
  }

  /// Whether the shard would still have something to upload after the remote's object was applied.
  private func keepsChanges(_ shard: Shard.Index) throws -> Bool {
    guard case .object(let object)? = try remote.get(remote.key(shard), limit: Shard.maximumSize) else {
      return true
    }
    return try ledger.keepsChanges(shard, over: object.body, onConflict: onConflict)
  }
}
