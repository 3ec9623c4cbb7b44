import SatchelRemote
import SatchelStorage

extension SyncRun {
  /// Reads the manifest. Bytes that nothing proves are read twice: what is built on it goes to everybody.
  ///
  /// - Returns: false when it is still the known one
  /// - Throws: `SatchelError` (`foreign`) when it is another master than the one that was agreed with
  @discardableResult
  func readMaster(ifNoneMatch known: ETag? = nil) throws -> Bool {
    if ignoresManifest.withLock({ $0 }) { return true }
    let start = Clock.monotonic.now()
    var last: StoredObject?
    var failures = 0
    while true {
      switch try remote.get(remote.manifestKey, ifNoneMatch: known) {
      case .notModified?: return false
      case nil:
        // A reader may lag behind; of a master that was there once, that is likelier than its end.
        guard failures == 0, uuid.withLock({ $0 }) != nil else {
          see(nil, nil)
          return true
        }
      case .object(let object)?:
        let proof = ObjectProof(object, checksum: Shard.checksum(object.body))
        var isProven = if case .sound = proof { true } else { !rules.verifiesBytes }
        if case .unknown = proof { isProven = isProven || last == object }
        if isProven {
          let manifest = try Manifest(parsing: object.body)
          try bind(manifest)
          see(manifest, object.etag)
          return true
        }
        last = object
      }
      failures += 1
      try remote.pause(
        afterFailures: failures, since: start,
        ObjectStoreError(.truncated, "\(remote.manifestKey): its bytes are not those that were written"))
    }
  }

  /// The first manifest says which master it is, if that was not agreed before.
  private func bind(_ manifest: Manifest) throws {
    let agreed = uuid.withLock { uuid in
      if uuid == nil { uuid = manifest.directoryUUID }
      return uuid
    }
    guard let agreed, agreed != manifest.directoryUUID else { return }
    throw SatchelError(
      .foreign,
      "the master of \"\(user)\" is the catalogue \(manifest.directoryUUID), "
        + "not \(agreed), which was agreed with: unlink it first")
  }

  private func see(_ manifest: Manifest?, _ etag: ETag?) {
    master.withLock { view in
      guard view.etag != etag || view.manifest != manifest else { return }
      view = MasterView(manifest: manifest, etag: etag, generation: view.generation + 1)
    }
  }

  /// Writes the manifest for what was uploaded and found; then uploads are done.
  ///
  /// - Parameter view: the manifest that was read before any of the shards was looked at
  func announce(_ entries: [ManifestEntry], since view: MasterView, _ state: SyncState) throws {
    guard !entries.isEmpty else { return }
    for entry in entries { learn(entry.shard, entry.checksum, photos: entry.photos) }
    var update = ManifestUpdate(entries)
    do {
      try checkConditions()
      guard try write(&update, since: view, state) else { return }
    } catch {
      // The shards are there: the next sync finds them by their intents.
      for entry in entries where entry.export != nil { fail(entry.shard, error) }
      if SyncRun.told(error).code == .foreign { throw error }
      return
    }
    try settle(update, before: view.manifest)
  }

  /// - Returns: false when the manifest has vanished, so that all has to be looked at again
  private func write(_ update: inout ManifestUpdate, since view: MasterView, _ state: SyncState) throws
    -> Bool
  {
    let start = Clock.monotonic.now()
    var (failures, hadManifest) = (0, view.manifest != nil)
    // One of the shards' syncs may have read a newer one.
    if master.withLock({ $0.generation }) != view.generation, rules.looksAgain {
      try look(&update)
    }
    while true {
      let current = master.withLock { $0 }
      if hadManifest, current.manifest == nil { return false }
      if current.manifest == nil, let missing = agreedButFailed(state) { throw missing }
      hadManifest = current.manifest != nil
      guard update.isNeeded(for: current.manifest) else { return true }
      let next = update.manifest(
        replacing: current.manifest, uuid: state.masterUUID, now: now(),
        photos: photos.withLock { $0 })
      do throws(ObjectStoreError) {
        try put(next, over: current, isFirst: failures == 0)
        return true
      } catch {
        switch error.reason {
        case .preconditionFailed, .unknownOutcome, .transient, .truncated, .notFound: break
        default: throw error
        }
        failures += 1
        try remote.pause(afterFailures: failures, since: start, error)
      }
      // Also when ours is there: it may be there from before.
      if rules.looksAgain { try look(&update) }
    }
  }

