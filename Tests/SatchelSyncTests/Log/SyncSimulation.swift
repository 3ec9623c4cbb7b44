import SatchelCore
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting

@testable import SatchelSync

/// A violated rule, by its number in `SyncSimulation+Checks.swift`.
struct SyncViolation: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// A fault that tests inject, each of which breaks one rule of the protocol: the simulation must find it.
enum SyncMutant: String, CaseIterable {
  /// The head is written without a condition.
  case nocas
  /// The head is written before the packs that it names.
  case headfirst
  /// Garbage is deleted without a head write.
  case nofence
  /// A segment is named again although a sweep may have deleted it.
  case ignoregc
  /// Envelopes in flight are not searched for.
  case nointent
  /// A pending upload is replaced by other bytes before its outcome is known.
  case newbytes
  /// An older head is accepted as a new one.
  case believesold
  /// All changes are confirmed, not only those that were sent.
  case settleall
  /// Packs that begin before the position are skipped.
  case skipstraddle
  /// Compaction drops deletions.
  case notombstone
  /// A new log is joined without sending again what it lacks.
  case norenew
  /// An entry that was not built on the base is applied as if it were.
  case plaintake
  /// A restored store keeps its name.
  case oldname
  /// A damaged head is replaced without a condition.
  case nodamagetag
  /// The base of a dropped tombstone is kept.
  case keepsbase
  /// A device below the horizon reads only what is new.
  case goesonbelow
  /// Only the own clock is believed.
  case oneclock
  /// A dropped tombstone leaves the log before what it deleted.
  case anyorder

  /// Those that chance finds seldom: see `SyncSimulation.steer`.
  static let steered = [newbytes, ignoregc, plaintake, oldname, nodamagetag]
  /// Those that only many schedules find.
  static let rare = [goesonbelow, anyorder]
  static let ofHorizon = [keepsbase, goesonbelow, oneclock, anyorder]
}

/// A schedule of devices with real stores and the real engine, one remote, and faults between any two requests, all drawn
/// from a seed.
// Unchecked: the devices' fibers run only while the scheduler waits.
final class SyncSimulation: @unchecked Sendable {
  static let keys = ["things/a", "things/b", "others/c", "others/d"].map { name in
    let parts = name.split(separator: "/")
    return SyncKey(validated: String(parts[0]), String(parts[1]))
  }
  static let fields = ["x", "y"]

  var random: SeededRandom
  let mutant: SyncMutant?
  private(set) var history: [String]?
  private(set) var violation: SyncViolation?
  /// One request in a thousand, times this, has a fault.
  var rate: Int
  let devices: [SyncSimulationDevice]
  let remote = SyncSimulationRemote()
  var time = 0
  /// The device and key of each edit.
  var edits: [String: String] = [:]
  /// Edits that need not survive.
  var fine: Set<String> = []
  let ghosts: SyncGhosts
  /// The remote loses or damages objects, or goes back, in this schedule;
  private let loses: Bool
  /// whether it has,
  var hasLost = false
  /// and whether it has lost something that only consent may give up.
  var mayGiveUp = false
  /// Whether a device has changed the key: others may not have it.
  var hasRekeyed = false
  let hasSensitive: Bool
  /// Whether a device has gone back: then it may send again what it had sent.
  var hasRestored = false
  let hasTwin: Bool
  let keys: SyncSimulationKeys
  /// Edits before tombstones that were dropped, by key, and those of uploads whose outcome no device can know.
  var dropped: [SyncKey: Set<String>] = [:]
  var unsure: Set<String> = []
  /// Edits before tombstones.
  var deleted: Set<String> = []
  /// When the head of each number was written, by log.
  var written: [String: [Int64: Int64]] = [:]
  /// Whether the remote has a clock, which is right.
  let hasDate: Bool
  let retention: Int64
  /// Devices change the key.
  private let rekeys: Bool
  /// The mutant whose mistake this schedule steers towards.
  let steering: SyncMutant?
  /// Devices lose power, or are restored from backups.
  private let restores: Bool

