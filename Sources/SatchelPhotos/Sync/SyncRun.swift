import SatchelRemote
import SatchelStorage

/// One sync: carries out what `SyncPlan` and `ManifestUpdate` decide.
///
/// The shard objects are the truth, and each of their versions is built on the one before, because every write names
/// it. The manifest tells what they hold. An upload counts as done once the manifest was written after it.
final class SyncRun: Sendable {
  let ledger: any SyncLedger
  let remote: SyncRemote
  let user: UserID
  let options: SyncOptions
  let rules: SyncRules
  /// Unix milliseconds.
  let now: @Sendable () -> Int64
  /// Makes sure that the store heeds conditions.
  private let probe: @Sendable () throws -> Void
  private let isProbed = Guarded(false)
  let progress: ProgressTeller<SyncProgress>
  let master = Guarded(MasterView())
  /// Names the master, once that is known.
  let uuid = Guarded<String?>(nil)
  let report = Guarded(SyncReport())
  /// How many photos contents have, as far as this sync has learned.
  let photos = Guarded<[Shard.Index: [String: Int64]]>([:])

  init(
    ledger: any SyncLedger, remote: SyncRemote, user: UserID, options: SyncOptions, rules: SyncRules,
    progress: ProgressTeller<SyncProgress>, now: @escaping @Sendable () -> Int64,
    probe: @escaping @Sendable () throws -> Void
  ) {
    self.ledger = ledger
    self.remote = remote
    self.user = user
    self.options = options
    self.rules = rules
    self.progress = progress
    self.now = now
    self.probe = probe
  }

  func run() throws -> SyncReport {
    try progress.tell { $0.phase = .plan }
    if !options.isDryRun { try ledger.identify() }
    var state = try learnState()
    if let bound = state.user, bound != user.text {
      throw SatchelError(
        .foreign, "the catalogue agrees with the master of \"\(bound)\", not of \"\(user)\": unlink it first")
    }
    let isQuiet = state.shards.allSatisfy { !$0.hasChanges && $0.intent == nil }
    uuid.withLock { $0 = state.agreedUUID }
    guard try readMaster(ifNoneMatch: isQuiet ? state.manifestETag : nil) else {
      if let uuid = state.agreedUUID, !options.isDryRun {
        try ledger.finishSync(manifestETag: state.manifestETag, uuid: uuid, user: user)
      }
      return report.withLock { report in
        report.isDryRun = options.isDryRun
        return report
      }
    }
    if options.isDryRun { return try dryRun(state) }
    for round in 0..<max(options.rounds, 1) {
      var plan = try makePlan(state)
      // What was changed here meanwhile waits for the next sync; else a busy device would never come to an end.
      if round > 0 { plan.upload = [] }
      let failed = report.withLock { Set($0.failed.map(\.shard)) }
      let work = plan.shards.filter { !failed.contains($0) }
      if work.isEmpty { return try finish(isComplete: failed.isEmpty, state) }
      try carryOut(plan, work, state)
      state = try learnState()
    }
    for shard in try makePlan(state).shards {
      fail(shard, SatchelError(.busy, "shard \(shard): others change it faster than it could be followed"))
    }
    return try finish(isComplete: false, state)
  }

  func makePlan(_ state: SyncState) throws -> SyncPlan {
    let manifest = master.withLock { $0.manifest }
    return SyncPlan(
      local: state, manifest: manifest, present: manifest == nil ? try remote.present() : [],
      heedsIntents: rules.heedsIntents)
  }

  private func learnState() throws -> SyncState {
    let state = try ledger.syncState()
    for shard in state.shards { learn(shard.index, shard.agreedChecksum, photos: shard.agreedPhotos) }
    return state
  }

  /// Makes sure, once, that the store heeds conditions; called before anything is written.
  func checkConditions() throws {
    if isProbed.withLock({ $0 }) { return }
    try probe()
    isProbed.withLock { $0 = true }
  }

  /// Remembers how many photos a content has.
  func learn(_ shard: Shard.Index, _ checksum: String, photos count: Int64) {
    photos.withLock { $0[shard, default: [:]][checksum] = count }
  }

  private func carryOut(_ plan: SyncPlan, _ work: [Shard.Index], _ state: SyncState) throws {
    let view = master.withLock { $0 }
    if let uuid = view.manifest?.directoryUUID { try ledger.beginSync(uuid: uuid, user: user) }
    // Before several shards would ask at once.
    if plan.shards != plan.download { try checkConditions() }
    try progress.tell {
      $0.phase = .shards
      $0.shardsTotal += work.count
    }
    let entries = Guarded<[ManifestEntry]>([])
    let jobs = state.shards.filter { work.contains($0.index) }
    inParallel(jobs, limit: options.parallel) { [self] shard in
      guard !remote.cancellation.isCancelled() else { return }
      do {
        var job = try ShardSync(self, shard, step: plan.step(of: shard.index), writer: state.uuid ?? "")
        if let entry = try job.perform() { entries.withLock { $0.append(entry) } }
      } catch {
        fail(shard.index, error)
      }
      try? progress.tell { $0.shardsDone += 1 }
    }
    try remote.cancellation.check()
    try progress.tell { $0.phase = .manifest }
    try announce(entries.withLock { $0 }, since: view, state)
  }

  /// Notes a shard that stays pending.
  func fail(_ shard: Shard.Index, _ error: any Error) {
    let error = SyncRun.told(error)
    report.withLock { report in
      guard !report.failed.contains(where: { $0.shard == shard }) else { return }
      report.failed.append(ShardFailure(shard: shard, error: error))
    }
  }

  /// The same error for callers of the library.
  static func told(_ error: any Error) -> SatchelError {
    switch error {
    case let error as SatchelError: error
    case let error as ObjectStoreError: error.satchelError
    default: SatchelError(.internal, "\(error)", underlying: error)
    }
  }

  /// - Parameter isComplete: whether nothing of the manifest is left to take
  private func finish(isComplete: Bool, _ state: SyncState) throws -> SyncReport {
    if isComplete, report.withLock({ !$0.isUnchanged }) { correctCount() }
    let view = master.withLock { $0 }
    // Without a manifest there is no master yet that the catalogue could be bound to.
    if isComplete, let uuid = view.manifest?.directoryUUID {
      try ledger.finishSync(manifestETag: view.etag, uuid: uuid, user: user)
    }
    return report.withLock { report in
      report.downloaded = Set(report.downloaded).sorted()
      report.uploaded = Set(report.uploaded).sorted()
      report.conflicts = Set(report.conflicts).sorted()
      report.repaired = Set(report.repaired).sorted()
      report.failed.sort { $0.shard < $1.shard }
      report.rejected.sort { ($0.shard.number, $0.row.line) < ($1.shard.number, $1.row.line) }
      return report
    }
  }
}
