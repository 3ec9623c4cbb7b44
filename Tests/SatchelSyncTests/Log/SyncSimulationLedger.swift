import SatchelAssets
import SatchelCore
import SatchelStorage

import SatchelRemote
@testable import SatchelSync

/// The ledger of a device as one sync sees it: between two calls others may run, and a device that has crashed does
/// nothing more. Some mutants are here: ledgers that break one rule.
struct SyncSimulationLedger: SyncLogLedger {
  let world: SyncSimulation
  let device: SyncSimulationDevice
  let sync: SyncSimulationDevice.Sync

  var keys: SyncLogKey?

  private var ledger: SyncLogTables {
    var ledger = device.ledger
    ledger.keys = keys
    return ledger
  }

  private func step<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    let crashed = SatchelError(.internal, "the device has crashed")
    if sync.isCrashed { throw crashed }
    if device.pausesAtLedger, world.random.chance(30) { device.fiber.pause() }
    if world.random.below(8000) < world.rate { sync.isCrashed = true }
    world.note("device \(device.number):   \(name)\(sync.isCrashed ? " -> crash" : "")")
    sync.steps += 1
    if sync.steps > SyncSimulationDevice.Sync.maximumSteps {
      world.fail(SyncViolation("S12: a sync of device \(device.number) does not end"))
    }
    if sync.isCrashed || world.violation != nil { throw crashed }
    return try body()
  }

  private func change(_ sql: StaticString) throws {
    try device.database.write { try $0.connection.run(sql) }
  }

  func state() throws -> SyncLogState {
    var state = try step("state") { try ledger.state() }
    if world.mutant == .newbytes, state.upload != nil { state.upload?.base = ETag("\"other\"") }
    if world.mutant == .believesold, state.position != nil {
      state.position?.epoch = 0
      state.position?.number = 0
    }
    return state
  }

  func now() throws -> Int64 { device.now(world) }

  func continuePhase(_ state: inout SyncLogState) throws -> Bool {
    if world.mutant == .norenew { try forgetBases() }
    return try step("phase") {
      let isConfirming = state.phase == .confirm
      let isOpen = try ledger.continuePhase(&state)
      if device.losesPower, isConfirming { try device.markSynced() }
      return isOpen
    }
  }

  /// Joins as if nothing had been synced, but for what is pending.
  private func forgetBases() throws {
    try change(
      """
      UPDATE sync_entry SET base = NULL, ancestors = NULL WHERE pending IS NULL
      AND generation = (SELECT previous FROM sync_log) AND EXISTS(
        SELECT 1 FROM sync_entry n JOIN sync_log ON n.generation = sync_log.generation
        WHERE n.collection = sync_entry.collection AND n.key = sync_entry.key)
      """)
  }

  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull {
    try step("pull\(all ? " all" : "")") {
      let known = world.mutant == .believesold ? try ledger.state() : state
      let isBelow = state.position?.log == sync.head?.position.log && state.etag != nil
      let isWhole = all && !(world.mutant == .goesonbelow && isBelow)
      let pull = try ledger.beginPull(all: isWhole, from: known)
      if !all { sync.isResumedPull = pull.isResumed }
      return pull
    }
  }

  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws {
    var entries = entries
    if world.mutant == .skipstraddle, !pull.isWhole, let head = sync.head {
      let known = pull.known
      let skipped = head.packs.filter { $0.from <= known }
      entries.removeAll { entry in skipped.contains { $0.from <= entry.sequence && entry.sequence <= $0.to } }
    }
    let name = try device.database.read { try SyncLogTables.writer($0) }
    try step("store \(entries.count)") {
      try ledger.store(entries, &pull)
      if world.mutant == .oldname {
        try device.database.write {
          try $0.connection.run("UPDATE sync_writer SET writer = ?", .text(name))
        }
      }
    }
  }

  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool {
    try step("complete \(head.position.number)") {
      let bases = world.mutant == .keepsbase ? try droppedBases(head.horizon) : []
      let fits = try ledger.complete(pull, at: head, etag: etag, state: &state)
      try restore(bases)
      if fits {
        try world.checkShadow(device, head)
      } else if !world.hasLost, !world.hasTwin, pull.isWhole || !sync.isResumedPull {
        world.fail(SyncViolation("S5: device \(device.number): the digest does not fit"))
      }
      return fits
    }
  }

  /// The rows of tombstones up to a horizon that are bases.
  private func droppedBases(_ horizon: Int64) throws -> [SyncRow] {
    try device.database.read { connection in
      let table = SyncRowTable(connection: connection)
      let ids = try connection.numbers(
        "SELECT id FROM sync_entry WHERE tombstone IS NOT NULL AND seq <= ? AND base IS NOT NULL",
        .integer(horizon))
      return try ids.compactMap { try table.row($0) }
    }
  }

  private func restore(_ rows: [SyncRow]) throws {
    if rows.isEmpty { return }
    try device.database.write { transaction in
      let table = SyncRowTable(connection: transaction.connection)
      for var row in rows where try table.row(row.key, generation: row.generation) == nil {
        (row.id, row.sequence) = (0, nil)
        try table.write(row)
      }
    }
  }

  func resolveUpload(_ state: inout SyncLogState) throws -> Bool {
    try step("resolve") {
      if state.head?.horizon ?? 0 > 0 { world.unsure.formUnion(try device.editsInFlight()) }
      if world.mutant == .nointent {
        try change(
          "UPDATE sync_entry SET in_flight_sequence = NULL, in_flight_number = NULL, in_flight_envelope = NULL"
        )
      }
      if world.mutant == .newbytes { try change("UPDATE sync_log SET pending_upload_base = 'other'") }
      return try ledger.resolveUpload(&state)
    }
  }

  func reconcile(_ state: inout SyncLogState) throws {
    try step("reconcile") { try ledger.reconcile(&state) }
  }

  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure]) {
    try step("preview") { try ledger.preview() }
  }

  func postponed() throws -> [SyncFailure] { try step("postponed") { try ledger.postponed() } }

  func sensitiveEntry() throws -> SyncKey? { try step("sensitive") { try ledger.sensitiveEntry() } }

  func decide(_ state: inout SyncLogState) throws -> SyncDecided? {
    try step("decide") { try ledger.decide(&state) }
  }

  func changes(_ state: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges {
    try step("changes") { try ledger.changes(&state, assets) }
  }

  var assets: (any AssetStorage)? { ledger.assets }

  func addAssets(
    number: Int64, horizon: Int64?, to changes: SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject] {
    try step("assets") {
      try ledger.addAssets(number: number, horizon: horizon, to: changes, object: object)
    }
  }

  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt] {
    try step("doubted") { try ledger.doubted(limit: limit, suspects: suspects) }
  }

  func doubt(_ objects: [AssetObject]) throws { try step("doubt") { try ledger.doubt(objects) } }

  func endDoubts(_ digests: [AssetDigest]) throws { try step("end doubts") { try ledger.endDoubts(digests) } }

  func namedObjects() throws -> Set<AssetObject> { try step("named") { try ledger.namedObjects() } }

  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries] {
    try step("live") {
      var live = try ledger.live(in: packs, above: horizon)
      // No pack seems to have dead entries.
      if world.mutant == .anyorder { for index in packs.indices { live[index].count = packs[index].entries } }
      return live
    }
  }

  func exclude(through horizon: Int64, from changes: SyncChanges) throws {
    try step("exclude \(horizon)") { try ledger.exclude(through: horizon, from: changes) }
  }

  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int) {
    try step("live \(interval)") {
      let found = try ledger.liveEntries(interval, above: horizon, at: state)
      guard world.mutant == .notombstone else { return found }
      let entries = try SyncEntry.parse(
        found.body[...], interval.lowerBound..<(interval.upperBound + 1), implied: 0, limit: found.count,
        source: "live")
      let kept = entries.filter { !$0.envelope.content.isDeleted }
      return (SyncValues.frames(kept.map { ($0.sequence, $0.envelope) }), kept.count)
    }
  }

  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64) {
    try step("survivors") { try ledger.survivors(of: pull, after: row, limit: limit) }
  }

  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: inout SyncLogState
  ) throws -> Bool {
    try step("begin \(changes.changes.map(\.envelope.key))") {
      let isBegun = try ledger.begin(upload, changes, at: &state)
      for change in changes.changes where change.envelope.content.isDeleted {
        world.deleted.formUnion(world.ghosts[change.envelope.content.revision])
      }
      if device.losesPower { try device.markSynced() }
      return isBegun
    }
  }

  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state: inout SyncLogState
  ) throws -> Bool {
    try step("confirm") {
      let isOurs = try ledger.confirm(upload, etag: etag, compactions: compactions, state: &state)
      if device.losesPower { try device.markSynced() }
      if world.mutant == .settleall { try change("UPDATE sync_entry SET pending = NULL") }
      return isOurs
    }
  }

  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws {
    try step("note") {
      for change in obsolete {
        // It was added and removed before another device read it.
        guard let row = try device.database.read({ try SyncRowTable(connection: $0).row(change.row) }) else {
          continue
        }
        world.fine.formUnion(try device.client.document(row.key).edits)
      }
      try ledger.note(failures, obsolete)
    }
  }
}
