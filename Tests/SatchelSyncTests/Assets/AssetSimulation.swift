import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelRemoteTesting
import SatchelTesting

@testable import SatchelSync

/// A schedule of devices with real stores, whose records refer to pictures, of one remote, and of faults between any two
/// requests, all drawn from a seed. Names of objects are random, so that a repeated schedule differs in them.
// Unchecked: the devices' fibers run only while the scheduler waits.
final class AssetSimulation: @unchecked Sendable {
  /// What the store loses in a schedule.
  enum Loss { case objects, head }

  static let contents = [100, 200, 250, 1500, 2000].map { AssetContent(size: $0) }
  static let keys = ["things/a", "things/b", "others/c", "others/d"].map { name in
    let parts = name.split(separator: "/")
    return SyncKey(validated: String(parts[0]), String(parts[1]))
  }
  static let user = SyncTestDevice.user
  /// The time of a step: prunes keep what was used within an hour.
  static let step: Int64 = 600_000

  var random: SeededRandom
  let mutant: AssetMutant?
  /// The mutant whose mistake this schedule steers towards.
  let steering: AssetMutant?
  private(set) var history: [String]?
  private(set) var violation: String?
  /// One request in a thousand, times this, has a fault.
  var rate: Int
  let clock = StepClock()
  var time: Int {
    get { clock.time }
    set { clock.time = newValue }
  }
  let remote: AssetSimulationRemote
  private(set) var devices: [AssetSimulationDevice] = []
  /// The key of the log; nil for one that is not encrypted.
  let key: EncryptionKey?
  let logKey: SyncLogKey?
  let sizes: SyncSizes
  private let loses: Loss?
  /// Whether the remote says what time it is.
  let hasDate: Bool
  /// Whether some edits change several records in one transaction.
  let hasTransactions: Bool
  /// Whether a sync has dropped what devices that were away may refer to.
  var hasPurged = false
  /// Whether the store has lost something,
  private(set) var hasLost = false
  /// the objects that it has lost, and contents of them that were named,
  private(set) var lostObjects: Set<String> = []
  var gone: Set<AssetDigest> = []
  /// and those that were there, and referred to, when it has lost its head.
  private(set) var spared: Set<AssetDigest> = []
  /// Whether the store is as good as its word about heads.
  var keepsHeads: Bool { !(loses == .head && hasLost) }
  /// Whether no object of an asset seems to be there.
  var hidesObjects = false
  /// What has happened, for the report of a run.
  var counts: [String: Int] = [:]

  init(seed: UInt64, _ mutant: AssetMutant? = nil, shelf: AssetSimulationShelf, isLogging: Bool) throws {
    var random = SeededRandom(seed: seed)
    self.mutant = mutant
    history = isLogging ? [] : nil
    rate = random.pick([0, 30, 100, 250])
    steering = mutant ?? (random.chance(15) ? random.pick(AssetMutant.steered) : nil)
    let chance = random.below(100)
    let loses: Loss? =
      if let steering {
        AssetMutant.ofHead.contains(steering)
          ? .head : AssetMutant.ofObjects.contains(steering) ? .objects : nil
      } else {
        chance < 8 ? .head : chance < 20 ? .objects : nil
      }
    self.loses = loses
    key = mutant == nil && random.chance(25) ? try EncryptionKey(SyncTestDevice.key) : nil
    logKey = try key.map { try SyncLogKey($0) }
    remote = AssetSimulationRemote(takesParts: random.chance(50))
    hasDate = random.chance(60)
    hasTransactions = mutant == nil && seed.isMultiple(of: 4)
    sizes = Self.sizes(&random)
    self.random = random
    devices = try (0..<3).map { try AssetSimulationDevice($0, self, shelf) }
    note("seed \(seed), \(loses.map { "loses \($0)" } ?? "loses nothing"), \(sizes)")
  }

  /// Small, so that every path is taken with a few contents.
  private static func sizes(_ random: inout SeededRandom) -> SyncSizes {
    var sizes = SyncSizes()
    (sizes.smallAsset, sizes.assetBundle, sizes.wholeAsset) = (300, 800, 1000)
    (sizes.retention, sizes.timesInterval) = (random.pick([8, 60]) * step, 5 * step)
    (sizes.inline, sizes.sweepInterval) = (
      Int64(random.pick([700, 1500, 4000])), Int64(random.pick([3, 32]))
    )
    (sizes.smallPacks, sizes.smallestPack) = (random.pick([2, 4]), Int64(random.pick([500, 1000, 2000])))
    sizes.largestPack = sizes.smallestPack
    sizes.rowsOfStep = random.pick([1, 3, 1000])
    return sizes
  }

  /// The time in steps, which stores ask for until they are closed.
  // Unchecked: the scheduler and the fibers take turns.
  final class StepClock: @unchecked Sendable {
    var time = 0

