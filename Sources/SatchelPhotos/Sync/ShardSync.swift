import SatchelCore
import SatchelRemote
import SatchelStorage

/// The sync of one shard, independent of the others.
struct ShardSync {
  let run: SyncRun
  let shard: Shard.Index
  let step: SyncPlan.Step
  let key: ObjectKey
  /// The catalogue's identifier.
  let writer: String
  /// The state of both sides, updated during the sync.
  var known: ShardState
  /// An earlier upload that seems to have failed, because the store reported that there is no object. If that
  /// report was wrong, an object found later is still this device's.
  var unconfirmedUpload: PendingShard?
  /// The object's damage, and its bytes; the object has to be replaced.
  var damage: (kind: ShardDamage, object: StoredObject?)?
  /// Whether the sync has another round.
  var canPostpone = false

  init(_ run: SyncRun, _ known: ShardState, step: SyncPlan.Step, writer: String) throws {
    self.run = run
    self.writer = writer
    self.step = step
    self.known = known
    shard = known.index
    key = try run.remote.key(shard)
  }

  /// - Returns: the entry for the manifest, if that has to change
  mutating func perform() throws -> ManifestEntry? {
    switch step {
    case .nothing: return nil
    case .upload:
      // Without a manifest the objects were listed, and this shard has none.
      return try upload(isGone: run.manifestView.withLock { $0.manifest == nil })
    case .download: return try pullAndUpload()
    case .both:
      run.report.withLock { $0.conflicts.append(shard) }
      return try pullAndUpload()
    case .examine: return try examine()
    }
  }

  /// Finds the outcome of a pending upload, or the state of the object when there is no manifest.
  private mutating func examine() throws -> ManifestEntry? {
    guard let head = try run.remote.head(key) else { return try pullAndUpload() }
    // A content that has returned may have the same etag: then its ancestors show the versions between. And
    // an object may be damaged under its etag, which is what a repair of single shards looks for.
    guard run.only == nil, let etag = known.etag, head.etag == etag, try isKnown(head),
      confirmed(checksum: nil, ancestors: head.metadata[SyncAncestors.name]) == nil
    else { return try pullAndUpload(rereads: true) }
    let entry = isAnnounced ? nil : foundEntry()
    guard known.hasChanges || known.pendingUpload != nil else { return entry }
    return try upload() ?? entry
  }

  /// Pulls the remote's version, and uploads local changes on top of it.
  private mutating func pullAndUpload(rereads: Bool = false) throws -> ManifestEntry? {
    let (entry, isGone) = try pull(unlessKnown: !rereads)
    guard known.hasChanges || isGone else { return entry }
    return try upload(isGone: isGone) ?? entry
  }

  /// Pulls the remote's version.
  ///
  /// - Returns: the entry for the manifest, if that has to change, and whether the object has to be written
  ///   again
  mutating func pull(unlessKnown: Bool = true) throws -> (entry: ManifestEntry?, isGone: Bool) {
    damage = nil
    switch try fetch(unlessKnown: unlessKnown) {
    case .known:
      return (isAnnounced ? nil : foundEntry(), false)
    case .absent:
      guard known.baseChecksum != Shard.emptyChecksum else { return (nil, false) }
      try apply([], checksum: Shard.emptyChecksum, etag: nil, ancestors: nil)
      return (nil, false)
    case .damaged(let kind, let object):
      damage = (kind, object)
      known.etag = object?.etag
      return (nil, true)
    case .object(let object, let checksum, let isProven):
      let ancestors = object.metadata[SyncAncestors.name]
      let confirmed = confirmed(checksum: checksum, ancestors: ancestors)
      if checksum == known.baseChecksum, confirmed == nil {
        // Only the etag is new. It is stored first, because the ancestors of the next upload depend on it.
        try run.ledger.confirmIdentical(shard, checksum: checksum, etag: object.etag, ancestors: ancestors)
        known.syncedChecksum = checksum
        known.etag = object.etag
        known.ancestors = ancestors
        (known.pendingUpload, unconfirmedUpload) = (nil, nil)
      } else {
        try apply(
          object.body, checksum: checksum, etag: object.etag, ancestors: ancestors, confirmed: confirmed,
          isProven: isProven)
      }
      return (isAnnounced ? nil : foundEntry(), false)
    }
  }

  private mutating func apply(
    _ bytes: [UInt8], checksum: String, etag: ETag?, ancestors: String?, confirmed: Int64? = nil,
    isProven: Bool = true
  ) throws {
    // Changes after this device's own upload were made on top of it: there is nothing in between.
    let isOurs = confirmed != nil && pendingUploads.contains { $0.checksum == checksum }
    let result = try run.ledger.applyRemote(
      shard, bytes: bytes, checksum: checksum, etag: etag, expected: known.syncedChecksum,
      confirmedUpTo: confirmed,
      onConflict: isOurs ? .merge : run.onConflict, ancestors: ancestors, logsLostRows: !isProven)
    run.report.withLock { report in
      report.downloaded.append(shard)
      report.conflictRows += result.conflicts
      report.removed += result.removed
      if result.conflicts > 0 { report.conflicts.append(shard) }
      report.rejected += result.rejected.map { SyncReport.Rejected(shard: shard, row: $0) }
    }
    known.syncedChecksum = checksum
    known.etag = etag
    known.ancestors = ancestors
    known.syncedPhotos = result.photos
    known.hasChanges = result.hasChanges
    (known.pendingUpload, unconfirmedUpload) = (nil, nil)
    run.recordPhotoCount(shard, checksum, photos: result.photos)
  }

  /// Returns the number of the last local change in the remote, when that has a pending upload or is built on
  /// it.
  private func confirmed(checksum: String?, ancestors: String?) -> Int64? {
    pendingUploads.first { pendingUpload in
      pendingUpload.checksum == checksum
        || SyncAncestors(ancestors).contains(self.ancestors(of: pendingUpload.checksum))
    }?.sequence
  }

  var pendingUploads: [PendingShard] { [known.pendingUpload, unconfirmedUpload].compactMap { $0 } }

  /// Returns the ancestors of an object that replaces the one synchronized last.
  func ancestors(of checksum: String) -> SyncAncestors {
    SyncAncestors(known.ancestors).followed(
      by: checksum, before: known.baseChecksum, writer: writer)
  }

  /// Whether the manifest has the checksum of the version synchronized last.
  private var isAnnounced: Bool {
    run.manifestView.withLock { $0.checksum(of: shard) } == known.baseChecksum
  }

  /// Returns the entry for the version synchronized last, which is in the remote but not in the manifest.
  private func foundEntry() -> ManifestEntry {
    ManifestEntry(
      shard: shard, checksum: known.baseChecksum, photos: known.syncedPhotos, etag: known.etag,
      ancestors: known.ancestors, origin: .found)
  }
}
