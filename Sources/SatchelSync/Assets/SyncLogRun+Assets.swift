import SatchelAssets
import SatchelCore
import SatchelRemote

/// Uploads assets before the head that names them.
extension SyncLogRun {
  /// A content that was uploaded by this call, and that no head was prepared with. A crash makes it garbage: it is in no
  /// table, so that no restored or copied store can name it.
  struct UploadedAsset {
    var size: Int64
    var location: SyncAssetEntry.Location
  }

  /// The log and the fence in the names of this device's next objects: those of the head that it has read.
  func assetGeneration(_ state: SyncLogState) -> (log: String, fence: Int64) {
    state.head.map { (log: $0.position.log, fence: $0.fence) } ?? (log: firstLog, fence: 0)
  }

  func newObject(_ state: SyncLogState) -> AssetObject {
    let generation = assetGeneration(state)
    return AssetObject(log: generation.log, fence: generation.fence)
  }

  /// Uploads what a commit needs.
  ///
  /// - Returns: false when an asset could not be uploaded: the changes are collected again without those that refer to
  ///   it
  mutating func upload(_ plan: inout AssetPlan, at state: SyncLogState) throws -> Bool {
    if plan.uploads.isEmpty, plan.completions.isEmpty { return true }
    guard let storage = ledger.assets else { throw SatchelError(.internal, "the store has no assets") }
    try probeOnce()
    let generation = assetGeneration(state)
    uploadedAssets = uploadedAssets.filter {
      AssetRules.isUsable($1.location.object, log: generation.log, fence: generation.fence)
    }
    let known = assets.failed.count
    var uploads = AssetBundle.bundles(plan.uploads.filter { uploadedAssets[$0.key] == nil }, sizes).map {
      AssetUpload(digests: $0, object: newObject(state), former: plan.former)
    }
    try fetchLarge(&plan)
    for (digest, found) in plan.completions.ordered(by: { $0.value.size < $1.value.size }) {
      uploads.append(AssetUpload(digest, size: found.size, found.reservation))
    }
    for content in try write(uploads, from: storage) {
      if plan.completions[content.digest] == nil {
        uploadedAssets[content.digest] = UploadedAsset(size: content.size, location: content.location)
      } else {
        plan.located[content.digest] = (content.size, content.location)
      }
    }
    try doubtFormer(plan)
    for digest in plan.uploads.keys {
      plan.located[digest] = uploadedAssets[digest].map { ($0.size, $0.location) }
    }
    return assets.failed.count == known
  }

  /// The maximum number of objects that are written at the same time: each small one is in memory.
  private static let maximumTransfers = 4

  /// Writes objects, several at the same time.
  ///
  /// - Returns: the contents that are in the remote now
  private mutating func write(
    _ uploads: [AssetUpload], from storage: any AssetStorage
  ) throws -> [AssetUpload.Content] {
    let (remote, sizes, isEnded) = (remote, sizes, Locked(false))
    let outcomes = Locked<[AssetUpload.Outcome]>([])
    inParallel(uploads, limit: min(options.parallel, Self.maximumTransfers)) { upload in
      if isEnded.withLock({ $0 }) { return }
      let outcome = upload.write(from: storage, to: remote, sizes)
      if outcome.failed.contains(where: { Self.endsSync($0.error) }) { isEnded.withLock { $0 = true } }
      outcomes.withLock { $0.append(outcome) }
    }
    let done = outcomes.withLock { $0 }
    var written: [AssetUpload.Content] = []
    for outcome in done { written += outcome.contents }
    report.assets.uploaded += written.count
    for outcome in done { for failed in outcome.failed { try fail(failed.digests, failed.error) } }
    return written
  }

  /// Notes that objects of contents which are sealed again could not be read.
  private func doubtFormer(_ plan: AssetPlan) throws {
    var unreadable: [AssetObject] = []
    for (digest, found) in plan.former {
      let code = assets.failed[digest]?.code
      if code == .notFound || code == .damaged { unreadable.append(found.location.object) }
    }
    try ledger.doubt(unreadable)
  }