  init(seed: UInt64, mutant: SyncMutant?, shelf: SyncSimulationShelf, isLogging: Bool) throws {
    var random = SeededRandom(seed: seed)
    let ghosts = SyncGhosts()
    self.ghosts = ghosts
    self.mutant = mutant
    history = isLogging ? [] : nil
    rate = random.pick([0, 30, 100, 250])
    loses = random.below(10) == 0 && mutant == nil || mutant == .plaintake || mutant == .norenew
    let rekeys = random.chance(20) && mutant == nil
    self.rekeys = rekeys
    let restores = random.below(5) == 0 && mutant == nil || mutant == .oldname
    self.restores = restores
    let isHorizon = mutant.map { SyncMutant.ofHorizon.contains($0) } ?? false
    let retention = Int64(isHorizon ? 100 : random.pick([100, 300, 1_000_000]))
    self.retention = retention
    let hasDate = isHorizon || random.chance(60)
    self.hasDate = hasDate
    var sizes = Self.sizes(&random)
    sizes.retention = retention
    sizes.timesInterval = Int64(random.pick([10, 50]))
    let policies = SyncTestClient.Policy.allCases
    let common = random.chance(60) ? random.pick(policies) : nil
    let declares = random.chance(70)
    steering = mutant ?? (random.chance(15) ? random.pick(SyncMutant.steered) : nil)
    let keys = try SyncSimulationKeys()
    self.keys = keys
    let key = mutant == nil && random.chance(25) ? keys.all[1] : nil
    // Sensitive documents are sealed in the stores, and keep the log from being decrypted.
    let hasSensitive = mutant == nil && random.chance(50)
    self.hasSensitive = hasSensitive
    // A second process that uses the first device's store.
    let hasTwin = random.chance(20) && mutant == nil && !restores && steering == nil
    self.hasTwin = hasTwin
    var devices = try (0..<3).map { number in
      let device = try shelf.device(number, sizes, ghosts)
      device.client.policy = common ?? random.pick(policies)
      device.client.hasSensitive = hasSensitive
      device.client.takesForksPlainly = mutant == .plaintake || mutant == .norenew
      device.client.declared = declares || number == 0 ? ["things", "others"] : ["things"]
      device.skew = Int64(random.pick([0, 0, 50, -50]))
      // Clocks that are years ahead.
      if hasDate, isHorizon ? number == 0 : random.chance(10) { device.skew = 1_000_000 }
      device.pausesAtLedger = random.chance(40)
      device.losesPower = restores && random.chance(50)
      device.key = key
      return device
    }
    if hasTwin {
      let twin = try shelf.twin(of: devices[0], sizes)
      twin.pausesAtLedger = true
      twin.key = key
      devices.append(twin)
    }
    self.devices = devices
    self.random = random
    for device in devices { try device.begin(self) }
    note("seed \(seed), \(sizes)")
  }

  /// Small, so that every path is taken with a few entries.
  private static func sizes(_ random: inout SeededRandom) -> SyncSizes {
    var sizes = SyncSizes()
    sizes.inline = Int64(random.pick([300, 700, 1200]))
    sizes.smallestPack = Int64(random.pick([500, 1000, 2000]))
    sizes.largestPack = sizes.smallestPack
    sizes.segmentsOfCommit = Int64(random.pick([1, 2, 8]))
    sizes.smallPacks = random.pick([1, 2, 4])
    sizes.mergedPacks = random.pick([2, 3])
    sizes.deadBytes = Int64(random.pick([0, 300, 2000]))
    sizes.sweepInterval = Int64(random.pick([1, 3, 32]))
    sizes.rowsOfStep = random.pick([1, 2, 1000])
    sizes.decidedAtOnce = random.pick([1, 3, 1000])
    return sizes
  }

  /// The time of right clocks.
  var now: Int64 { 1000 + Int64(time) * 10 }

  // MARK: History

  func note(_ line: @autoclosure () -> String) { history?.append("\(time) \(line())") }

  func fail(_ violation: SyncViolation) {
    if self.violation == nil { note("VIOLATION: \(violation)") }
    self.violation = self.violation ?? violation
  }

  func check() throws { if let violation { throw violation } }

  // MARK: The schedule

  func run() throws {
    for _ in 0..<(60 + random.below(60)) {
      time += 1
      remote.takeLate(self)
      if random.chance(5) { remote.remember() }
      if loses, random.chance(2) { lose() }
      if try !steer() { try step(devices[random.below(devices.count)]) }
      try check()
    }
    try end()
  }

