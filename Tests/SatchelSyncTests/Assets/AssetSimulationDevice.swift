import CSQLite
import SatchelCore
import SatchelRemoteTesting
import SatchelTesting

@testable import Satchel
@testable import SatchelAssets
@testable import SatchelDocuments
@testable import SatchelStorage
@testable import SatchelSync

/// One of the processes that use a device's store: at most one sync at a time.
// Unchecked: the scheduler and the fiber take turns.
final class AssetSimulationProcess: @unchecked Sendable {
  let number: Int
  let fiber: SimulationFiber
  var isCrashed = false
  /// The request that it is about to send.
  var waiting: String?
  /// Whether its next write arrives after it has stopped waiting.
  var hasLateWrite = false
  fileprivate(set) var outcome: Result<SyncLogReport, any Error>?
  /// The steps that its sync has taken.
  fileprivate(set) var steps = 0
  /// More than any sync of so few records and contents takes, whatever faults it meets.
  private static let maximumSteps = 5000

  init(_ number: Int, _ fiber: SimulationFiber) { (self.number, self.fiber) = (number, fiber) }

  var isBusy: Bool { fiber.isBusy }

  /// Counts a step.
  ///
  /// - Returns: whether it is one of a sync that does not end
  func isEndless() -> Bool {
    steps += 1
    return steps > Self.maximumSteps
  }
}

/// The fibers of schedules that run one after the other.
// Unchecked: one thread uses it.
final class AssetSimulationShelf: @unchecked Sendable {
  private var fibers: [SimulationFiber] = []

  func fiber(_ number: Int) -> SimulationFiber {
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    return fibers[number]
  }

  func end() { for fiber in fibers { fiber.stop() } }
}

/// A device of a simulation: a real store in memory, which two processes use.
// Unchecked: the scheduler and the fibers take turns.
final class AssetSimulationDevice: @unchecked Sendable {
  let number: Int
  unowned let world: AssetSimulation
  let store: Store
  let ledger: SyncLogTables
  let processes: [AssetSimulationProcess]
  let skew: Int64
  var sleepsUntil = 0
  private(set) var declared: [String: RecordCollection] = [:]
  private let policy: ConflictPolicy
  private var image: StoreImage?
  /// What mutants remember that devices must not.
  var unnamed: [AssetDigest: SyncLogRun.UploadedAsset] = [:]
  var seen: Set<AssetDigest> = []

  init(_ number: Int, _ world: AssetSimulation, _ shelf: AssetSimulationShelf) throws {
    (self.number, self.world) = (number, world)
    let skew = world.random.pick([0, 0, 40, -40]) * AssetSimulation.step
    self.skew = skew
    policy = world.random.pick([.remoteWins, .localWins, .newestWins, .merge])
    var options = StoreOptions()
    let clock = world.clock
    options.clock = Clock { clock.now(skew) }
    store = try Store(path: ":memory:", options: options)
    processes = (0..<2).map { AssetSimulationProcess($0, shelf.fiber(2 * number + $0)) }
    ledger = SyncLogTables(store.database, client: store.syncLog.client, sizes: world.sizes)
    try database.prepare(AssetSchema.subject)
    try declare("things")
    if number < 2 || world.random.chance(70) { try declare("others") }
    try ledger.bind(remote: "simulated", user: AssetSimulation.user)
    var state = try ledger.state()
    while try ledger.continuePhase(&state) {}
  }

  var database: Database { store.database }
  var isIdle: Bool { processes.allSatisfy { !$0.isBusy } && sleepsUntil <= world.time }
  /// The log that it has read.
  var log: String? { try? ledger.state().position?.log }

  // MARK: The user

  private func declare(_ name: String) throws {
    declared[name] = try store.records(name, onConflict: policy, synced: true)
  }

  func declareAll() throws {
    guard declared.count == 1, isIdle else { return }
    world.note("device \(number): declares all")
    try declare("others")
    image = nil
  }

  func edit() throws {
    guard world.hasTransactions, world.random.chance(30) else { return try editOne() }
    world.note("device \(number): edits several records at once")
    try store.batch { for _ in 0..<world.random.pick([2, 3]) { try editOne() } }
  }

  private func editOne() throws {
    let key = world.random.pick(AssetSimulation.keys.filter { declared[$0.collection] != nil })
    let known = try references(of: key)
    switch world.random.below(10) {
    case 0, 1: if known != nil { try delete(key) }
    case 2...6:
      let content = world.random.pick(AssetSimulation.contents)
      try add(content, isDamaged: world.random.chance(5))
      try refer(key, [content.digest] + (world.random.chance(40) ? known ?? [] : []))
    case 7:
      let other = world.random.pick(AssetSimulation.keys)
      try refer(key, (references(of: other) ?? []) + (known ?? []))
    default: try refer(key, known ?? [])
    }
  }

