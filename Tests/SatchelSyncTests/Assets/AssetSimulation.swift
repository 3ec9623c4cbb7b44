import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelTesting

@testable import SatchelSync

/// A rule that is switched off, by a faulty part.
enum AssetMutant: String, CaseIterable {
  /// A head is written before the uploads that it names.
  case namefirst
  /// References of one collection are not counted.
  case undeclared
  /// What nothing refers to is dropped at once.
  case noretention
  /// A sweep does not know what entries name.
  case unnamed
  /// Nothing is uploaded again.
  case norepair
}

/// A schedule: three devices that edit records with pictures, evict and fetch them, and synchronize while requests are
/// lost, come late or are wrong, and devices crash.
// Unchecked: one thread uses it.
final class AssetSimulation: @unchecked Sendable {
  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  static let contents = [100, 200, 250, 1500, 2000].map { AssetContent(size: $0) }
  static let ids = ["a", "b", "c", "d"]
  static let user = SyncTestDevice.user

  let store = SyncMemoryStore()
  private(set) var devices: [AssetSimulationDevice] = []
  var random: SeededRandom
  var rate: Int
  let mutant: AssetMutant?
  /// Whether the store loses objects.
  private var losesObjects = false
  /// Whether the store loses the head; from then on, what only the lost head named may be gone.
  private var losesHead = false
  private(set) var hasLostHead = false
  private(set) var lost: Set<AssetDigest> = []
  /// Also those that only a head names which is still to be written.
  private(set) var lostObjects: Set<String> = []
  /// Writes and deletions that take effect later.
  private var late: [() -> Void] = []
  private(set) var heads: [SyncMemoryStore.Object] = []
  var violation: String?
  private var depth = 0
  private(set) var history: [String] = []

  init(seed: UInt64, _ mutant: AssetMutant? = nil) throws {
    random = SeededRandom(seed: seed)
    self.mutant = mutant
    rate = [0, 3, 10, 20][random.below(4)]
    let chance = random.chance(20)
    losesHead = mutant == nil && !chance && random.chance(15)
    losesObjects = mutant == .norepair || mutant == nil && chance
    var sizes = SyncSizes()
    (sizes.smallAsset, sizes.assetBundle, sizes.wholeAsset) = (300, 800, 1000)
    (sizes.retention, sizes.timesInterval) = ([20_000, 60_000][random.below(2)], 5_000)
    (sizes.inline, sizes.sweepInterval, sizes.smallPacks) = (1500, 3, 4)
    devices = try (0..<3).map {
      try AssetSimulationDevice($0, sizes, skew: [0, 0, 30_000, -30_000][random.below(4)], self)
    }
  }

  func note(_ text: String) { history.append(text) }

  func fail(_ text: String) {
    if violation == nil { violation = text }
    note("VIOLATION \(text)")
  }

  // MARK: Requests

  enum Kind { case read, write, delete, list }

  /// Before each request another device may run.
  func interleave(_ device: AssetSimulationDevice) {
    takeLate()
    guard depth == 0, rate > 0, random.chance(10) else { return }
    depth = 1
    let other = devices[(device.number + 1 + random.below(2)) % 3]
    if random.chance(30) { try? other.edit() } else { other.sync() }
    depth = 0
  }

  func postpone(_ body: @escaping () -> Void) { late.append(body) }

  func takeLate(all: Bool = false) {
    while !late.isEmpty, all || random.chance(10) { late.remove(at: random.below(late.count))() }
  }

  func noteHead() {
    if let head = store.objects[SyncMemoryStore.head] { heads.append(head) }
  }

  func staleHead() -> SyncMemoryStore.Object? {
    heads.isEmpty ? nil : heads.suffix(4).randomElement(using: &random)
  }

  private func lose() {
    if losesHead, !hasLostHead, store.objects[SyncMemoryStore.head] != nil {
      note("the store loses the head")
      store.objects[SyncMemoryStore.head] = nil
      (hasLostHead, heads) = (true, [])
    }
    let keys = store.assetKeys
    guard losesObjects, let key = keys.isEmpty ? nil : random.pick(keys) else { return }
    note("the store loses \(key)")
    lostObjects.insert(key)
    for (_, entry) in (try? fold())?.assets ?? [:]
    where "assets/somebody/\(entry.entry.location?.object.description ?? "")" == key {
      lost.insert(entry.digest)
    }
    if random.chance(50) { store.objects[key] = nil } else { store.objects[key]?.body[0] ^= 1 }
  }

  // MARK: Schedule

