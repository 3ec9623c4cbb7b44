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
    for bundle in AssetBundle.bundles(plan.uploads.filter { uploadedAssets[$0.key] == nil }, sizes) {
      try options.cancellation.check()
      try upload(bundle, from: storage, as: newObject(state))
    }
    for digest in plan.uploads.keys {
      plan.located[digest] = uploadedAssets[digest].map { ($0.size, $0.location) }
    }
    for (digest, found) in plan.completions.ordered(by: { $0.value.size < $1.value.size }) {
      plan.located[digest] = try complete(digest, found.size, found.reservation, from: storage).map {
        (found.size, $0)
      }
    }
    return assets.failed.count == known
  }

  /// Writes some small contents, or one, as an object.
  private mutating func upload(
    _ digests: [AssetDigest], from storage: any AssetStorage, as object: AssetObject
  ) throws {
    var bundle = AssetBundle()
    for digest in digests {
      do {
        try bundle.add(digest, storage.open(digest))
      } catch {
        try fail([digest], error)
      }
    }
    if bundle.contents.isEmpty { return }
    do throws(ObjectStoreError) {
      try remote.upload(object, bundle.body)
    } catch {
      return try fail(bundle.contents.map(\.digest), error)
    }
    for content in bundle.contents {
      let location = SyncAssetEntry.Location(
        object: object, offset: content.offset, of: Int64(bundle.body.count), key: content.key)
      uploadedAssets[content.digest] = UploadedAsset(size: content.size, location: location)
      report.assets.uploaded += 1
    }
  }

  /// Writes a large content to its reservation, and continues what an earlier sync has left.
  private mutating func complete(
    _ digest: AssetDigest, _ size: Int64, _ reservation: SyncAssetEntry.Reservation,
    from storage: any AssetStorage
  ) throws -> SyncAssetEntry.Location? {
    do {
      let seal = try AssetSeal(digest, size: size, key: reservation.key)
      let source = try SealedAsset(storage.open(digest), seal)
      try remote.upload(reservation.object, FileBody(source, name: "asset \(digest)"))
      report.assets.uploaded += 1
      return SyncAssetEntry.Location(object: reservation.object, of: seal.layout.length, key: reservation.key)
    } catch {
      try fail([digest], error)
      return nil
    }
  }

  /// Notes that assets could not be uploaded; their records wait, and others go on.
  ///
  /// - Throws: the error, where it concerns the whole remote, or is a cancellation
  private mutating func fail(_ digests: [AssetDigest], _ error: any Error) throws {
    if let error = error as? ObjectStoreError {
      guard error.faultClass == .object || error.faultClass == .transient else { throw error }
    }
    let error = SatchelError(converting: error)
    if error.code == .cancelled { throw error }
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
    return Set(listed.keys.filter { !named.contains($0) && ($0.log == head.position.log || !head.adopts) })
  }

  /// Removes uploads in parts to objects that nothing names, after a sweep.
  func abortUploads(_ state: SyncLogState) throws {
    guard let head = state.head else { return }
    let named = try ledger.namedObjects()
    try remote.abortUploads { !named.contains($0) && AssetRules.isGarbage($0, of: head) }
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

/// Sealed contents that share an object.
struct AssetBundle {
  struct Content {
    var digest: AssetDigest
    var size: Int64
    var offset: Int64
    var key: [UInt8]
  }

  private(set) var contents: [Content] = []
  private(set) var body: [UInt8] = []

  /// - Throws: `SatchelError` for bytes that cannot be read, or have another SHA-256: nothing is added
  mutating func add(_ digest: AssetDigest, _ bytes: any AssetBytes) throws {
    let key = AssetSeal.newKey()
    let sealed = try SealedAsset(bytes, AssetSeal(digest, size: bytes.size, key: key)).sealed()
    contents.append(Content(digest: digest, size: bytes.size, offset: Int64(body.count), key: key))
    body += sealed
  }

  /// Divides contents into objects: small ones share them.
  static func bundles(_ contents: [AssetDigest: Int64], _ sizes: SyncSizes) -> [[AssetDigest]] {
    var (bundles, length) = ([[AssetDigest]](), Int64.max)
    for (digest, size) in contents.ordered(by: { $0.key < $1.key }) where size <= sizes.smallAsset {
      let sealed = AssetLayout(size: size).length
      if length > sizes.assetBundle - sealed {
        bundles.append([])
        length = 0
      }
      bundles[bundles.count - 1].append(digest)
      length += sealed
    }
    return bundles + contents.filter { $1 > sizes.smallAsset }.keys.ordered().map { [$0] }
  }
}
