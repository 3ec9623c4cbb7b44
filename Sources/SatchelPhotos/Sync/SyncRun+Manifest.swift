import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

extension SyncRun {
  /// Reads the manifest. Bytes that no checksum proves are read twice, because versions built on them reach
  /// all devices. One that is no JSON, as after a loss of power, counts as missing, and is replaced.
  ///
  /// - Returns: false when it has not changed
  /// - Throws: `SatchelError` (`foreign`) when the remote is another one than at the last sync
  @discardableResult
  func readManifest(ifNoneMatch known: ETag? = nil) throws -> Bool {
    if ignoresManifest.withLock({ $0 }) { return true }
    let start = Clock.monotonic.now()
    var last: StoredObject?
    var failures = 0
    while true {
      switch try remote.get(remote.manifestKey, ifNoneMatch: known, limit: Int64(Manifest.maximumSize)) {
      case .notModified?: return false
      case nil:
        // A read may be stale; when there was a manifest before, that is likelier than its deletion.
        guard failures == 0, uuid.withLock({ $0 }) != nil else {
          setManifest(nil, nil)
          return true
        }
      case .object(let object)?:
        let proof = ObjectProof(object, checksum: Shard.checksum(object.body))
        let isProven =
          switch proof {
          case .sound: true
          case .broken: false
          case .unknown: last == object
          }
        if isProven, Manifest.isLost(object.body) {
          setManifest(nil, object.etag)
          return true
        }
        if isProven {
          var manifest = try Manifest(parsing: object.body)
          if manifest.isClosed {
            guard options.first == .upload else { throw UserObjects.closed }
            manifest.isClosed = false
          }
          try bind(manifest)
          setManifest(manifest, object.etag)
          return true
        }
        last = object
      }
      failures += 1
      try remote.pause(
        afterFailures: failures, since: start,
        ObjectStoreError(.truncated, "\(remote.manifestKey): its bytes differ from those that were written"))
    }
  }

  /// Stores the remote's identifier before the first sync; else compares it.
  private func bind(_ manifest: Manifest) throws {
    let synced = uuid.withLock { uuid in
      if uuid == nil { uuid = manifest.directoryUUID }
      return uuid
    }
    guard let synced, synced != manifest.directoryUUID else { return }
    throw SatchelError(
      .foreign,
      "the remote of \"\(user)\" is the catalogue \(manifest.directoryUUID), "
        + "not \(synced), which it was synchronized with: detach it first")
  }

  private func setManifest(_ manifest: Manifest?, _ etag: ETag?) {
    manifestView.withLock { view in
      guard view.etag != etag || view.manifest != manifest else { return }
      view = ManifestView(manifest: manifest, etag: etag, generation: view.generation + 1)
    }
  }

  /// Writes the manifest for the shards that were uploaded and found; then confirms the uploads.
  ///
  /// - Parameter view: the manifest that was read before any of the shards was examined
  func announce(_ entries: [ManifestEntry], since view: ManifestView, _ state: SyncState) throws {
    guard !entries.isEmpty else { return }
    for entry in entries { recordPhotoCount(entry.shard, entry.checksum, photos: entry.photos) }
    var update = ManifestUpdate(entries)
    do {
      try checkConditions()
      guard try write(&update, since: view, state) else { return }
    } catch {
      // The shards were uploaded: the next sync finds them by their pending uploads.
      for entry in entries where entry.export != nil { fail(entry.shard, error) }
      if SatchelError(converting: error).code == .foreign { throw error }
      return
    }
    try confirmUploads(update, before: view.manifest)
  }

