import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

@testable import SatchelSync

/// The rules that each schedule keeps.
extension AssetSimulation {
  /// The live entries of a head, with the assets that they refer to.
  struct Fold {
    var head: SyncHead
    var references: [(id: String, digest: AssetDigest)] = []
    var assets: [AssetDigest: (digest: AssetDigest, entry: SyncAssetEntry)] = [:]

    var named: Set<AssetObject> { Set(assets.values.flatMap(\.entry.objects)) }
  }

  /// The fold of the head in the store.
  func fold() throws -> Fold? {
    guard let body = store.objects[SyncMemoryStore.head]?.body else { return nil }
    let head = try SyncHead(parsing: body)
    var entries: [SyncKey: SyncEntry] = [:]
    var all = try head.entries(nil)
    for pack in head.packs {
      guard let body = store.objects["records/somebody/p/\(pack.name)"]?.body else { continue }
      all += try pack.parse(body, nil)
    }
    for entry in all where entry.sequence > entries[entry.envelope.key]?.sequence ?? 0 {
      entries[entry.envelope.key] = entry
    }
    var fold = Fold(head: head)
    for (key, entry) in entries {
      guard let document = entry.envelope.content.document else { continue }
      for digest in entry.envelope.assets { fold.references.append((key.id, digest)) }
      if key.collection == SyncKey.asset, let digest = AssetDigest(key.id) {
        fold.assets[digest] = (digest, try SyncAssetEntry(parsing: document))
      }
    }
    return fold
  }

  /// Whether the store has an object with right bytes of an asset.
  private func isThere(_ digest: AssetDigest, _ location: SyncAssetEntry.Location) -> Bool {
    let key = "assets/somebody/\(location.object)"
    return store.objects[key] != nil || lost.contains(digest) || lostObjects.contains(key)
  }

  /// A1: what a live entry refers to is in the remote.
  func checkHead(_ name: String) {
    if hasLostHead { return }
    do {
      guard let fold = try fold() else { return }
      for (id, digest) in fold.references {
        guard let location = fold.assets[digest]?.entry.location else {
          return fail(
            "A1: \(name) \(fold.head.position.number): \(id) refers to \(digest), which has no object")
        }
        if !isThere(digest, location) {
          return fail("A1: \(name): \(id) refers to \(digest), whose object \(location.object) is not there")
        }
      }
    } catch { fail("\(name): \(error)") }
  }

  /// A2: nothing that is named is deleted, nor what a device at or above the horizon refers to.
  func checkDelete(_ key: ObjectKey, by device: AssetSimulationDevice) {
    guard key.text.hasPrefix("assets/"), store.objects[key.text] != nil,
      let object = AssetObject(String(key.text.dropFirst("assets/somebody/".count)))
    else { return }
    do {
      guard let fold = try fold() else { return }
      if fold.named.contains(object) {
        return fail(
          "A2: device \(device.number) deletes \(object), which head \(fold.head.position.number) names")
      }
      for other in devices where !hasLostHead {
        let state = try other.device.device.ledger.state()
        guard let position = state.position, position.log == fold.head.position.log,
          position.number >= fold.head.horizon, state.phase == nil
        else { continue }
        for (digest, entry) in try other.device.assets() where entry.location?.object == object {
          let isReferred = try other.device.device.database.read {
            try SyncAssetTables($0).isReferred(digest, state.generation)
          }
          if isReferred, fold.assets[digest] == nil {
            fail(
              "A2r: device \(device.number) deletes \(object), to which device \(other.number) refers at \(position.number), horizon \(fold.head.horizon)"
            )
          }
        }
      }
    } catch { fail("\(error)") }
  }

  /// All devices agree; only records with a reason wait, and what a device has and others need is in the remote.
  func checkEnd() throws {
    guard violation == nil, let fold = try fold() else { return }
    checkHead("at the end")
    var waiting: Set<String> = []
    for device in devices {
      for id in try device.pending() {
        let missing = try (device.references(of: id) ?? []).filter { !device.has($0) }
        if missing.isEmpty { return fail("A7: device \(device.number): \(id) waits without a reason") }
        waiting.insert(id)
      }
    }
    let documents = try devices.map { device in
      try device.device.device.client.documents().filter { !waiting.contains(String($0.key.dropFirst(7))) }
    }
    if documents.contains(where: { $0 != documents[0] }) {
      return fail("S7: the devices differ: \(documents)")
    }
    for digest in Set(fold.references.map(\.digest)) {
      guard let entry = fold.assets[digest]?.entry, let location = entry.location else { continue }
      let seal = try AssetSeal(digest, size: entry.size, key: location.key)
      let body = store.objects["assets/somebody/\(location.object)"]?.body ?? []
      var (opener, isReadable) = (AssetOpener(seal, chunks: 0..<seal.layout.chunks), true)
      let range = entry.range(location)
      let part = body.dropFirst(Int(range.lowerBound)).prefix(range.count)
      do {
        try Array(part).withUnsafeBytes { try opener.receive($0) { _ in } }
        try opener.finish()
      } catch { isReadable = false }
      if isReadable { continue }
      if devices.contains(where: { $0.has(digest) }) {
        return fail("repair: \(digest) is on a device, and not in the remote")
      }
      if !lost.contains(digest), !hasLostHead { return fail("A2: \(digest) is nowhere") }
    }
  }

