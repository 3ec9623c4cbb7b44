import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// One sync: executes the decisions of `SyncPlan` and `ManifestUpdate`.
///
/// The shard objects are authoritative, and each of their versions is built on the one before, because every
/// write is conditional on it. The manifest lists their checksums. An upload is complete once the manifest
/// was written after it.
final class SyncRun: Sendable {
  let ledger: any SyncLedger
  let session: SyncSession
  let remote: SyncRemote
  var user: UserID { session.user }
  let options: SyncOptions
  var onConflict: ConflictPolicy { options.onConflict ?? .remoteWins }
  /// Unix milliseconds.
  let now: @Sendable () -> Int64
  let manifestView = Locked(ManifestView())
  /// The remote's identifier, once known.
  let uuid = Locked<String?>(nil)
  let report = Locked(SyncReport())
  /// The known numbers of photos, by checksum.
  let photos = Locked<[Shard.Index: [String: Int64]]>([:])
  /// Held while a shard confirms the manifest.
  let confirmation = Locked(())
  /// The shards that the run is limited to; nil for all.
  let only: Set<Shard.Index>?
  /// Whether the manifest cannot be read, and has to be replaced.
  let ignoresManifest = Locked(false)

  init(
    _ ledger: any SyncLedger, in session: SyncSession, options: SyncOptions, only: Set<Shard.Index>? = nil,
    now: @escaping @Sendable () -> Int64
  ) throws {
    self.ledger = ledger
    self.session = session
    remote = try SyncRemote(session)
    self.options = options
    self.only = only
    self.now = now
  }