  /// Downloads large contents that are sealed again, and are not here: they are not in memory as a whole.
  private mutating func fetchLarge(_ plan: inout AssetPlan) throws {
    guard let tables = ledger as? SyncLogTables else { return }
    for digest in plan.completions.keys.ordered() where plan.former[digest] != nil {
      do {
        try RemoteAssetReader(tables, remote).fetch(digest)
      } catch {
        plan.completions[digest] = nil
        try fail([digest], error)
      }
    }
  }

  /// Whether an error concerns the whole remote, or is a cancellation.
  private static func endsSync(_ error: any Error) -> Bool {
    if let error = error as? ObjectStoreError {
      guard error.faultClass == .object || error.faultClass == .transient else { return true }
    }
    return SatchelError(converting: error).code == .cancelled
  }

  /// Notes that assets could not be uploaded; their records wait, and others go on.
  ///
  /// - Throws: the error, where it concerns the whole remote, or is a cancellation
  private mutating func fail(_ digests: [AssetDigest], _ error: any Error) throws {
    if Self.endsSync(error) { throw error }
    let error = SatchelError(converting: error)
    if error.code == .damaged { for digest in digests { try ledger.assets?.noteDamage(of: digest) } }
    for digest in digests { assets.failed[digest] = error }
  }

  /// Finds objects that no head names, and that are of this log, or of one that cannot be adopted any more. What is named
  /// and not listed is doubted.
  mutating func sweepAssets(_ head: SyncHead) throws -> Set<AssetObject> {
    let listed = try remote.assetObjects()
    let named = try ledger.namedObjects()
    let unlisted = named.filter { listed[$0] == nil }
    try ledger.doubt(unlisted.ordered())
    if !unlisted.isEmpty { hasLookedAtDoubts = false }
    // Uploads in parts that are not below the fence are removed after the head of this sweep, which raises it.
    let unfinished = try remote.abortUploads(except: named) { AssetRules.isGarbage($0, of: head) }
    return Set(listed.keys.filter { !named.contains($0) && ($0.log == head.position.log || !head.adopts) })
      .union(unfinished.filter { $0.log == head.position.log })
  }

  /// Removes uploads in parts to objects that nothing names, and to those that are complete, after a sweep.
  func abortUploads(_ state: SyncLogState) throws {
    guard let head = state.head else { return }
    try remote.abortUploads(except: ledger.namedObjects()) { AssetRules.isGarbage($0, of: head) }
  }

  /// Downloads what the options say, after all else is done.
  mutating func downloadAssets() throws {
    guard options.assets != .lazy, let ledger = ledger as? SyncLogTables else { return }
    let (count, failed) = try RemoteAssetReader(ledger, remote).fetch(
      options.assets, parallel: options.parallel)
    report.assets.downloaded += count
    report.assets.failed += failed.map { SyncAssetFailure(digest: $0.digest, error: $0.error) }
  }

  // MARK: Doubts

  /// The maximum number of objects that one sync reads because of a doubt.
  private static let maximumDoubts = 64

  /// Rule 7: reads objects again that could not be read, now that the head is known.
  mutating func lookAtDoubts(_ state: SyncLogState) throws {
    guard state.work.hasDoubts, !hasLookedAtDoubts else { return }
    hasLookedAtDoubts = true
    let isThorough = options.sweeps || options.verifies
    let doubted = try ledger.doubted(limit: Self.maximumDoubts, suspects: isThorough)
    for doubt in doubted {
      let isReadable = try remote.isReadable(doubt.digest, doubt.size, doubt.location)
      if isReadable, doubt.isSuspect { assets.cleared.insert(doubt.digest) }
      if !isReadable, !doubt.isSuspect { assets.suspects.insert(doubt.digest) }
    }
    try ledger.endDoubts(doubted.map(\.digest))
  }
}
