import SatchelRemote
import SatchelStorage

/// The sync of one shard; knows nothing of the others.
struct ShardSync {
  let run: SyncRun
  let shard: Shard.Index
  let step: SyncPlan.Step
  let key: ObjectKey
  /// Names the catalogue.
  let writer: String
  /// What is known of both sides by now.
  var known: ShardState
  /// An upload that was begun before, and of which the store said that it never came, as there is no object. Should that
  /// have been wrong, what comes to light is still ours.
  var unproven: UploadIntent?
  /// What is wrong with the object, and its bytes; it is to be replaced.
  var damage: (kind: ShardDamage, object: StoredObject?)?
  /// Whether the sync has another round.
  var mayPostpone = false

  init(_ run: SyncRun, _ known: ShardState, step: SyncPlan.Step, writer: String) throws {
    self.run = run
    self.writer = writer
    self.step = step
    self.known = known
    shard = known.index
    key = try run.remote.key(shard)
    if !run.rules.heedsIntents { self.known.intent = nil }
  }

  /// - Returns: what the manifest should say, if that is not what it says
  mutating func perform() throws -> ManifestEntry? {
    switch step {
    case .nothing: return nil
    case .upload:
      // Without a manifest it was asked what objects there are, and this is none of them.
      return try upload(isGone: run.master.withLock { $0.manifest == nil })
    case .download: return try bring()
    case .both:
      run.report.withLock { $0.conflicts.append(shard) }
      return try bring()
    case .examine: return try examine()
    }
  }

  /// Finds out what became of an upload that was begun, or what there is without a manifest.
  private mutating func examine() throws -> ManifestEntry? {
    guard let head = try run.remote.head(key) else { return try bring() }
    // The same tag may be that of a content that has returned: then its lineage tells what was between. And bytes may
    // rot under their tag, which is what is looked for when single shards are repaired.
    guard run.only == nil, let etag = known.etag, head.etag == etag,
      settled(checksum: nil, lineage: head.metadata[SyncLineage.name]) == nil
    else { return try bring(isLooking: true) }
    let entry = isAnnounced ? nil : found()
    guard known.hasChanges || known.intent != nil else { return entry }
    return try upload() ?? entry
  }

  /// Takes what the master has, and sends what is to be sent on top of it.
  private mutating func bring(isLooking: Bool = false) throws -> ManifestEntry? {
    let (entry, isGone) = try receive(unlessKnown: !isLooking)
    guard known.hasChanges || isGone else { return entry }
    return try upload(isGone: isGone) ?? entry
  }

  /// Takes what the master has.
  ///
  /// - Returns: what the manifest should say, and whether the object has to be put there again
  mutating func receive(unlessKnown: Bool = true) throws -> (entry: ManifestEntry?, isGone: Bool) {
    damage = nil
    switch try fetch(unlessKnown: unlessKnown) {
    case .known:
      return (isAnnounced ? nil : found(), false)
    case .absent:
      guard known.agreedChecksum != Shard.emptyChecksum else { return (nil, false) }
      try take([], checksum: Shard.emptyChecksum, etag: nil, lineage: nil)
      return (nil, false)
    case .damaged(let kind, let object):
      damage = (kind, object)
      known.etag = object?.etag
      return (nil, true)
    case .object(let object, let checksum, let isProven):
      let lineage = object.metadata[SyncLineage.name]
      let settled = settled(checksum: checksum, lineage: lineage)
      if checksum == known.agreedChecksum, settled == nil {
        // Only the tag is news. It is kept before anything is built on it: the lineage names what comes next.
        try run.ledger.agree(shard, checksum: checksum, etag: object.etag, lineage: lineage)
        known.agreed = checksum
        known.etag = object.etag
        known.lineage = lineage
        (known.intent, unproven) = (nil, nil)
      } else {
        try take(
          object.body, checksum: checksum, etag: object.etag, lineage: lineage, settled: settled,
          isProven: isProven)
      }
      return (isAnnounced ? nil : found(), false)
    }
  }

  private mutating func take(
    _ bytes: [UInt8], checksum: String, etag: ETag?, lineage: String?, settled: Int64? = nil,
    isProven: Bool = true
  ) throws {
    // Changes that came after our own upload were made on top of it: nothing has come between.
    let isOurs = settled != nil && intents.contains { $0.checksum == checksum }
    let taken = try run.ledger.take(
      shard, bytes: bytes, checksum: checksum, etag: etag, expected: known.agreed, settledUpTo: settled,
      policy: isOurs ? .mergeRows : run.options.policy, lineage: lineage, keepsLost: !isProven)
    run.report.withLock { report in
      report.downloaded.append(shard)
      report.conflictRows += taken.conflicts
      report.removed += taken.removed
      if taken.conflicts > 0 { report.conflicts.append(shard) }
      report.rejected += taken.rejected.map { SyncReport.Rejected(shard: shard, row: $0) }
    }
    known.agreed = checksum
    known.etag = etag
    known.lineage = lineage
    known.agreedPhotos = taken.photos
    known.hasChanges = taken.hasChanges
    (known.intent, unproven) = (nil, nil)
    run.learn(shard, checksum, photos: taken.photos)
  }

  /// The last change of ours that is in the master, when that has our upload or is built on it.
  private func settled(checksum: String?, lineage: String?) -> Int64? {
    guard run.rules.heedsIntents else { return nil }
    return intents.first { intent in
      intent.checksum == checksum || SyncLineage(lineage).contains(self.lineage(of: intent.checksum))
    }?.sequence
  }

  var intents: [UploadIntent] { [known.intent, unproven].compactMap { $0 } }

  /// The lineage of what replaces the agreed object.
  func lineage(of checksum: String) -> SyncLineage {
    SyncLineage(known.lineage).followed(
      by: checksum, before: known.agreedChecksum, writer: writer)
  }

  /// Whether the manifest says what was agreed.
  private var isAnnounced: Bool {
    run.master.withLock { $0.checksum(of: shard) } == known.agreedChecksum
  }

  /// What was agreed is in the master, and the manifest says something else.
  private func found() -> ManifestEntry {
    ManifestEntry(
      shard: shard, checksum: known.agreedChecksum, photos: known.agreedPhotos, etag: known.etag,
      lineage: known.lineage, origin: .found)
  }
}
