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
  /// One shard at a time confirms the manifest.
  let confirmation = Guarded(())
  /// The only shards to be synced; nil for all.
  let only: Set<Shard.Index>?
  /// It cannot be read, and is to be replaced.
  let ignoresManifest = Guarded(false)

  init(
    ledger: any SyncLedger, remote: SyncRemote, user: UserID, options: SyncOptions, rules: SyncRules,
    only: Set<Shard.Index>? = nil, progress: ProgressTeller<SyncProgress>,
    now: @escaping @Sendable () -> Int64,
    probe: @escaping @Sendable () throws -> Void
  ) {
    self.ledger = ledger
    self.remote = remote
    self.user = user
    self.options = options
    self.rules = rules
    self.only = only
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
    guard let changed = try changedObjects(state, isQuiet: isQuiet && only == nil) else {
      if let uuid = state.agreedUUID, !options.isDryRun {
        try ledger.finishSync(manifestETag: state.manifestETag, uuid: uuid, user: user)
      }
      return report.withLock { report in
        report.isDryRun = options.isDryRun
        return report
      }
    }
    if options.isDryRun { return try dryRun(state, changed) }
    for round in 0..<max(options.rounds, 1) {
      var plan = try makePlan(state, changed: round == 0 ? changed : [])
      // What was changed here meanwhile waits for the next sync; else a busy device would never come to an end.
      if round > 0 { plan.upload = [] }
      let failed = report.withLock { Set($0.failed.map(\.shard)) }
      let work = plan.shards.filter { !failed.contains($0) }
      if work.isEmpty { return try finish(isComplete: failed.isEmpty && only == nil, state) }
      try carryOut(plan, work, state, isFirst: round == 0)
      state = try learnState()
    }
    for shard in try makePlan(state).shards {
      fail(shard, SatchelError(.busy, "shard \(shard): others change it faster than it could be followed"))
    }
    return try finish(isComplete: false, state)
  }

  func makePlan(_ state: SyncState, changed: Set<Shard.Index> = []) throws -> SyncPlan {
    let manifest = master.withLock { $0.manifest }
    var plan = SyncPlan(
      local: state, manifest: manifest, present: manifest == nil ? try remote.present() : [],
      changed: changed, heedsIntents: rules.heedsIntents)
    if let only { plan.keep(only) }
    return plan
  }

  /// Reads the manifest, unless the remote is as it was after the last sync. One request finds that out: a listing,
  /// which also shows objects that are not those last synced, or a conditional read where listings show no tags.
  ///
  /// - Returns: shards whose object is not the one last synced, as far as it was looked at; nil when nothing changed
  private func changedObjects(_ state: SyncState, isQuiet: Bool) throws -> Set<Shard.Index>? {
    if let only {
      try readMaster()
      return only
    }
    guard isQuiet, let known = state.manifestETag, rules.looksAtListing, let listing = try remote.listing()
    else { return try readMaster(ifNoneMatch: isQuiet ? state.manifestETag : nil) ? [] : nil }
    let changed = listing.changed(since: state)
    guard listing.manifest == known else {
      // Where it is the known one all the same, the tags of a listing are not those of objects, and say nothing.
      return try readMaster(ifNoneMatch: known) ? changed : nil
    }
    if changed.isEmpty { return nil }
    try readMaster()
    return changed
  }

  /// How many photos the manifest's version of a shard has, as far as that follows from what is known.
  func announcedPhotos(of shard: Shard.Index) -> Int64? {
    guard let manifest = master.withLock({ $0.manifest }) else { return 0 }
    let photos = photos.withLock { $0 }
    func count(_ shard: Shard.Index) -> Int64? {
      guard let checksum = manifest.shardChecksums[shard] else { return 0 }
      return photos[shard]?[checksum]
    }
    if let count = count(shard) { return count }
    let others = Shard.Index.all.filter { $0 != shard }.map(count)
    let sum = others.reduce(Int64?(0)) { sum, next in
      guard let sum, let next, next >= 0 else { return nil }
      let (total, overflow) = sum.addingReportingOverflow(next)
      return overflow ? nil : total
    }
    guard let all = manifest.photoCount, let sum, all >= sum else { return nil }
    return all - sum
  }

  func learnState() throws -> SyncState {
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

  private func carryOut(
    _ plan: SyncPlan, _ work: [Shard.Index], _ state: SyncState, isFirst: Bool
  ) throws {
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
        job.mayPostpone = isFirst
        if let entry = try job.perform() { entries.withLock { $0.append(entry) } }
      } catch is ShardSync.Postponed {
        // The next round knows how many photos the other shards have.
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
