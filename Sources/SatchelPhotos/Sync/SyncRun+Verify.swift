import SatchelCore
import SatchelRemote
import SatchelStorage

extension SyncRun {
  /// Reads every shard, or those that the run is limited to, and compares it with the manifest. Writes
  /// nothing.
  func verify() throws -> VerifyReport {
    try session.report { $0.begin(.plan) }
    let state = try loadState()
    if let bound = state.user, bound != user.text {
      throw SatchelError(
        .foreign,
        "the catalogue was synchronized with the remote of \"\(bound)\", not of \"\(user)\": detach it first")
    }
    uuid.withLock { $0 = state.remoteUUID }
    var report = VerifyReport()
    report.manifest = try manifestState()
    let shards = state.shards.filter { only?.contains($0.index) ?? true }
    try session.report { $0.begin(.shards, of: shards.count) }
    let findings = Locked<[VerifyReport.ShardFinding]>([])
    // Twice: the first pass may find the numbers of photos that the second needs.
    for isLast in [false, true] {
      let done = Set(findings.withLock { $0.map(\.shard) })
      inParallel(shards.filter { !done.contains($0.index) }, limit: session.parallel) { [self] shard in
        guard !remote.cancellation.isCancelled(), let finding = verify(shard, isLast: isLast) else { return }
        findings.withLock { $0.append(finding) }
        try? session.report { $0.done += 1 }
      }
      try remote.cancellation.check()
    }
    report.shards = findings.withLock { $0 }.ordered { $0.shard < $1.shard }
    if only == nil { report.foreign = try remote.foreign() }
    return report
  }

  private func verify(_ shard: ShardState, isLast: Bool) -> VerifyReport.ShardFinding? {
    do {
      var job = try ShardSync(self, shard, step: .nothing, writer: "")
      job.canPostpone = !isLast
      return VerifyReport.ShardFinding(shard: shard.index, state: try job.verify())
    } catch is ShardSync.Postponed {
      return nil
    } catch {
      return VerifyReport.ShardFinding(
        shard: shard.index, state: .unreadable, error: SatchelError(converting: error))
    }
  }

  private func manifestState() throws -> VerifyReport.ManifestState {
    do {
      try readManifest()
      let view = manifestView.withLock { $0 }
      if view.manifest != nil { return .ok }
      return view.etag == nil ? .missing : .unreadable
    } catch {
      // Other errors are not repaired: a newer or foreign manifest, a store that does not respond.
      guard [.damaged, .invalid].contains(SatchelError(converting: error).code) else { throw error }
    }
    // The etag is the condition for replacing it.
    let etag = try remote.head(remote.manifestKey)?.etag
    manifestView.withLock { $0 = ManifestView(manifest: nil, etag: etag, generation: $0.generation + 1) }
    ignoresManifest.withLock { $0 = true }
    return .unreadable
  }

  /// Synchronizes the run's shards, even when the manifest cannot be read.
  func repair() throws -> SyncReport {
    if try manifestState() == .unreadable, uuid.withLock({ $0 }) == nil,
      try ledger.syncState().remoteUUID == nil
    {
      throw SatchelError(
        .damaged, "\(remote.manifestKey) cannot be read, and this device was never synchronized with it")
    }
    return try run()
  }
}

extension ShardSync {
  /// Returns the state of the object. A state other than `ok` is read twice.
  func verify() throws -> VerifyReport.State {
    var last: VerifyReport.State?
    for _ in 0..<Self.maxReadings {
      let state = try inspect()
      if state == .ok || state == last { return state }
      last = state
    }
    throw SatchelError(.busy, "\(key): changes each time that it is read")
  }

  private static let maxReadings = 8

  private func inspect() throws -> VerifyReport.State {
    guard case .object(let object)? = try run.remote.get(key, limit: Shard.maximumSize) else {
      try run.readManifest()
      return (announced() ?? known.baseChecksum) == Shard.emptyChecksum ? .ok : .missing
    }
    let checksum = Shard.checksum(object.body)
    switch try judge(object, checksum) {
    case .proven, .plausible:
      guard announced() == checksum else { return .newer }
      let photos = try object.body.withUnsafeBytes { Int64(try ShardContent($0, shard: shard).entries.count) }
      run.recordPhotoCount(shard, checksum, photos: photos)
      return .ok
    case .damaged(let damage): return VerifyReport.State(damage)
    case .undecided where canPostpone: throw Postponed()
    case .undecided: return .unproven
    }
  }
}
