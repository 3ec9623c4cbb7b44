import SatchelCore
import SatchelRemoteTesting
import SatchelStorage

import SatchelRemote
@testable import SatchelSync

/// One device of a simulation: a real store, and at most one sync at a time.
// Unchecked: the scheduler and the fiber take turns.
final class SyncSimulationDevice: @unchecked Sendable {
  /// One sync, until it ends or crashes.
  // Unchecked: as the device.
  final class Sync: @unchecked Sendable {
    var isCrashed = false
    var requests = 0
    /// The calls of the ledger.
    var steps = 0
    /// More than any sync of so few records takes, whatever faults it meets.
    static let maximumSteps = 10_000
    /// The request that it is about to send.
    var waiting: String?
    /// Whether it has uploaded packs.
    var hasUploaded = false
    /// Whether its next write arrives after it has stopped waiting.
    var hasLateWrite = false
    var outcome: Result<SyncLogReport, any Error>?
    /// The head that it has read last, and packs that it holds back.
    var head: SyncHead?
    var heldBack: [(key: String, body: [UInt8], metadata: ObjectMetadata)] = []
    /// Whether it goes on with a pull that was interrupted.
    var isResumedPull = false
    /// Whether it changes the key.
    var isRekey = false
  }

  /// A sync that makes another key, or none, the key of the log.
  struct Rekey {
    var to: EncryptionKey?
  }

  let number: Int
  let database: Database
  let client: SyncTestClient
  let ledger: SyncLogTables
  let fiber: SimulationFiber
  var skew: Int64 = 0
  var sleepsUntil = 0
  var pausesAtLedger = false
  /// Whether the last sync found an empty remote: the host then decides to send everything again.
  private var hasMetEmptyRemote = false
  var losesPower = false
  /// The key that it has; nil for none.
  var key: EncryptionKey?
  private let isTwin: Bool
  private(set) var sync: Sync?
  /// Edits since the last backup, and since the disk was synced.
  private var sinceBackup: Set<String>?
  private var sinceSynced: Set<String> = []

  init(
    _ number: Int, _ client: SyncTestClient, _ fiber: SimulationFiber, _ sizes: SyncSizes,
    isTwin: Bool = false
  ) {
    self.number = number
    self.client = client
    self.fiber = fiber
    self.isTwin = isTwin
    database = client.database
    ledger = SyncLogTables(client.database, client: client, sizes: sizes)
  }

  var isBusy: Bool { sync != nil }

  func begin(_ world: SyncSimulation) throws {
    if !isTwin {
      try SyncSnapshot(database).clear()
      try ledger.bind(remote: "simulated", user: SyncTestDevice.user)
    }
    if losesPower { try SyncSnapshot(database, "power").take() }
    client.onDecide = { [unowned self, unowned world] in world.checkDecision(self, $0, $1) }
  }

  func now(_ world: SyncSimulation) -> Int64 { world.now + skew }

  // MARK: The user

  func edit(_ world: SyncSimulation, _ chosen: SyncKey? = nil) throws {
    let key =
      chosen ?? world.random.pick(SyncSimulation.keys.filter { client.declared.contains($0.collection) })
    let document = try client.document(key)
    var fields = document.fields
    let edit = "\(number).\(world.edits.count)"
    if fields != nil, world.random.chance(15) {
      fields = nil
    } else {
      fields = fields ?? [:]
      fields?[world.random.pick(SyncSimulation.fields)] = edit
    }
    world.edits[edit] = "\(key) of device \(number)"
    sinceBackup?.insert(edit)
    sinceSynced.insert(edit)
    world.note("device \(number): edit \(edit): \(key) = \(fields.map { "\($0)" } ?? "deleted")")
    try client.edit([(key, fields)], edit: edit, now: now(world))
  }

  /// - Returns: whether there was a conflict
  @discardableResult
  func resolve(_ world: SyncSimulation) throws -> Bool {
    let open = try client.openConflicts()
    guard !open.isEmpty else { return false }
    let key = world.random.pick(open)
    world.note("device \(number): resolve \(key)")
    try client.resolve(key, useRemote: world.random.chance(50), now: now(world))
    return true
  }

  func declareAll(_ world: SyncSimulation) throws {
    guard client.declared.count == 1 else { return }
    world.note("device \(number): declares all")
    client.declared = ["things", "others"]
    try ledger.reconcile()
  }

  func keyInFlight() throws -> SyncKey? {
    try database.read { connection in
      let id = try connection.first("SELECT id FROM sync_entry WHERE in_flight_sequence IS NOT NULL") {
        $0.anyInteger(0)
      }
      return try id.flatMap { try SyncRowTable(connection: connection).row($0)?.key }
    }
  }

