import SatchelRemote
import SatchelStorage

extension ShardSync {
  enum Fetched {
    /// The object is the one that was agreed.
    case known
    /// Its bytes may be applied: a checksum proves them, or they are whole; see `ShardVerdict`.
    case object(StoredObject, checksum: String, isProven: Bool)
    /// There is none, and the manifest says so.
    case absent
    /// There is none, or it is damaged, and this device has the bytes that the manifest names.
    case damaged(ShardDamage, StoredObject?)
  }

  /// Nothing tells yet whether the object is whole. It is looked at again once the other shards are known.
  struct Postponed: Error {}

  /// Reads the shard until it is known what its bytes are. What no checksum proves, sound or damaged, has to be read
  /// twice: one answer may be wrong.
  func fetch(unlessKnown: Bool) throws -> Fetched {
    let start = Clock.monotonic.now()
    var (failures, last) = (0, nil as (etag: ETag, checksum: String)?)
    while true {
      let reading = try run.remote.get(key, ifNoneMatch: unlessKnown && run.only == nil ? known.etag : nil)
      let failure: ObjectStoreError
      switch reading {
      case .notModified?: return .known
      case .object(let object)?:
        let checksum = Shard.checksum(object.body)
        let verdict = try judge(object, checksum)
        let isSecond = last.map { $0.etag == object.etag && $0.checksum == checksum } ?? false
        last = (object.etag, checksum)
        switch verdict {
        case .proven where try object.body.isEmpty && !isEmptied(object):
          failure = ObjectStoreError(.truncated, "\(key): \(ShardDamage.empty), and the manifest has moved")
        case .proven: return .object(object, checksum: checksum, isProven: true)
        case .plausible where isSecond: return .object(object, checksum: checksum, isProven: false)
        case .damaged(let damage) where isSecond && canMend(damage): return .damaged(damage, object)
        case .damaged(let damage):
          failure = ObjectStoreError(.truncated, "\(key): \(damage)")
          if isSecond { throw failure }
        case .undecided where isSecond && mayPostpone: throw Postponed()
        case .plausible, .undecided:
          failure = ObjectStoreError(
            .truncated, "\(key): differs from the manifest, and nothing shows whether it is whole")
        }
      case nil:
        if failures > 0, let absence = try absence() { return absence }
        failure = ObjectStoreError(.notFound, "\(key): \(ShardDamage.missing)")
      }
      failures += 1
      try run.remote.pause(afterFailures: failures, since: start, failure)
    }
  }

  /// Whether this device has the bytes that the manifest names, or newer ones than the object.
  func canMend(_ damage: ShardDamage) -> Bool {
    guard run.rules.mendsDamage else { return false }
    if damage == .outdated { return true }
    // Without a manifest nothing tells that another device has not just written the object: a device that has nothing
    // of it leaves it alone.
    guard let announced = announced() else {
      return damage == .missing || known.agreed != nil || !intents.isEmpty
    }
    return announced == known.agreedChecksum || intents.contains { $0.checksum == announced }
  }

  /// What may be done with an object's bytes.
  func judge(_ object: StoredObject, _ checksum: String) throws -> ShardVerdict {
    guard run.rules.verifiesBytes else { return .proven }
    let claimed = object.metadata[SyncRemote.checksumName]
    if run.rules.refusesOutdated, claimed == checksum, checksum != known.agreedChecksum,
      SyncLineage(known.lineage).follows(SyncLineage(object.metadata[SyncLineage.name]))
    {
      return .damaged(.outdated)
    }
    if announced() == checksum { return .proven }
    // The manifest may have moved.
    try run.readMaster()
    if announced() == checksum { return .proven }
    if claimed == checksum {
      return try run.remote.head(key)?.etag == object.etag ? .proven : .undecided
    }
    guard run.rules.comparesUnproven else { return .plausible }
    let (base, expected) = (try announcedBytes(), run.announcedPhotos(of: shard))
    return object.body.withUnsafeBytes { body in
      func verdict(_ base: UnsafeRawBufferPointer?) -> ShardVerdict {
        ShardVerdict(
          unproven: body, shard: shard, contradicted: claimed != nil, base: base, expected: expected)
      }
      return base.map { $0.withUnsafeBytes { verdict($0) } } ?? verdict(nil)
    }
  }

  /// The bytes that the manifest names; nil where this device does not have them.
  private func announcedBytes() throws -> [UInt8]? {
    let announced = announced()
    if announced == nil || announced == known.agreedChecksum { return try run.ledger.lastSynced(shard) }
    guard intents.contains(where: { $0.checksum == announced }) else { return nil }
    let export = try run.ledger.export(shard)
    return export.checksum == announced ? export.bytes : nil
  }

  /// What it means that there is no object; nil when the manifest names one that this device does not have.
  private func absence() throws -> Fetched? {
    try run.readMaster()
    if announced() == Shard.emptyChecksum, try isEmptied(nil) { return .absent }
    return canMend(.missing) ? .damaged(.missing, nil) : nil
  }

  /// Whether the manifest that calls the shard empty is the current one, where nothing else shows that its photos were
  /// deleted. An older manifest, from before the shard had any, says the same; a conditional write tells the two apart.
  private func isEmptied(_ object: StoredObject?) throws -> Bool {
    let hadPhotos = known.agreedChecksum != Shard.emptyChecksum
    guard hadPhotos, object?.metadata[SyncRemote.checksumName] != Shard.emptyChecksum else { return true }
    do {
      return try run.confirmManifest() && announced() == Shard.emptyChecksum
    } catch where SyncRun.told(error).code == .readOnly {
      return true
    }
  }

  /// What the manifest says; nil without one.
  func announced() -> String? { run.master.withLock { $0.checksum(of: shard) } }
}