  /// A3: when the horizon has passed everything, nothing is left but what is named, and nothing is named but what is needed.
  func checkGarbage() throws {
    for round in 0..<5 where violation == nil {
      for device in devices {
        device.time.withLock { $0 += 200_000 }
        try device.device.refer("end", [])
        _ = try device.syncStrictly(sweeps: round > 0)
      }
    }
    guard violation == nil, let fold = try fold() else { return }
    let named = Set(fold.named.map { "assets/somebody/\($0)" })
    if !Set(store.assetKeys).subtracting(named).isEmpty {
      return fail("A3: garbage stays: \(Set(store.assetKeys).subtracting(named).sorted())")
    }
    let loose = Set(fold.assets.keys).subtracting(fold.references.map(\.digest))
    if !loose.isEmpty {
      let entries = loose.compactMap {
        fold.assets[$0].map { String(decoding: $0.entry.serialized(), as: UTF8.self) }
      }
      fail(
        "A3: nothing refers to \(loose): \(entries), number \(fold.head.position.number), horizon \(fold.head.horizon)"
      )
    }
    checkHead("after all sweeps")
  }
}

/// A ledger that breaks one rule.
struct AssetSimulationLedger: SyncLogLedger {
  var ledger: SyncLogTables
  let mutant: AssetMutant?

  var keys: SyncLogKey? {
    get { ledger.keys }
    set { ledger.keys = newValue }
  }

  var assets: (any AssetStorage)? { ledger.assets }

  func changes(_ state: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges {
    var changes = try ledger.changes(&state, assets)
    if mutant == .norepair {
      let needed = Set(changes.changes.flatMap(\.envelope.assets))
      changes.assets.uploads = changes.assets.uploads.filter { needed.contains($0.key) }
      changes.assets.completions = changes.assets.completions.filter { needed.contains($0.key) }
    }
    return changes
  }

  func addAssets(
    number: Int64, horizon: Int64?, to changes: inout SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject] {
    if mutant == .undeclared {
      try ledger.database.write { transaction in
        try transaction.connection.run(
          "DELETE FROM sync_asset_reference WHERE entry IN (SELECT id FROM sync_entry WHERE key = 'd')")
        try transaction.connection.run(
          """
          UPDATE sync_asset SET unreferenced = 1 WHERE NOT EXISTS(SELECT 1 FROM sync_asset_reference r
          WHERE r.generation = sync_asset.generation AND r.sha256 = sync_asset.sha256)
          """)
      }
    }
    return try ledger.addAssets(
      number: number, horizon: mutant == .noretention ? .max : horizon, to: &changes, object: object)
  }

  func namedObjects() throws -> Set<AssetObject> {
    let named = try ledger.namedObjects()
    return mutant == .unnamed ? named.filter { $0.name.utf8.first ?? 0 < UInt8(ascii: "8") } : named
  }

  func state() throws -> SyncLogState { try ledger.state() }
  func now() throws -> Int64 { try ledger.now() }
  func continuePhase(_ state: inout SyncLogState) throws -> Bool { try ledger.continuePhase(&state) }
  func reconcile(_ state: inout SyncLogState) throws { try ledger.reconcile(&state) }
  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull {
    try ledger.beginPull(all: all, from: state)
  }
  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws { try ledger.store(entries, &pull) }
  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool { try ledger.complete(pull, at: head, etag: etag, state: &state) }
  func resolveUpload(_ state: inout SyncLogState) throws -> Bool { try ledger.resolveUpload(&state) }
  func decide(_ state: inout SyncLogState) throws -> SyncDecided? { try ledger.decide(&state) }
  func postponed() throws -> [SyncFailure] { try ledger.postponed() }
  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure]) {
    try ledger.preview()
  }
  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries] {
    try ledger.live(in: packs, above: horizon)
  }
  func exclude(through horizon: Int64, from changes: inout SyncChanges) throws {
    try ledger.exclude(through: horizon, from: &changes)
  }
  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int) {
    try ledger.liveEntries(interval, above: horizon, at: state)
  }
  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64) {
    try ledger.survivors(of: pull, after: row, limit: limit)
  }
  func sensitiveEntry() throws -> SyncKey? { try ledger.sensitiveEntry() }
  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt] {
    try ledger.doubted(limit: limit, suspects: suspects)
  }
  func doubt(_ objects: [AssetObject]) throws { try ledger.doubt(objects) }
  func endDoubts(_ digests: [AssetDigest]) throws { try ledger.endDoubts(digests) }
  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: inout SyncLogState
  ) throws -> Bool { try ledger.begin(upload, changes, at: &state) }
  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state: inout SyncLogState
  ) throws -> Bool {
    try ledger.confirm(upload, etag: etag, compactions: compactions, state: &state)
  }
  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws {
    try ledger.note(failures, obsolete)
  }
}