  func editsInFlight() throws -> Set<String> {
    try database.read { connection in
      let table = SyncRowTable(connection: connection, documents: client.document)
      let ids = try connection.numbers("SELECT id FROM sync_entry WHERE in_flight_sequence IS NOT NULL")
      return try ids.reduce(into: []) { edits, id in
        guard let row = try table.row(id), let sent = row.inFlight else { return }
        edits.formUnion(client.ghosts[try row.envelope(sent.envelope).content.revision])
      }
    }
  }

  /// The tables are those of a snapshot: what was declared since is declared again, as apps do at each start.
  private func restore(_ snapshot: SyncSnapshot) throws {
    try snapshot.restore()
    if client.declared.contains("others") { try ledger.reconcile() }
  }

  // MARK: Loss

  var isBackedUp: Bool { sinceBackup != nil }

  func backUpOrRestore(_ world: SyncSimulation) throws {
    if isBusy { return }
    let snapshot = SyncSnapshot(database)
    if let lost = sinceBackup {
      world.note("device \(number): is restored")
      world.hasRestored = true
      let conflicts = try client.lost()
      try restore(snapshot)
      world.fine.formUnion(lost)
      world.fine.formUnion(conflicts.subtracting(try client.lost()))
      if world.mutant == nil, world.random.chance(50) { try SyncLogTables.renameWriter(in: database) }
      if losesPower { try markSynced() }
      sinceBackup = nil
    } else {
      world.note("device \(number): is backed up")
      try snapshot.take()
      sinceBackup = []
    }
  }

  /// The disk has what was committed so far.
  func markSynced() throws {
    try SyncSnapshot(database, "power").take()
    sinceSynced = []
  }

  private func losePower(_ world: SyncSimulation) throws {
    world.note("device \(number): loses power, and what was not synced to the disk")
    world.hasRestored = true
    let conflicts = try client.lost()
    try restore(SyncSnapshot(database, "power"))
    world.fine.formUnion(sinceSynced)
    world.fine.formUnion(conflicts.subtracting(try client.lost()))
    sinceSynced = []
  }

  // MARK: Syncs

  @discardableResult
  func start(
    _ world: SyncSimulation, sweeps: Bool, purges: Bool = false, acceptsLoss: Bool = false,
    rekey: Rekey? = nil
  ) -> Sync {
    world.note("device \(number): \(rekey == nil ? "sync" : "changes the key")")
    let sync = Sync()
    sync.isRekey = rekey != nil
    self.sync = sync
    var options = SyncLogOptions()
    options.retry = Retry(attempts: 3, base: 0, ceiling: 0, limit: .max)
    options.parallel = 1
    options.sweeps = sweeps
    options.purges = purges
    options.acceptsLoss = acceptsLoss
    options.recreates = hasMetEmptyRemote
    options.key = key
    fiber.begin { [self, options] in
      sync.outcome = Result {
        let connection = SyncSimulationConnection(world: world, device: self, sync: sync)
        let ledger = SyncSimulationLedger(world: world, device: self, sync: sync)
        var run = try SyncLogRun(
          ledger, sizes: self.ledger.sizes, with: connection, user: SyncTestDevice.user, options: options,
          probe: {})
        guard let rekey else { return try run.run() }
        let report = try run.rekey(to: rekey.to)
        key = rekey.to
        return report
      }
    }
    return sync
  }

  /// All that the store has.
  func dump() throws -> [String] { try SyncTestDevice.dump(database) }

  /// Runs the sync until its next request.
  func resume(_ world: SyncSimulation) {
    fiber.resume()
    guard let sync, !fiber.isBusy else { return }
    self.sync = nil
    world.note("device \(number): \(sync.isCrashed ? "crashed" : "ends: \(Self.describe(sync))")")
    if sync.isCrashed, losesPower, world.random.chance(50) {
      do { try losePower(world) } catch { world.fail(SyncViolation("\(error)")) }
    }
    if !sync.isCrashed { hasMetEmptyRemote = Self.describe(sync).contains("the remote is empty") }
    if case .failure(let error) = sync.outcome, !sync.isCrashed { world.checkError(error) }
  }

  func crash(_ world: SyncSimulation) {
    sync?.isCrashed = true
    while isBusy { resume(world) }
  }

  /// Runs a whole sync.
  func complete(_ world: SyncSimulation, sweeps: Bool, acceptsLoss: Bool) throws -> String {
    start(world, sweeps: sweeps, acceptsLoss: acceptsLoss)
    let sync = sync
    while isBusy { resume(world) }
    try world.check()
    return sync.map(Self.describe) ?? ""
  }

  private static func describe(_ sync: Sync) -> String {
    switch sync.outcome {
    case .success(let report): "\(report.commits == 0 ? "quiet" : "sent") \(sync.requests)"
    case .failure(let error): "\(error)"
    case nil: ""
    }
  }
}