  /// Who wrote the manifest while others did may not have known how many photos theirs have. Now that all are known,
  /// it is said right; and if somebody else is faster again, it is for him to do.
  func correctCount() {
    let view = master.withLock { $0 }
    guard let manifest = view.manifest else { return }
    let next = ManifestUpdate([]).manifest(
      replacing: manifest, uuid: manifest.directoryUUID, now: now(), photos: photos.withLock { $0 })
    guard next.photoCount != manifest.photoCount, (try? checkConditions()) != nil else { return }
    try? put(next, over: view)
  }

  func put(_ next: Manifest, over current: MasterView, isFirst: Bool = true) throws(ObjectStoreError) {
    let bytes: [UInt8]
    do {
      bytes = try next.serialized()
    } catch {
      throw ObjectStoreError(.failed(.invalid), "\(error)")
    }
    var condition = current.etag.map { ObjectCondition.ifMatch($0) } ?? .ifAbsent
    if !rules.usesConditions || (!rules.looksAgain && !isFirst) { condition = .none }
    let etag = try remote.store.put(
      remote.manifestKey, bytes, condition: condition,
      metadata: ObjectMetadata([SyncRemote.checksumName: Shard.checksum(bytes)]),
      cancellation: remote.cancellation)
    see(next, etag)
  }

  /// Reads the manifest, and then whether the shards still hold what they are said to hold. In this order: who
  /// changes one of them afterwards will write the manifest after us.
  private func look(_ update: inout ManifestUpdate) throws {
    try readMaster()
    var heads: [Shard.Index: ObjectHead] = [:]
    for entry in update.entries { heads[entry.shard] = try remote.head(remote.key(entry.shard)) }
    update.keep(heldBy: heads, trusting: !rules.settlesOnlyWhatWasBuiltOn)
  }

  /// Shows by a conditional write that the manifest still is the one that was read. Whoever announces an upload that
  /// came before has to read it again, and looks at the shards then.
  ///
  /// - Returns: false when it is not; it was read again then
  func confirmManifest() throws -> Bool {
    guard rules.confirmsBeforeMending else { return true }
    try checkConditions()
    return try confirmation.withLock { _ in
      let view = master.withLock { $0 }
      guard let manifest = view.manifest else { return true }
      let next = ManifestUpdate([]).manifest(
        replacing: manifest, uuid: manifest.directoryUUID, now: now(), photos: photos.withLock { $0 })
      do throws(ObjectStoreError) {
        try put(next, over: view)
        return true
      } catch {
        switch error.reason {
        case .preconditionFailed, .unknownOutcome, .transient, .truncated, .notFound: break
        default: throw error
        }
      }
      try readMaster()
      return false
    }
  }

  /// A new manifest that leaves out what once was agreed would tell others that it was deleted.
  private func agreedButFailed(_ state: SyncState) -> SatchelError? {
    let agreed = Set(state.shards.filter { $0.agreedChecksum != Shard.emptyChecksum }.map(\.index))
    return report.withLock { $0.failed.first { agreed.contains($0.shard) }?.error }
  }

  private func settle(_ update: ManifestUpdate, before: Manifest?) throws {
    guard let manifest = master.withLock({ $0.manifest }) else { return }
    if before == nil { try ledger.beginSync(uuid: manifest.directoryUUID, user: user) }
    for entry in update.entries + update.superseded {
      guard let export = entry.export else {
        // In the manifest by now, whoever put it there.
        if manifest.checksum(of: entry.shard) == entry.checksum {
          report.withLock { $0.repaired.append(entry.shard) }
        }
        continue
      }
      do {
        try finish(entry, export)
        report.withLock { report in
          report.uploaded.append(entry.shard)
          if entry.isRepair { report.repaired.append(entry.shard) }
        }
      } catch {
        fail(entry.shard, error)
      }
    }
  }

  private func finish(_ entry: ManifestEntry, _ export: ShardExport) throws {
    var export = export
    if !rules.settlesOnlyWhatWasSent {
      export.sequence = try ledger.export(entry.shard).sequence
      try ledger.noteIntent(entry.shard, export)
    }
    try ledger.finishUpload(entry.shard, export: export, etag: entry.etag, lineage: entry.lineage)
  }

  /// Only without `uploadsShardFirst`: tells of a shard that is not there yet.
  func announceEarly(_ entry: ManifestEntry) throws {
    let view = master.withLock { $0 }
    let next = ManifestUpdate([entry]).manifest(
      replacing: view.manifest, uuid: uuid.withLock { $0 } ?? "none", now: now(), photos: [:])
    try put(next, over: view)
  }
}
