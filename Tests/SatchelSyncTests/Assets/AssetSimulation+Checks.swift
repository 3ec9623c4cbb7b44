import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

@testable import SatchelSync

/// The invariants of every schedule:
///
/// - A1 nothing absent: what a live entry of a head refers to is in the remote
/// - A2 nothing needed is deleted; A2r: nor what a device at or above the horizon refers to
/// - A3 garbage: in the end nothing is in the remote that nothing names, and nothing is named that nothing refers to
/// - A6 evicted: never the bytes of a change that was not sent, of a version that lost a conflict, or an only copy
/// - A7 rest: in the end all devices have the same, and only records with a reason wait
/// - A8 end: a sync ends, whatever is changed meanwhile
/// - repair: what a device has, and an entry refers to, is in the remote in the end
///
/// A4 and A5 are those of the local folder: see `AssetFolderSimulation`.
extension AssetSimulation {
  /// The live entries of a head, with the assets that they refer to.
  struct Fold {
    var head: SyncHead
    var references: [(key: SyncKey, digest: AssetDigest)] = []
    var assets: [AssetDigest: SyncAssetEntry] = [:]

    var named: Set<AssetObject> { Set(assets.values.flatMap(\.objects)) }
  }

  /// The fold of the head in the store.
  func fold() throws -> Fold? {
    guard let body = remote.objects[remote.headKey]?.body else { return nil }
    let head = try SyncHead(parsing: body)
    let seal = head.seal(logKey, Self.user)
    var entries: [SyncKey: SyncEntry] = [:]
    for entry in try head.packs.flatMap({ try self.entries(of: $0, seal) }) + head.entries(seal)
    where entry.sequence > entries[entry.envelope.key]?.sequence ?? 0 {
      entries[entry.envelope.key] = entry
    }
    var fold = Fold(head: head)
    for (key, entry) in entries {
      guard let document = entry.envelope.content.document else { continue }
      for digest in entry.envelope.assets { fold.references.append((key, digest)) }
      if key.collection == SyncKey.asset, let digest = AssetDigest(key.id) {
        fold.assets[digest] = try SyncAssetEntry(parsing: document)
      }
    }
    return fold
  }

  private func entries(of pack: SyncPack, _ seal: SyncSeal?) throws -> [SyncEntry] {
    if let known = remote.packs["\(pack.name) \(pack.from)"] { return known }
    guard let body = remote.objects["records/somebody/p/\(pack.name)"]?.body else { return [] }
    let entries = try pack.parse(body, seal)
    remote.packs["\(pack.name) \(pack.from)"] = entries
    return entries
  }

  /// Whether the store has an object, or has lost it.
  func isThere(_ digest: AssetDigest, _ location: SyncAssetEntry.Location) -> Bool {
    let key = AssetSimulationRemote.key(location.object)
    if lostObjects.contains(key) { gone.insert(digest) }
    return remote.objects[key] != nil || gone.contains(digest)
  }

  /// A1.
  func checkHead(_ name: String) {
    guard keepsHeads else { return }
    do {
      guard let fold = try fold() else { return }
      for (key, digest) in fold.references {
        guard let location = fold.assets[digest]?.location else {
          return fail(
            "A1: \(name), \(fold.head.position.number): \(key) refers to \(digest), which has no object")
        }
        if !isThere(digest, location) {
          return fail("A1: \(name): \(key) refers to \(digest), whose object \(location.object) is not there")
        }
      }
    } catch { fail("\(name): \(error)") }
  }

  /// A2.
  func checkDelete(_ key: String, by device: AssetSimulationDevice) {
    guard keepsHeads, remote.objects[key] != nil, let object = AssetSimulationRemote.object(key) else {
      return
    }
    do {
      guard let fold = try fold() else { return }
      if fold.named.contains(object) {
        return fail(
          "A2: device \(device.number) deletes \(object), which head \(fold.head.position.number) names")
      }
      for other in devices where !hasPurged { try checkDelete(object, by: device, fold, other) }
    } catch { fail("\(error)") }
  }

  private func checkDelete(
    _ object: AssetObject, by device: AssetSimulationDevice, _ fold: Fold, _ other: AssetSimulationDevice
  ) throws {
    let state = try other.ledger.state()
    guard let position = state.position, position.log == fold.head.position.log,
      position.number >= fold.head.horizon, state.phase == nil
    else { return }
    let referred = try other.database.read { connection in
      let tables = SyncAssetTables(connection)
      return try tables.digests(in: object, state.generation).filter {
        try tables.isReferred($0, state.generation)
      }
    }
    if let digest = referred.first(where: { fold.assets[$0] == nil }) {
      fail(
        """
        A2r: device \(device.number) deletes \(digest), to which device \(other.number) refers at \(position.number), \
        horizon \(fold.head.horizon)
        """)
    }
  }