  func add(_ content: AssetContent, isDamaged: Bool = false) throws {
    try store.assets.put(content.bytes)
    guard isDamaged else { return }
    try content.digest.bytes.withUnsafeBytes { digest in
      try database.write {
        try $0.connection.run(
          """
          UPDATE asset_bytes SET bytes = zeroblob(length(bytes))
          WHERE asset = (SELECT id FROM asset WHERE sha256 = ?)
          """, .blob(digest))
      }
    }
  }

  func refer(_ key: SyncKey, _ digests: [AssetDigest]) throws {
    var fields: JSONObject = ["token": .int(Int64(world.random.below(1 << 40)))]
    for (index, digest) in Set(digests).sorted().prefix(3).enumerated() {
      fields["\(index)"] = Asset(digest).json
    }
    world.note("device \(number): edits \(key): \(digests.map { "\($0)".prefix(4) })")
    do {
      try declared[key.collection]?.put(key.id, .object(fields))
    } catch let error as SatchelError where error.code == .constraint {
      // It refers to what is nowhere any more.
      world.note("device \(number): \(error.message)")
    }
  }

  func delete(_ key: SyncKey) throws {
    world.note("device \(number): deletes \(key)")
    try declared[key.collection]?.delete(key.id)
  }

  func references(of key: SyncKey) throws -> [AssetDigest]? {
    try declared[key.collection]?.get(key.id).map { try Self.references(in: $0.body) }
  }

  static func references(in document: [UInt8]) throws -> [AssetDigest] {
    try document.withUnsafeBytes { try AssetReferences(in: $0) }.found.compactMap(\.asset.digest)
  }

  func documents() throws -> [String: [UInt8]] {
    var documents: [String: [UInt8]] = [:]
    for (name, collection) in declared {
      for record in try collection.list() { documents["\(name)/\(record.id)"] = record.body }
    }
    return documents
  }

  /// Whether the bytes are here and right; not a use, which would keep them from being pruned.
  func has(_ digest: AssetDigest) -> Bool {
    let bytes = try? digest.bytes.withUnsafeBytes { digest in
      try database.read {
        try $0.first(
          "SELECT bytes FROM asset_bytes WHERE asset = (SELECT id FROM asset WHERE sha256 = ?)", .blob(digest)
        ) { Array($0.bytes(0)) }
      }
    }
    return (bytes ?? nil).map { SHA256.digest($0) == digest.bytes } ?? false
  }

  private func digests(_ sql: StaticString) throws -> Set<AssetDigest> {
    try database.read { connection in
      var found: Set<AssetDigest> = []
      try connection.each(sql) { row in
        if let digest = AssetDigest(Array(row.bytes(0))) { found.insert(digest) }
      }
      return found
    }
  }

  /// The records with changes that were not confirmed.
  func pending() throws -> Set<SyncKey> { Set(try pendingTransactions().values.joined()) }

  /// The same, by the transactions that have changed them: those of one wait for each other.
  func pendingTransactions() throws -> [Int64: [SyncKey]] {
    try database.read { connection in
      var keys: [Int64: [SyncKey]] = [:]
      try connection.each(
        """
        SELECT c.name, e.key, coalesce(pending, -e.id) FROM sync_entry e JOIN sync_collection c ON c.id = e.collection
        WHERE c.name <> '@asset' AND (pending IS NOT NULL OR in_flight_sequence IS NOT NULL)
        """
      ) { keys[$0.anyInteger(2), default: []].append(SyncKey(validated: $0.text(0), $0.text(1))) }
      return keys
    }
  }

  /// A6: prunes all that may go, and looks whether it was more.
  func prune() throws {
    let needed = Set(try pending().flatMap { try references(of: $0) ?? [] })
    let kept = try digests(
      "SELECT sha256 FROM asset WHERE id IN (SELECT asset FROM asset_reference WHERE subject = 4)")
    let before = try digests("SELECT sha256 FROM asset WHERE place > 0").filter { has($0) }
    try forgettingRules { _ = try store.assets.prune(maxBytes: 0) }
    let removed = before.subtracting(try digests("SELECT sha256 FROM asset WHERE place > 0"))
    if !removed.isEmpty { world.count("evictions") }
    world.note("device \(number): prunes \(removed.map { "\($0)".prefix(4) })")
    world.checkPrune(removed, needed: needed, kept: kept, by: self)
  }

  /// Hides from a prune what some mutants do not look at.
  private func forgettingRules(_ body: () throws -> Void) throws {
    let (hide, show): (StaticString, StaticString)
    switch world.mutant {
    case .prunepending:
      hide = """
        CREATE TEMP TABLE hidden AS SELECT id, pending, in_flight_sequence, undecided FROM sync_entry;
        UPDATE sync_entry SET pending = NULL, in_flight_sequence = NULL, undecided = NULL
        """
      show = """
        UPDATE sync_entry SET (pending, in_flight_sequence, undecided) = (SELECT pending, in_flight_sequence, undecided
        FROM temp.hidden h WHERE h.id = sync_entry.id); DROP TABLE temp.hidden
        """
    case .pruneconflict:
      hide = """
        CREATE TEMP TABLE hidden AS SELECT * FROM asset_reference WHERE subject = 4;
        DELETE FROM asset_reference WHERE subject = 4
        """
      show = "INSERT INTO asset_reference SELECT * FROM temp.hidden; DROP TABLE temp.hidden"
    default: return try body()
    }
    try database.write { try $0.connection.execute(hide.description) }
    try body()
    try database.write { try $0.connection.execute(show.description) }
  }

