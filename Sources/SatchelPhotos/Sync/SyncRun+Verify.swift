import SatchelRemote
import SatchelStorage

extension SyncRun {
  /// Reads every shard, or those that the run is for, and compares it with the manifest. Writes nothing.
  func verify() throws -> VerifyReport {
    try progress.tell { $0.phase = .plan }
    let state = try learnState()
    if let bound = state.user, bound != user.text {
      throw SatchelError(
        .foreign, "the catalogue agrees with the master of \"\(bound)\", not of \"\(user)\": unlink it first")
    }
    uuid.withLock { $0 = state.agreedUUID }
    var report = VerifyReport()
    report.manifest = try manifestState()
    let shards = state.shards.filter { only?.contains($0.index) ?? true }
    try progress.tell {
      $0.phase = .shards
      $0.shardsTotal = shards.count
    }
    let findings = Guarded<[VerifyReport.ShardFinding]>([])
    // Twice, where another shard shows first how many photos one has.
    for isLast in [false, true] {
      let done = Set(findings.withLock { $0.map(\.shard) })
      inParallel(shards.filter { !done.contains($0.index) }, limit: options.parallel) { [self] shard in
        guard !remote.cancellation.isCancelled(), let finding = verify(shard, isLast: isLast) else { return }
        findings.withLock { $0.append(finding) }
        try? progress.tell { $0.shardsDone += 1 }
      }
      try remote.cancellation.check()
    }
    report.shards = findings.withLock { $0 }.sorted { $0.shard < $1.shard }
    return report
  }

  private func verify(_ shard: ShardState, isLast: Bool) -> VerifyReport.ShardFinding? {
    do {
      var job = try ShardSync(self, shard, step: .nothing, writer: "")
      job.mayPostpone = !isLast
      return VerifyReport.ShardFinding(shard: shard.index, state: try job.verify())
    } catch is ShardSync.Postponed {
      return nil
    } catch {
      return VerifyReport.ShardFinding(shard: shard.index, state: .unreadable, error: SyncRun.told(error))
    }
  }

  private func manifestState() throws -> VerifyReport.ManifestState {
    do {
      try readMaster()
      return master.withLock { $0.manifest } == nil ? .missing : .ok
    } catch {
      // A newer one, a foreign one, or a store that does not answer is another matter.
      guard [.damaged, .invalid].contains(SyncRun.told(error).code) else { throw error }
    }
    // What is written in its place names it.
    let etag = try remote.head(remote.manifestKey)?.etag
    master.withLock { $0 = MasterView(manifest: nil, etag: etag, generation: $0.generation + 1) }
    ignoresManifest.withLock { $0 = true }
    return .unreadable
  }

  /// Brings the run's shards into agreement, also where the manifest cannot be read.
  func repair() throws -> SyncReport {
    if try manifestState() == .unreadable, uuid.withLock({ $0 }) == nil,
      try ledger.syncState().agreedUUID == nil
    {
      throw SatchelError(
        .damaged, "\(remote.manifestKey) cannot be read, and this device was never synced with it")
    }
    return try run()
  }
}

extension ShardSync {
  /// What the object is. What is not as the manifest says is read twice.
  func verify() throws -> VerifyReport.State {
    var last: VerifyReport.State?
    for _ in 0..<Self.mostReadings {
      let state = try look()
      if state == .ok || state == last { return state }
      last = state
    }
    throw SatchelError(.busy, "\(key): is another one each time that it is read")
  }

  private static let mostReadings = 8

  private func look() throws -> VerifyReport.State {
    guard case .object(let object)? = try run.remote.get(key) else {
      try run.readMaster()
      return (announced() ?? known.agreedChecksum) == Shard.emptyChecksum ? .ok : .missing
    }
    let checksum = Shard.checksum(object.body)
    switch try judge(object, checksum) {
    case .proven, .plausible:
      guard announced() == checksum else { return .newer }
      let photos = try object.body.withUnsafeBytes { Int64(try ShardContent($0, shard: shard).entries.count) }
      run.learn(shard, checksum, photos: photos)
      return .ok
    case .damaged(let damage): return VerifyReport.State(damage)
    case .undecided where mayPostpone: throw Postponed()
    case .undecided: return .unproven
    }
  }
}