  /// A6.
  func checkPrune(
    _ removed: Set<AssetDigest>, needed: Set<AssetDigest>, kept: Set<AssetDigest>,
    by device: AssetSimulationDevice
  ) {
    for digest in removed.sorted() {
      if needed.contains(digest) {
        return fail("A6: device \(device.number) prunes \(digest), which a change that was not sent needs")
      }
      if kept.contains(digest) {
        return fail(
          "A6: device \(device.number) prunes \(digest), which a version that lost a conflict needs")
      }
      guard keepsHeads, let fold = try? fold(), fold.references.contains(where: { $0.digest == digest })
      else {
        continue
      }
      guard let location = fold.assets[digest]?.location, isThere(digest, location) else {
        return fail("A6: device \(device.number) prunes the only copy of \(digest)")
      }
    }
  }

  func checkError(_ error: any Error) {
    let code = (error as? SatchelError)?.code ?? (error as? ObjectStoreError)?.satchelError.code
    switch code {
    case .busy, .unavailable: break
    case .damaged where hasLost || rate > 0: break
    default: fail("a sync fails: \(error)")
    }
  }

  // MARK: The end

  func checkEnd() throws {
    guard violation == nil, let fold = try fold() else { return }
    checkHead("at the end")
    var waiting: Set<SyncKey> = []
    for device in devices {
      for keys in try device.pendingTransactions().values {
        if try keys.flatMap({ try device.references(of: $0) ?? [] }).allSatisfy(device.has) {
          return fail("A7: device \(device.number): \(keys) wait without a reason")
        }
        waiting.formUnion(keys)
      }
      let findings = mutant == nil ? try device.store.check() : []
      if !findings.isEmpty { return fail("device \(device.number): \(findings.map(\.message))") }
    }
    if !waiting.isEmpty { count("waits") }
    let documents = try devices.map { device in
      try device.documents().filter { document in !waiting.contains { "\($0)" == document.key } }
    }
    if let other = documents.firstIndex(where: { $0 != documents[0] }) {
      return fail("A7: device \(other) has \(documents[other].keys), and device 0 \(documents[0].keys)")
    }
    for digest in Set(fold.references.map(\.digest)) where !isReadable(digest, fold.assets[digest]) {
      if devices.contains(where: { $0.has(digest) }) {
        return fail("repair: \(digest) is on a device, and not in the remote")
      }
      let known = fold.assets[digest]?.location.map { isThere(digest, $0) } ?? false
      if !known, !hasLost { return fail("A2: \(digest) is nowhere") }
      if !gone.contains(digest), spared.contains(digest) {
        return fail("A2: \(digest) was there when the head was lost, and is nowhere")
      }
    }
  }

  private func isReadable(_ digest: AssetDigest, _ entry: SyncAssetEntry?) -> Bool {
    guard let entry, let location = entry.location,
      let body = remote.objects[AssetSimulationRemote.key(location.object)]?.body,
      let seal = try? AssetSeal(digest, size: entry.size, key: location.key)
    else { return false }
    let range = entry.range(location)
    var opener = AssetOpener(seal, chunks: 0..<seal.layout.chunks)
    let part = Array(body.dropFirst(Int(range.lowerBound)).prefix(range.count))
    do {
      try part.withUnsafeBytes { try opener.receive($0) { _ in } }
      try opener.finish()
      return true
    } catch { return false }
  }

  /// A3: when the horizon has passed everything, and all have swept.
  func checkGarbage() throws {
    for round in 0..<5 where violation == nil {
      for device in devices {
        time += 200
        try device.refer(SyncKey("things", "end"), [])
        try device.complete(sweeps: round > 0)
      }
    }
    guard violation == nil, let fold = try fold() else { return }
    let named = Set(fold.named.map(AssetSimulationRemote.key))
    let rest = (remote.assetKeys + remote.uploads.values.map(\.upload.key.text)).filter {
      !named.contains($0)
    }
    if !rest.isEmpty { return fail("A3: garbage stays: \(rest)") }
    let loose = Set(fold.assets.keys).subtracting(fold.references.map(\.digest))
    if let digest = loose.first {
      let entry = fold.assets[digest].map { String(decoding: $0.serialized(), as: UTF8.self) } ?? ""
      fail(
        "A3: nothing refers to \(digest): \(entry), number \(fold.head.position.number), horizon \(fold.head.horizon)"
      )
    }
    checkHead("after all sweeps")
  }
}
