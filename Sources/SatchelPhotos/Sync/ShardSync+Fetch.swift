import SatchelCore
import SatchelRemote
import SatchelStorage

extension ShardSync {
  enum Fetched {
    /// The object is the one synchronized last.
    case known
    /// The bytes may be applied: a checksum proves them, or they are complete; see `ShardVerdict`.
    case object(StoredObject, checksum: String, isProven: Bool)
    /// There is no object, and the manifest agrees.
    case absent
    /// The object is missing or damaged, and this device has the bytes that the manifest names.
    case damaged(ShardDamage, StoredObject?)
  }

  /// It is not known yet whether the object is complete. The next round decides, when the other shards are
  /// known.
  struct Postponed: Error {}

  /// Reads the shard's object until its state is certain. A state that no checksum proves, sound or damaged,
  /// has to be read twice: a single response may be wrong.
  func fetch(unlessKnown: Bool) throws -> Fetched {
    let start = Clock.monotonic.now()
    var (failures, last) = (0, nil as (etag: ETag, checksum: String)?)
    var canBeKnown = unlessKnown && run.only == nil && !isEmptyAgainstManifest
    while true {
      let reading = try run.remote.get(
        key, ifNoneMatch: canBeKnown ? known.etag : nil, limit: Shard.maximumSize)
      let failure: ObjectStoreError
      switch reading {
      case .notModified?:
        if try !canBeKnown || isKnown(run.remote.head(key)) { return .known }
        canBeKnown = false
        continue
      case .object(let object)?:
        let checksum = Shard.checksum(object.body)
        let verdict = try judge(object, checksum)
        let isConfirmed = last.map { $0.etag == object.etag && $0.checksum == checksum } ?? false
        last = (object.etag, checksum)
        switch verdict {
        case .proven where try object.body.isEmpty && !isEmptied(object):
          failure = ObjectStoreError(.truncated, "\(key): \(ShardDamage.empty), and the manifest has changed")
        case .proven: return .object(object, checksum: checksum, isProven: true)
        case .plausible where isConfirmed: return .object(object, checksum: checksum, isProven: false)
        case .damaged(let damage) where isConfirmed && canRepair(damage): return .damaged(damage, object)
        case .damaged(let damage):
          failure = ObjectStoreError(.truncated, "\(key): \(damage)")
          if isConfirmed { throw failure }
        case .undecided where isConfirmed && canPostpone: throw Postponed()
        case .plausible, .undecided:
          failure = ObjectStoreError(
            .truncated, "\(key): differs from the manifest, and nothing shows whether it is complete")
        }
      case nil:
        if failures > 0, let absence = try absence() { return absence }
        failure = ObjectStoreError(.notFound, "\(key): \(ShardDamage.missing)")
      }
      failures += 1
      try run.remote.pause(afterFailures: failures, since: start, failure)
    }
  }

  /// Whether an object with the etag of the version synchronized last is that version, when the manifest names another
  /// one. If the store computes etags from content, an object that was cut to the bytes of an earlier version has that
  /// version's etag; but not its metadata.
  func isKnown(_ head: @autoclosure () throws -> ObjectHead?) throws -> Bool {
    guard let announced = announced(), announced != known.baseChecksum else { return true }
    guard let head = try head() else { return false }
    // Other programs, and stores without metadata, write no checksum.
    guard let claimed = head.metadata[SyncRemote.checksumName] else { return known.ancestors == nil }
    return claimed == known.baseChecksum
  }

  /// Whether this device has the bytes that the manifest names, or newer ones than the object.
  func canRepair(_ damage: ShardDamage) -> Bool {
    if damage == .outdated { return true }
    // Without a manifest, another device may just have written the object: a device that has nothing of it
    // leaves it alone.
    guard let announced = announced() else {
      return damage == .missing || known.syncedChecksum != nil || !pendingUploads.isEmpty
    }
    return announced == known.baseChecksum || pendingUploads.contains { $0.checksum == announced }
  }

  /// Decides what may be done with an object's bytes.
  func judge(_ object: StoredObject, _ checksum: String) throws -> ShardVerdict {
    let claimed = object.metadata[SyncRemote.checksumName]
    if claimed == checksum, checksum != known.baseChecksum,
      SyncAncestors(known.ancestors).follows(SyncAncestors(object.metadata[SyncAncestors.name]))
    {
      return .damaged(.outdated)
    }
    if announced() == checksum { return .proven }
    // The manifest may have changed since.
    try run.readManifest()
    if announced() == checksum { return .proven }
    if claimed == checksum {
      return try run.remote.head(key)?.etag == object.etag ? .proven : .undecided
    }
    let (base, expected) = (try announcedBytes(), run.announcedPhotos(of: shard))
    return object.body.withUnsafeBytes { body in
      func verdict(_ base: UnsafeRawBufferPointer?) -> ShardVerdict {
        ShardVerdict(
          unproven: body, shard: shard, contradicted: claimed != nil, base: base, expected: expected)
      }
      return base.map { $0.withUnsafeBytes { verdict($0) } } ?? verdict(nil)
    }
  }

  /// Returns the bytes that the manifest names; nil when this device does not have them.
  private func announcedBytes() throws -> [UInt8]? {
    let announced = announced()
    if announced == nil || announced == known.baseChecksum { return try run.ledger.lastSynced(shard) }
    guard pendingUploads.contains(where: { $0.checksum == announced }) else { return nil }
    let export = try run.ledger.export(shard)
    return export.checksum == announced ? export.bytes : nil
  }

  /// Decides what a missing object means; nil when the manifest names one that this device does not have.
  private func absence() throws -> Fetched? {
    try run.readManifest()
    if announced() == Shard.emptyChecksum, try isEmptied(nil) { return .absent }
    return canRepair(.missing) ? .damaged(.missing, nil) : nil
  }

  /// Whether the manifest that calls the shard empty is the current one, when nothing else shows that its
  /// photos were deleted. An older manifest, from before the shard had any, has the same checksum; a
  /// conditional write distinguishes the two.
  private func isEmptied(_ object: StoredObject?) throws -> Bool {
    let hadPhotos = known.baseChecksum != Shard.emptyChecksum
    guard hadPhotos, object?.metadata[SyncRemote.checksumName] != Shard.emptyChecksum else { return true }
    do {
      return try run.confirmManifest() && announced() == Shard.emptyChecksum
    } catch  where SatchelError(converting: error).code == .unauthorized {
      return true
    }
  }

  /// Whether the shard was empty at the last sync, and the manifest names photos. An object that was emptied
  /// since may have the etag of the empty one before, if the store computes etags from content; its metadata
  /// distinguishes them.
  private var isEmptyAgainstManifest: Bool {
    known.syncedChecksum == Shard.emptyChecksum && announced().map { $0 != Shard.emptyChecksum } ?? false
  }

  /// Returns the checksum in the manifest; nil without a manifest.
  func announced() -> String? { run.manifestView.withLock { $0.checksum(of: shard) } }
}