  func run() throws {
    for step in 0..<90 where violation == nil {
      for device in devices { device.time.withLock { $0 += 1000 } }
      takeLate()
      if random.chance(2) { lose() }
      let device = devices[random.below(3)]
      note("step \(step), device \(device.number)")
      switch random.below(100) {
      case 0..<35: try device.edit()
      case 35..<42: try device.evict()
      case 42..<48: device.fetch()
      default: device.sync(sweeps: random.chance(20))
      }
    }
    try end()
  }

  private func end() throws {
    rate = 0
    takeLate(all: true)
    try rest()
    for device in devices { try device.verify() }
    try rest()
    try checkEnd()
    try checkGarbage()
  }

  /// Syncs until nothing changes any more.
  private func rest() throws {
    for round in 0..<30 where violation == nil {
      let commits = try devices.reduce(0) { try $0 + $1.syncStrictly(sweeps: round % 5 == 4) }
      if commits == 0, round % 5 != 4, round > 3 { return }
    }
    if violation == nil { fail("A7: the devices do not rest") }
  }
}

/// A device of a simulation, with its connection to the store.
// Unchecked: one thread uses it.
final class AssetSimulationDevice: @unchecked Sendable {
  let number: Int
  let device: AssetTestDevice
  unowned let world: AssetSimulation
  var time: Locked<Int64> { device.time }
  private(set) var isBusy = false
  var isCrashed = false

  init(_ number: Int, _ sizes: SyncSizes, skew: Int64, _ world: AssetSimulation) throws {
    (self.number, self.world) = (number, world)
    device = try AssetTestDevice(sizes, time: Locked(10_000_000 + skew))
  }

  // MARK: The user

  func edit() throws {
    let id = world.random.pick(AssetSimulation.ids)
    let known = try references(of: id)
    switch world.random.below(10) {
    case 0, 1:
      if known != nil { try device.delete(id) }
    case 2...6:
      let content = world.random.pick(AssetSimulation.contents)
      try device.folder.add(content)
      if world.random.chance(5) { try device.folder.damage(content) }
      try refer(id, [content.digest] + (world.random.chance(40) ? known ?? [] : []))
    case 7:
      let copied = try references(of: world.random.pick(AssetSimulation.ids)) ?? []
      try refer(id, copied + (known ?? []))
    default: try refer(id, known ?? [])
    }
  }

  private func refer(_ id: String, _ digests: [AssetDigest]) throws {
    var fields = AssetTestDevice.fields(Array(Set(digests).sorted().prefix(3)))
    fields["token"] = "\(world.random.next())"
    try device.device.client.edit([(try SyncKey("things", id), fields)], now: device.now)
    world.note("  device \(number) edits \(id): \(digests.map { "\($0)".prefix(4) })")
  }

  func references(of id: String) throws -> [AssetDigest]? {
    try device.device.client.documents()["things/\(id)"].map { $0.values.compactMap { AssetDigest($0) } }
  }

  /// Whether the bytes are here and right.
  func has(_ digest: AssetDigest) -> Bool {
    device.folder.bytes(digest).map { AssetDigest(SHA256.digest($0)) } == digest
  }

  func pending() throws -> Set<String> {
    try device.device.database.read { connection in
      var ids: Set<String> = []
      try connection.each(
        """
        SELECT e.key FROM sync_entry e JOIN sync_collection c ON c.id = e.collection
        WHERE c.name = 'things' AND (pending IS NOT NULL OR in_flight_sequence IS NOT NULL)
        """
      ) { ids.insert($0.text(0)) }
      return ids
    }
  }

  func evict() throws {
    let needed = Set(try pending().flatMap { try references(of: $0) ?? [] })
    for digest in device.folder.digests.sorted() where !needed.contains(digest) && has(digest) {
      let remote = try device.device.database.read { try RemoteAsset(digest, $0) }
      guard let remote, remote.isReadable, remote.isReferred else { continue }
      world.note("  device \(number) evicts \("\(digest)".prefix(4))")
      device.folder.remove(digest)
    }
  }

  func fetch() {
    guard !isBusy else { return }
    for digest in Set((try? AssetSimulation.ids.flatMap { try references(of: $0) ?? [] }) ?? []).sorted()
    where !has(digest) {
      do {
        try device.reader(AssetSimulationConnection(self)).fetch(digest)
        if !has(digest) { world.fail("device \(number) has fetched other bytes of \(digest)") }
      } catch { world.note("  device \(number) cannot fetch \("\(digest)".prefix(4)): \(error)") }
    }
  }

  /// Reads all that the shadow names: what cannot be read is doubted.
  func verify() throws {
    for (digest, entry) in try device.assets() where entry.location != nil {
      _ = try? device.reader(AssetSimulationConnection(self)).read(digest, 0..<entry.size)
    }
  }

  // MARK: Sync

  func sync(sweeps: Bool = false) {
    do { _ = try syncStrictly(sweeps: sweeps) } catch { world.note("  device \(number): \(error)") }
  }