  private func step(_ device: SyncSimulationDevice) throws {
    switch random.below(100) {
    case 0..<22: try device.edit(self)
    case 22..<25: try device.resolve(self)
    case 25..<27 where restores: try device.backUpOrRestore(self)
    case 27: try device.declareAll(self)
    case 28..<34 where rekeys: try changeKey(of: device)
    case 34..<38: device.sleepsUntil = time + random.below(40)
    default:
      if !device.isBusy {
        if device.sleepsUntil > time { return }
        device.start(self, sweeps: random.chance(10), purges: mutant == nil && random.chance(10))
      }
      for _ in 0..<random.pick([1, 1, 2, 5]) where device.isBusy { device.resume(self) }
    }
  }

  /// The store loses something, as no store should.
  private func lose() {
    guard let head = remote.objects[remote.headKey] else { return }
    switch random.below(4) {
    case 0: remote.objects[remote.headKey] = nil
    case 1:
      guard let packs = try? SyncHead(parsing: head.body).packs, !packs.isEmpty else { return }
      remote.objects[remote.packKey(random.pick(packs).name)] = nil
      mayGiveUp = true
    case 2:
      guard !remote.past.isEmpty else { return }
      remote.objects = random.pick(remote.past)
      mayGiveUp = true
    default: return damageHead()
    }
    hasLost = true
    note("the store loses something")
  }

  /// The head is emptied, cut, or has another bit.
  func damageHead() {
    guard var head = remote.objects[remote.headKey], !head.body.isEmpty else { return }
    switch random.below(4) {
    case 0: head.body = []
    case 1: head.body.removeLast(1 + random.below(head.body.count))
    case 2: head.body[random.below(min(head.body.count, 40))] ^= 1 << UInt8(random.below(8))
    default: head.body[random.below(head.body.count)] ^= 1 << UInt8(random.below(8))
    }
    remote.damage(head)
    hasLost = true
    note("the store damages the head")
  }

  /// Without faults: what is late arrives or never does, and all devices come to rest with the same content.
  private func end() throws {
    rate = 0
    for device in devices {
      if device.isBusy, random.chance(50) { device.crash(self) }
      while device.isBusy { device.resume(self) }
      try check()
    }
    remote.takeLate(self, all: true)
    note("-- no faults from here on")
    for device in devices {
      try device.declareAll(self)
      if device.client.policy == .ask { device.client.policy = .newest }
      while try device.resolve(self) {}
    }
    try checkOldKeys()
    // A damaged head is no reason to give up anything, where a device knows the log.
    mayGiveUp = try mayGiveUp || devices.allSatisfy { try $0.ledger.state().position == nil }
    var outcomes: [String] = []
    for round in 0..<24 {
      outcomes = []
      for device in devices {
        try handOutKey()
        outcomes.append(
          try device.complete(self, sweeps: round % 4 == 0, acceptsLoss: round > 8 && mayGiveUp))
      }
      let quiet = round % 4 == 0 ? "quiet 2" : "quiet 1"
      if outcomes.allSatisfy({ $0 == quiet || $0 == "quiet 1" }) { return try checkEnd() }
    }
    throw SyncViolation("S7: no rest: \(outcomes)")
  }
}

/// Device stores that schedules use one after the other, because making them takes longer than a schedule.
// Unchecked: used by one thread, and the fibers that take turns with it.
final class SyncSimulationShelf: @unchecked Sendable {
  private var databases: [Database] = []
  private var fibers: [SimulationFiber] = []

  func device(_ number: Int, _ sizes: SyncSizes, _ ghosts: SyncGhosts) throws -> SyncSimulationDevice {
    while databases.count <= number {
      databases.append(try SyncTestDevice().database)
    }
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    let client = try SyncTestClient(databases[number], ghosts)
    return SyncSimulationDevice(number, client, fibers[number], sizes)
  }

  /// A second process with the store of a device.
  func twin(of device: SyncSimulationDevice, _ sizes: SyncSizes) throws -> SyncSimulationDevice {
    while fibers.count < 4 { fibers.append(SimulationFiber()) }
    return SyncSimulationDevice(device.number, device.client, fibers[3], sizes, isTwin: true)
  }

  func end() { for fiber in fibers { fiber.stop() } }
}