  /// - Returns: false when the manifest was deleted, so that everything has to be examined again
  private func write(_ update: inout ManifestUpdate, since view: ManifestView, _ state: SyncState) throws
    -> Bool
  {
    let start = Clock.monotonic.now()
    var (failures, hadManifest) = (0, view.manifest != nil)
    // The sync of one of the shards may have read a newer one.
    if manifestView.withLock({ $0.generation }) != view.generation { try recheck(&update) }
    while true {
      let current = manifestView.withLock { $0 }
      if hadManifest, current.manifest == nil { return false }
      if current.manifest == nil, let missing = syncedButFailed(state) { throw missing }
      hadManifest = current.manifest != nil
      guard update.isNeeded(for: current.manifest) else { return true }
      let next = update.manifest(
        replacing: current.manifest, uuid: state.newRemoteUUID, now: now(),
        photos: photos.withLock { $0 })
      do throws(ObjectStoreError) {
        try put(next, over: current)
        return true
      } catch {
        switch error.reason {
        case .preconditionFailed, .unknownOutcome, .transient, .truncated, .notFound: break
        default: throw error
        }
        failures += 1
        try remote.pause(afterFailures: failures, since: start, error)
      }
      // Also when the remote has this manifest: an earlier attempt may have written it.
      try recheck(&update)
    }
  }

  /// Corrects the number of photos in the manifest. A device that wrote the manifest at the same time as
  /// others may not have known the numbers of their photos. If another device writes it again first, that
  /// device corrects it.
  func correctCount() {
    let view = manifestView.withLock { $0 }
    guard let manifest = view.manifest else { return }
    let next = ManifestUpdate([]).manifest(
      replacing: manifest, uuid: manifest.directoryUUID, now: now(), photos: photos.withLock { $0 })
    guard next.photoCount != manifest.photoCount, (try? checkConditions()) != nil else { return }
    try? put(next, over: view)
  }

  func put(_ next: Manifest, over current: ManifestView) throws(ObjectStoreError) {
    let bytes: [UInt8]
    do {
      bytes = try next.serialized()
    } catch {
      throw ObjectStoreError(.failed(.invalid), "\(error)")
    }
    let etag = try remote.store.put(
      remote.manifestKey, bytes, condition: current.etag.map { .ifMatch($0) } ?? .ifAbsent,
      metadata: ObjectMetadata([SyncRemote.checksumName: Shard.checksum(bytes)]),
      cancellation: remote.cancellation)
    setManifest(next, etag)
  }

  /// Reads the manifest, and then whether the shards still hold what they should. In this order: a device
  /// that changes one of them afterwards writes the manifest after this one.
  private func recheck(_ update: inout ManifestUpdate) throws {
    try readManifest()
    var heads: [Shard.Index: ObjectHead] = [:]
    for entry in update.entries { heads[entry.shard] = try remote.head(remote.key(entry.shard)) }
    update.keep(heldBy: heads)
  }

  /// Verifies by a conditional write that the manifest still is the one that was read. A device that
  /// announces an earlier upload then has to read it again, and examines the shards.
  ///
  /// - Returns: false when it has changed; it was read again then
  func confirmManifest() throws -> Bool {
    try checkConditions()
    return try confirmation.withLock { _ in
      let view = manifestView.withLock { $0 }
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
      try readManifest()
      return false
    }
  }

  /// Returns the error of a shard that was synchronized and has failed: a new manifest without it would
  /// report to others that it was deleted.
  private func syncedButFailed(_ state: SyncState) -> SatchelError? {
    let synced = Set(state.shards.filter { $0.baseChecksum != Shard.emptyChecksum }.map(\.index))
    return report.withLock { $0.failed.first { synced.contains($0.shard) }?.error }
  }

  private func confirmUploads(_ update: ManifestUpdate, before: Manifest?) throws {
    guard let manifest = manifestView.withLock({ $0.manifest }) else { return }
    if before == nil { try ledger.beginSync(uuid: manifest.directoryUUID, user: user) }
    for entry in update.entries + update.superseded {
      guard let export = entry.export else {
        // The manifest now contains it, whichever device wrote the manifest.
        if manifest.checksum(of: entry.shard) == entry.checksum {
          report.withLock { $0.repaired.append(entry.shard) }
        }
        continue
      }
      do {
        try ledger.finishUpload(entry.shard, export: export, etag: entry.etag, ancestors: entry.ancestors)
        report.withLock { report in
          report.uploaded.append(entry.shard)
          if entry.isRepair { report.repaired.append(entry.shard) }
        }
      } catch {
        fail(entry.shard, error)
      }
    }
  }
}