    func now(_ skew: Int64) -> Int64 { 1_790_000_000_000 + Int64(time) * AssetSimulation.step + skew }
  }

  func now(_ skew: Int64) -> Int64 { clock.now(skew) }

  // MARK: History

  func note(_ line: @autoclosure () -> String) { history?.append("\(time) \(line())") }

  func fail(_ text: String) {
    if violation == nil { note("VIOLATION: \(text)") }
    violation = violation ?? text
  }

  func count(_ name: String) { counts[name, default: 0] += 1 }

  // MARK: The schedule

  func run() throws {
    for _ in 0..<(100 + random.below(80)) where violation == nil {
      time += 1
      remote.takeLate(self)
      if random.chance(5) { remote.remember() }
      if loses != nil, random.chance(2) { lose() }
      if try !steer() { try step(devices[random.below(devices.count)]) }
    }
    if violation == nil { try end() }
  }

  private func step(_ device: AssetSimulationDevice) throws {
    let chance = random.below(1000)
    if device.sleepsUntil > time {
      if chance < 250 { try device.edit() } else if chance < 350 { try device.prune() }
      return
    }
    switch chance {
    // Offline for long: below the horizon afterwards.
    case 0..<20: device.sleepsUntil = time + 20 + random.below(100)
    case 20..<220: try device.edit()
    case 220..<260: try device.prune()
    case 260..<290: try device.fetch()
    case 290..<300: try device.backUp()
    case 300..<315: try device.restore()
    case 315..<320: try device.declareAll()
    default:
      let process = device.processes[random.below(2)]
      if !process.isBusy { device.start(process, options(sweeps: random.chance(20))) }
      for _ in 0..<random.pick([1, 2, 5, 20]) where process.isBusy { device.resume(process) }
    }
  }

  /// Those of a sync; without faults nothing is held back, and all else is as it is by default.
  func options(sweeps: Bool, acceptsLoss: Bool = false) -> SyncLogOptions {
    var options = SyncLogOptions()
    options.retry = Retry(attempts: 3, base: 0, ceiling: 0, limit: .max)
    (options.parallel, options.sweeps, options.recreates) = (1, sweeps, true)
    (options.acceptsLoss, options.key) = (acceptsLoss, key)
    guard rate > 0, mutant == nil else { return options }
    options.uploadsAssets = random.chance(90)
    options.verifies = random.chance(5)
    options.purges = random.chance(3)
    return options
  }

  // MARK: Losses

  func loseHead() {
    guard remote.objects[remote.headKey] != nil else { return }
    spared = (try? present()) ?? []
    remote.objects[remote.headKey] = nil
    hasLost = true
    note("the store loses the head")
  }

  private func lose() {
    if loses == .objects || random.chance(30) {
      guard let key = random.pickIfAny(remote.assetKeys) else { return }
      lostObjects.insert(key)
      gone.formUnion(remote.contents[key] ?? [])
      if random.chance(50) { remote.objects[key] = nil } else { remote.damage(key) }
      note("the store loses \(key)")
    } else if random.chance(50) {
      return loseHead()
    } else {
      guard let past = random.pickIfAny(remote.past) else { return }
      remote.objects = past
      spared = []
      note("the store goes back")
    }
    hasLost = true
  }

  /// The contents that live entries refer to, and that can be read.
  private func present() throws -> Set<AssetDigest> {
    guard let fold = try fold() else { return [] }
    return Set(
      fold.references.map(\.digest).filter { digest in
        fold.assets[digest]?.location.map { isThere(digest, $0) } ?? false
      })
  }

  // MARK: The end

  /// Without faults: what is late arrives or never does, and all devices come to rest.
  private func end() throws {
    rate = 0
    for device in devices {
      for process in device.processes where process.isBusy {
        if random.chance(50) { process.isCrashed = true }
        while process.isBusy { device.resume(process) }
      }
      device.sleepsUntil = 0
    }
    remote.takeLate(self, all: true)
    note("-- no faults from here on")
    for device in devices { try device.declareAll() }
    try rest()
    for device in devices { try device.verify() }
    try rest()
    try checkEnd()
    try checkGarbage()
  }

  /// Syncs until nothing changes any more.
  private func rest() throws {
    var outcomes: [String] = []
    for round in 0..<30 where violation == nil {
      outcomes = try devices.map {
        try $0.complete(sweeps: round % 5 == 1, acceptsLoss: round > 8 && hasLost)
      }
      if round > 1, round % 5 != 1, outcomes.allSatisfy({ $0 == "quiet" }) { return }
    }
    fail("A7: the devices do not rest: \(outcomes)")
  }
}

extension SeededRandom {
  mutating func pickIfAny<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : pick(elements)
  }
}