  func fetch() throws {
    let wanted = try AssetSimulation.keys.flatMap { try references(of: $0) ?? [] }
    for digest in Set(wanted).sorted() {
      guard try store.assets.state(of: Asset(digest)) != .here else { continue }
      do {
        try reader().fetch(digest)
        if !has(digest) { world.fail("device \(number) has fetched other bytes of \(digest)") }
      } catch { world.note("device \(number): cannot fetch \("\(digest)".prefix(4)): \(error)") }
    }
  }

  private func reader() throws -> RemoteAssetReader {
    try RemoteAssetReader(
      ledger, with: AssetSimulationConnection(world, self, nil), user: AssetSimulation.user,
      retry: Retry(attempts: 3, base: 0, ceiling: 0))
  }

  /// Reads all that the shadow names: what cannot be read is doubted.
  func verify() throws {
    let all = try digests(
      "SELECT sha256 FROM sync_asset WHERE generation = (SELECT generation FROM sync_log) AND object IS NOT NULL"
    )
    for digest in all.sorted() { _ = try? reader().read(digest, 0..<1) }
  }

  // MARK: Loss

  func backUp() throws {
    world.note("device \(number): is backed up")
    image = try StoreImage(of: database)
  }

  /// The store and its bytes are as they were: by a restoration of the library, or by a copy of the file.
  func restore() throws {
    guard let image else { return }
    world.note("device \(number): is restored")
    world.count("restorations")
    crash()
    try image.restore(to: database)
    // No real restoration changes the file under its connection, which notices only the commits of others.
    declared.values.first?.store.forgetAll()
    self.image = nil
    if world.random.chance(50) { try SyncLogTables.renameWriter(in: database) }
  }

  func crash() {
    for process in processes where process.isBusy {
      process.isCrashed = true
      while process.isBusy { resume(process) }
    }
  }

  // MARK: Sync

  func start(_ process: AssetSimulationProcess, _ options: SyncLogOptions) {
    world.note("device \(number).\(process.number): sync\(options.sweeps ? ", sweeps" : "")")
    if options.purges {
      world.note("device \(number): purges")
      world.hasPurged = true
    }
    (process.isCrashed, process.hasLateWrite, process.outcome, process.steps) = (false, false, nil, 0)
    process.fiber.begin { [self, options] in
      process.outcome = Result {
        var run = try SyncLogRun(
          AssetSimulationLedger(world, self, process), sizes: ledger.sizes,
          with: AssetSimulationConnection(world, self, process), user: AssetSimulation.user, options: options,
          probe: {})
        if world.mutant == .durableuploads { run.uploadedAssets = unnamed }
        return try run.run()
      }
    }
  }

  /// Runs a sync until its next request.
  func resume(_ process: AssetSimulationProcess) {
    process.fiber.resume()
    guard !process.isBusy else { return }
    world.note("device \(number).\(process.number): \(process.isCrashed ? "crashed" : describe(process))")
    if case .failure(let error) = process.outcome, !process.isCrashed { world.checkError(error) }
  }

  private func describe(_ process: AssetSimulationProcess) -> String {
    switch process.outcome {
    case .success(let report): report.commits == 0 ? "quiet" : "sent \(report.sent)"
    case .failure(let error): "\(error)"
    case nil: ""
    }
  }

  /// Runs a whole sync.
  @discardableResult
  func complete(sweeps: Bool = false, acceptsLoss: Bool = false) throws -> String {
    let process = processes[0]
    while process.isBusy { resume(process) }
    start(process, world.options(sweeps: sweeps, acceptsLoss: acceptsLoss))
    while process.isBusy { resume(process) }
    return process.isCrashed ? "crashed" : describe(process)
  }
}

/// The content of a store in memory at one time.
private final class StoreImage {
  private let handle: OpaquePointer

  init(of database: Database) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(":memory:", &opened) == SQLITE_OK, let opened else {
      throw SatchelError(.internal, "an image cannot be made")
    }
    handle = opened
    let (source, size) = try database.read { ($0.handle, try $0.number("PRAGMA page_size")) }
    sqlite3_exec(handle, "PRAGMA page_size = \(size)", nil, nil, nil)
    try Self.copy(source, to: handle)
  }

  deinit { sqlite3_close(handle) }

  func restore(to database: Database) throws { try Self.copy(handle, to: database.read { $0.handle }) }

  private static func copy(_ source: OpaquePointer, to target: OpaquePointer) throws {
    let backup = sqlite3_backup_init(target, "main", source, "main")
    let code = sqlite3_backup_step(backup, -1)
    guard sqlite3_backup_finish(backup) == SQLITE_OK, code == SQLITE_DONE else {
      throw SatchelError(.internal, "a store in memory cannot be copied: \(code)")
    }
  }
}