  /// - Returns: the number of heads that were written
  func syncStrictly(sweeps: Bool) throws -> Int {
    if isBusy { return 0 }
    (isBusy, isCrashed) = (true, false)
    defer { isBusy = false }
    var options = SyncLogOptions()
    options.retry = Retry(attempts: 3, base: 0, ceiling: 0)
    (options.parallel, options.sweeps, options.recreates) = (1, sweeps, true)
    let ledger = AssetSimulationLedger(ledger: device.device.ledger, mutant: world.mutant)
    var run = try SyncLogRun(
      ledger, sizes: device.device.ledger.sizes, with: AssetSimulationConnection(self),
      user: AssetSimulation.user, options: options, probe: {})
    let report = try run.run()
    world.note("  device \(number) has synchronized: \(report.sent) sent, \(report.assets.uploaded) uploaded")
    if world.mutant != nil { return report.commits }
    let findings = try device.device.check()
    if !findings.isEmpty { world.fail("device \(number): \(findings.map(\.message))") }
    return report.commits
  }
}

/// The requests of one device, with faults.
// Unchecked: one thread uses it.
final class AssetSimulationConnection: ObjectStore, @unchecked Sendable {
  private let device: AssetSimulationDevice
  private var world: AssetSimulation { device.world }
  private var store: SyncMemoryStore { world.store }

  init(_ device: AssetSimulationDevice) { self.device = device }

  private enum Fault: CaseIterable { case crashBefore, crashAfter, lostBefore, lostAfter, late, odd }

  private func request<Value>(
    _ kind: AssetSimulation.Kind, _ name: String, later: (() -> Void)? = nil,
    odd: (() throws(ObjectStoreError) -> Value)? = nil, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    world.interleave(device)
    let crash = ObjectStoreError(.failed(.internal), "the device has crashed")
    if device.isCrashed || world.violation != nil { throw crash }
    let fault = world.random.chance(world.rate) ? Fault.allCases.randomElement(using: &world.random) : nil
    world.note("    device \(device.number): \(name)\(fault.map { " \($0)" } ?? "")")
    let unknown = ObjectStoreError(
      kind == .read || kind == .list ? .transient(retryAfter: nil) : .unknownOutcome(retryAfter: nil), "lost")
    switch fault {
    case .crashBefore:
      device.isCrashed = true
      throw crash
    case .lostBefore: throw unknown
    case .late:
      if let later { world.postpone(later) }
      throw unknown
    case .odd:
      if let odd { return try odd() }
      throw unknown
    default: break
    }
    let value = try body()
    if fault == .crashAfter {
      device.isCrashed = true
      throw crash
    }
    if fault == .lostAfter { throw unknown }
    return value
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let isHead = key.text == SyncMemoryStore.head
    return try request(
      .read, "GET \(key)",
      odd: { () throws(ObjectStoreError) in
        // An old head, nothing, or a part of the object.
        guard let object = isHead ? self.world.staleHead() : self.store.objects[key.text],
          self.world.random.chance(50)
        else { throw ObjectStoreError(.notFound, "\(key): is not there") }
        if object.etag == known { return .notModified }
        let body = isHead ? object.body : Array(object.body.prefix(object.body.count / 2))
        return .object(StoredObject(body: body, etag: object.etag))
      }
    ) { () throws(ObjectStoreError) in
      try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
    }
  }

  private func perform(
    _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition, _ metadata: ObjectMetadata
  ) throws(ObjectStoreError) -> ETag {
    if world.mutant == .namefirst, key.text.hasPrefix("assets/"), let etag = ETag("\"0\"") {
      world.postpone { _ = try? self.store.put(key, body, condition: condition, metadata: metadata) }
      return etag
    }
    let etag = try store.put(key, body, condition: condition, metadata: metadata, cancellation: .never)
    if key.text == SyncMemoryStore.head {
      world.noteHead()
      world.checkHead("head of device \(device.number)")
    }
    return etag
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try request(
      .write, "PUT \(key)", later: { _ = try? self.perform(key, body, condition, metadata) }
    ) { () throws(ObjectStoreError) in try perform(key, body, condition, metadata) }
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try request(.read, "HEAD \(key)") { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    func delete() {
      world.checkDelete(key, by: device)
      store.objects[key.text] = nil
    }
    try request(.delete, "DELETE \(key)", later: delete) { () throws(ObjectStoreError) in delete() }
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try request(
      .list, "LIST \(prefix)",
      odd: { () throws(ObjectStoreError) in
        var page = try self.store.list(prefix, from: nil, limit: limit, cancellation: .never)
        page.entries.removeAll { _ in self.world.random.chance(30) }
        return page
      }
    ) { () throws(ObjectStoreError) in
      try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
    }
  }
}
