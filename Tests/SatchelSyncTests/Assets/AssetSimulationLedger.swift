import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

@testable import SatchelSync

/// The ledger of a device as one sync sees it: between two calls others may run, and a process that has crashed does
/// nothing more. Some mutants are here: ledgers that break one rule.
struct AssetSimulationLedger: SyncLogLedger {
  let world: AssetSimulation
  let device: AssetSimulationDevice
  let process: AssetSimulationProcess
  var keys: SyncLogKey?

  init(_ world: AssetSimulation, _ device: AssetSimulationDevice, _ process: AssetSimulationProcess) {
    (self.world, self.device, self.process) = (world, device, process)
  }

  private var ledger: SyncLogTables {
    var ledger = device.ledger
    ledger.keys = keys
    return ledger
  }

  var assets: (any AssetStorage)? { ledger.assets }

  private func step<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    let crashed = SatchelError(.internal, "the device has crashed")
    if process.isCrashed { throw crashed }
    if world.rate > 0, world.random.chance(5) { process.fiber.pause() }
    if world.random.below(20_000) < world.rate { process.isCrashed = true }
    if process.isCrashed { world.note("device \(device.number).\(process.number):   \(name) -> crash") }
    if process.isEndless() { world.fail("A8: a sync of device \(device.number) does not end") }
    if process.isCrashed || world.violation != nil { throw crashed }
    return try body()
  }

  private func change(_ sql: String) throws { try device.database.write { try $0.connection.execute(sql) } }

  // MARK: Assets

  func changes(_ state: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges {
    let changes = try step("changes") { try ledger.changes(&state, assets) }
    switch world.mutant {
    case .norepair:
      let needed = Set(changes.changes.flatMap(\.envelope.assets))
      changes.assets.uploads = changes.assets.uploads.filter { needed.contains($0.key) }
      changes.assets.completions = changes.assets.completions.filter { needed.contains($0.key) }
    case .blockall: if !changes.waiting.isEmpty { changes.withhold() }
    case .eager: try addUploadsOfWaiting(to: changes)
    case .trustshadow:
      device.seen.formUnion(try located())
      for digest in device.seen { changes.assets.uploads[digest] = nil }
    default: break
    }
    return changes
  }

  private func addUploadsOfWaiting(to changes: SyncChanges) throws {
    for waiting in changes.waiting {
      for digest in try device.references(of: waiting.key) ?? [] {
        let (size, isThere) = try device.database.read { connection in
          (
            try ledger.assets?.size(of: digest, connection),
            try SyncAssetTables(connection).located(digest, changes.start.generation) != nil
          )
        }
        guard let size, !isThere, size <= ledger.sizes.wholeAsset else { continue }
        changes.assets.add(digest, .upload, size: size)
      }
    }
  }

  /// The assets that are in the remote.
  private func located() throws -> Set<AssetDigest> {
    try device.database.read { connection in
      var found: Set<AssetDigest> = []
      try connection.each(
        "SELECT sha256 FROM sync_asset WHERE generation = (SELECT generation FROM sync_log) AND object IS NOT NULL"
      ) { found.insert(try SyncAssetTables.digest($0, 0)) }
      return found
    }
  }

  func addAssets(
    number: Int64, horizon: Int64?, to changes: SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject] {
    for (digest, found) in changes.assets.located { world.remote.note(digest, in: found.location.object) }
    var horizon = horizon
    switch world.mutant {
    case .noretention: horizon = .max
    case .undeclared: try forgetReferences("entry IN (SELECT id FROM sync_entry WHERE key = 'd')")
    case .believe404 where !changes.assets.suspects.isEmpty:
      horizon = nil
      let names = changes.assets.suspects.map { "x'\($0)'" }.joined(separator: ", ")
      try forgetReferences("sha256 IN (\(names))")
    case .durableuploads:
      for (digest, found) in changes.assets.located {
        device.unnamed[digest] = SyncLogRun.UploadedAsset(size: found.size, location: found.location)
      }
    default: break
    }
    let count = changes.changes.count
    let dropped = try step("assets") {
      try ledger.addAssets(number: number, horizon: horizon, to: changes, object: object)
    }
    if world.mutant == .keepmark { try keepMarks(after: count, in: changes) }
    return dropped
  }

  private func forgetReferences(_ condition: String) throws {
    try change(
      """
      DELETE FROM sync_asset_reference WHERE \(condition);
      UPDATE sync_asset SET unreferenced = 1 WHERE NOT EXISTS(SELECT 1 FROM sync_asset_reference r
      WHERE r.generation = sync_asset.generation AND r.sha256 = sync_asset.sha256)
      """)
  }

  /// Takes back what only removes a mark.
  private func keepMarks(after count: Int, in changes: SyncChanges) throws {
    for change in changes.changes[count...] {
      let row = try device.database.read { try SyncRowTable(connection: $0).row(change.row) }
      guard let row, var old = try SyncAssetTables.asset(of: row), old.unused != nil,
        let document = change.envelope.content.document
      else { continue }
      let new = try SyncAssetEntry(parsing: document)
      old.unused = nil
      guard new == old else { continue }
      changes.changes.removeAll { $0.envelope.key == change.envelope.key }
      changes.state.replace(change.envelope.bytes, by: row.entry ?? [], of: change.envelope.key)
    }
  }

  func namedObjects() throws -> Set<AssetObject> {
    let named = try step("named") { try ledger.namedObjects() }
    return world.mutant == .unnamed ? named.filter { $0.name.utf8.first ?? 0 < UInt8(ascii: "8") } : named
  }

  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: inout SyncLogState
  ) throws -> Bool {
    if world.mutant == .deletefirst {
      for name in upload.deletes {
        guard let object = AssetObject(name) else { continue }
        try world.remote.perform(.delete(object.key(AssetSimulation.user)), world, device)
      }
    }
    return try step("begin") { try ledger.begin(upload, changes, at: &state) }
  }

  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt] {
    try step("doubted") { try ledger.doubted(limit: limit, suspects: suspects) }
  }
  func doubt(_ objects: [AssetObject]) throws { try step("doubt") { try ledger.doubt(objects) } }
  func endDoubts(_ digests: [AssetDigest]) throws { try step("end doubts") { try ledger.endDoubts(digests) } }

  // MARK: The log

  func state() throws -> SyncLogState { try step("state") { try ledger.state() } }
  func now() throws -> Int64 { world.now(device.skew) }
  func continuePhase(_ state: inout SyncLogState) throws -> Bool {
    try step("phase") { try ledger.continuePhase(&state) }
  }
  func reconcile(_ state: inout SyncLogState) throws {
    try step("reconcile") { try ledger.reconcile(&state) }
  }
  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull {
    try step("pull") { try ledger.beginPull(all: all, from: state) }
  }
  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws {
    try step("store") { try ledger.store(entries, &pull) }
  }
  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool {
    try step("complete") { try ledger.complete(pull, at: head, etag: etag, state: &state) }
  }
  func resolveUpload(_ state: inout SyncLogState) throws -> Bool {
    try step("resolve") { try ledger.resolveUpload(&state) }
  }
  func decide(_ state: inout SyncLogState) throws -> SyncDecided? {
    try step("decide") { try ledger.decide(&state) }
  }
  func postponed() throws -> [SyncFailure] { try ledger.postponed() }
  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure]) {
    try ledger.preview()
  }
  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries] {
    try step("live") { try ledger.live(in: packs, above: horizon) }
  }
  func exclude(through horizon: Int64, from changes: SyncChanges) throws {
    try step("exclude") { try ledger.exclude(through: horizon, from: changes) }
  }
  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int) {
    try step("live entries") { try ledger.liveEntries(interval, above: horizon, at: state) }
  }
  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64) {
    try step("survivors") { try ledger.survivors(of: pull, after: row, limit: limit) }
  }
  func sensitiveEntry() throws -> SyncKey? { try ledger.sensitiveEntry() }
  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state: inout SyncLogState
  ) throws -> Bool {
    try step("confirm") {
      try ledger.confirm(upload, etag: etag, compactions: compactions, state: &state)
    }
  }
  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws {
    try step("note") { try ledger.note(failures, obsolete) }
  }
}