  func run() throws -> SyncReport {
    try session.report { $0.begin(.plan) }
    if !options.isDryRun { try ledger.identify() }
    var state = try loadState()
    if let bound = state.user, bound != user.text {
      throw SyncOwner(remote: nil, user: bound).refusal(of: "the catalogue of photos")
    }
    let isClean = state.shards.allSatisfy { !$0.hasChanges && $0.pendingUpload == nil }
    uuid.withLock { $0 = state.remoteUUID }
    guard let changed = try changedObjects(state, isClean: isClean && only == nil) else {
      if let uuid = state.remoteUUID, !options.isDryRun {
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
      // Later local changes wait for the next sync; otherwise the sync of a busy device might not terminate.
      if round > 0 { plan.upload = [] }
      let failed = report.withLock { Set($0.failed.map(\.shard)) }
      let work = plan.shards.filter { !failed.contains($0) }
      if work.isEmpty { return try finish(isComplete: failed.isEmpty && only == nil, state) }
      try execute(plan, of: work, state, isFirst: round == 0)
      state = try loadState()
    }
    for shard in try makePlan(state).shards {
      fail(
        shard, SatchelError(.busy, "shard \(shard): other devices change it faster than this one can follow"))
    }
    return try finish(isComplete: false, state)
  }

  func makePlan(_ state: SyncState, changed: Set<Shard.Index> = []) throws -> SyncPlan {
    let manifest = manifestView.withLock { $0.manifest }
    let present = manifest == nil ? try remote.present() : []
    if manifest == nil, present.isEmpty, state.remoteUUID != nil, !options.recreate {
      try remote.user.refuseEmpty()
    }
    var plan = SyncPlan(local: state, manifest: manifest, present: present, changed: changed)
    if let only { plan.keep(only) }
    return plan
  }

  /// Reads the manifest, unless the remote has not changed since the last sync. One request finds that out: a
  /// listing, which also shows objects that are not those synchronized last, or a conditional read if
  /// listings have no etags.
  ///
  /// - Returns: shards whose object is not the one synchronized last, as far as known; nil when nothing
  ///   changed
  private func changedObjects(_ state: SyncState, isClean: Bool) throws -> Set<Shard.Index>? {
    if let only {
      try readManifest()
      return only
    }
    guard isClean, let known = state.manifestETag, let listing = try remote.listing()
    else { return try readManifest(ifNoneMatch: isClean ? state.manifestETag : nil) ? [] : nil }
    let changed = listing.changed(since: state)
    guard listing.manifest == known else {
      // If the manifest is unchanged after all, the etags of listings are not those of objects, and show
      // nothing.
      return try readManifest(ifNoneMatch: known) ? changed : nil
    }
    if changed.isEmpty { return nil }
    try readManifest()
    return changed
  }

  /// Returns the number of photos in the manifest's version of a shard, if known.
  func announcedPhotos(of shard: Shard.Index) -> Int64? {
    guard let manifest = manifestView.withLock({ $0.manifest }) else { return 0 }
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

  func loadState() throws -> SyncState {
    let state = try ledger.syncState()
    for shard in state.shards {
      recordPhotoCount(shard.index, shard.baseChecksum, photos: shard.syncedPhotos)
    }
    return state
  }

  /// Checks once, before anything is written, that the store supports conditional writes.
  func checkConditions() throws {
    if options.allowUnsafeRemote { return }
    try session.checkConditions(under: remote.prefix)
  }

  /// Stores the number of photos of a content.
  func recordPhotoCount(_ shard: Shard.Index, _ checksum: String, photos count: Int64) {
    photos.withLock { $0[shard, default: [:]][checksum] = count }
  }

  private func execute(
    _ plan: SyncPlan, of work: [Shard.Index], _ state: SyncState, isFirst: Bool
  ) throws {
    let view = manifestView.withLock { $0 }
    if let uuid = view.manifest?.directoryUUID { try ledger.beginSync(uuid: uuid, user: user) }
    // Before several shards would check at once.
    if plan.shards != plan.download { try checkConditions() }
    try session.report { $0.begin(.shards, done: $0.done, of: $0.total + work.count) }
    let entries = Locked<[ManifestEntry]>([])
    let jobs = state.shards.filter { work.contains($0.index) }
    inParallel(jobs, limit: session.parallel) { [self] shard in
      guard !remote.cancellation.isCancelled() else { return }
      do {
        var job = try ShardSync(self, shard, step: plan.step(of: shard.index), writer: state.uuid ?? "")
        job.canPostpone = isFirst
        if let entry = try job.perform() { entries.withLock { $0.append(entry) } }
      } catch is ShardSync.Postponed {
        // The next round knows how many photos the other shards have.
      } catch {
        fail(shard.index, error)
      }
      try? session.report { $0.done += 1 }
    }
    try remote.cancellation.check()
    try session.report { $0.phase = .manifest }
    try announce(entries.withLock { $0 }, since: view, state)
  }

  /// Reports a shard that stays pending.
  func fail(_ shard: Shard.Index, _ error: any Error) {
    let error = SatchelError(converting: error)
    report.withLock { report in
      guard !report.failed.contains(where: { $0.shard == shard }) else { return }
      report.failed.append(ShardFailure(shard: shard, error: error))
    }
  }

  /// - Parameter isComplete: whether nothing of the manifest is left to pull
  private func finish(isComplete: Bool, _ state: SyncState) throws -> SyncReport {
    if isComplete, report.withLock({ !$0.isUnchanged }) { correctCount() }
    let view = manifestView.withLock { $0 }
    // Without a manifest there is no remote yet to store the identity of.
    if isComplete, let uuid = view.manifest?.directoryUUID {
      try ledger.finishSync(manifestETag: view.etag, uuid: uuid, user: user)
    }
    return report.withLock { report in
      report.downloaded = Set(report.downloaded).ordered()
      report.uploaded = Set(report.uploaded).ordered()
      report.conflicts = Set(report.conflicts).ordered()
      report.repaired = Set(report.repaired).ordered()
      report.failed = report.failed.ordered { $0.shard < $1.shard }
      report.rejected = report.rejected.ordered {
        ($0.shard.number, $0.row.line) < ($1.shard.number, $1.row.line)
      }
      return report
    }
  }
}
