import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelRemote
@testable import SatchelStorage

/// One schedule: some devices that edit and sync, one master, and the faults between them, all drawn from a seed.
// Unchecked: the baton sees to it that only one thread at a time touches it.
final class SimulationWorld: @unchecked Sendable {
  /// What a schedule is made of; drawn from its seed.
  struct Setting {
    var devices: Int
    var policies: [SyncPolicy]
    /// A request in so many meets a fault; 0 for none.
    var rarity: Int
    /// Whether other devices may come in between two calls of the ledger, too.
    var pausesAtLedger: Bool
    /// Whether the devices agree on something before it begins.
    var beginsInAgreement: Bool
    var steps: Int
  }

  let setting: Setting
  let rules: SyncRules
  let user: UserID
  let manifestKey: ObjectKey
  let devices: [SimulationDevice]
  var master: SimulationMaster
  var violation: SimulationViolation?
  private(set) var history: [String]?
  private var random: SeededRandom
  private var isFaulty = false
  private var edits = 0
  private var late: [(device: SimulationDevice, put: () -> Void)] = []
  /// Versions of the manifest that were checked.
  var announced = Manifest(directoryUUID: "none")

  init(seed: UInt64, rules: SyncRules, place: SimulationPlace, isLogging: Bool = false) throws {
    var random = SeededRandom(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let count = [2, 2, 3, 3, 4][below(5)]
    let both: [SyncPolicy] = [.remoteWins, .mergeRows]
    let policy: SyncPolicy? = [.remoteWins, .mergeRows, nil][below(3)]
    setting = Setting(
      devices: count, policies: (0..<count).map { _ in policy ?? both[below(2)] },
      rarity: [0, 4, 8, 16, 40][below(5)], pausesAtLedger: below(3) == 0, beginsInAgreement: below(3) > 0,
      steps: 20 + below(100))
    self.rules = rules
    user = try UserID("simulated")
    manifestKey = try ObjectKey(user.manifestKey)
    master = SimulationMaster(tagsAreOfContent: below(2) == 0)
    history = isLogging ? [] : nil
    let setting = setting
    devices = try (0..<count).map { try place.device($0, policy: setting.policies[$0], seed: seed) }
    self.random = random
  }

  func note(_ line: @autoclosure () -> String) { history?.append(line()) }

  /// 0 to below `bound`.
  func chance(_ bound: Int) -> Int { Int(random.next() % UInt64(max(bound, 1))) }

  // MARK: The schedule

  /// - Throws: `SimulationViolation`
  func run() throws {
    note("\(setting), tags of content: \(master.tagsAreOfContent)")
    if setting.beginsInAgreement {
      for device in devices { try edit(device) }
      for _ in 0..<2 { for device in devices { try complete(device) } }
    }
    isFaulty = setting.rarity > 0
    for _ in 0..<setting.steps { try step() }
    isFaulty = false
    note("-- no faults from here on")
    while let device = devices.filter({ $0.sync != nil }).randomElement(using: &random) {
      try resume(device)
    }
    // What one repairs the next one has to read, and he may have something to add.
    for round in 0..<4 {
      if round == 1, let device = devices.first { try edit(device) }
      for device in devices { try complete(device, isCalm: round == 3) }
    }
    try checkAgreement()
  }

  private func step() throws {
    if !late.isEmpty, chance(6) == 0 { late.remove(at: chance(late.count)).put() }
    guard let device = devices.randomElement(using: &random) else { return }
    switch (device.sync, chance(10)) {
    case (nil, 0..<4), (_?, 0): try edit(device)
    case (nil, _): begin(device)
    case (_?, _): try resume(device)
    }
    if let violation { throw violation }
  }

  /// A whole sync that nobody disturbs.
  private func complete(_ device: SimulationDevice, isCalm: Bool = false) throws {
    begin(device)
    var report: SyncReport?
    while let sync = device.sync {
      try resume(device)
      if let error = sync.error { throw SimulationViolation(description: "a sync without faults: \(error)") }
      report = sync.report
    }
    if let failure = report?.failed.first {
      throw SimulationViolation(description: "a sync without faults failed: \(failure)")
    }
    if isCalm, master.current(manifestKey) != nil, let report, report.requests != 1 {
      throw SimulationViolation(
        description: "device \(device.number) agrees, and needed \(report.requests) requests")
    }
  }

  private func begin(_ device: SimulationDevice) {
    note("device \(device.number): sync, \(device.policy)")
    let sync = SimulationSync()
    device.sync = sync
    var options = SyncOptions()
    options.policy = device.policy
    options.parallel = 1
    options.acceptsUnconditional = true
    options.retry = Retry(attempts: 5, base: 0, ceiling: 0, limit: .max)
    options.cancellation = Cancellation { sync.isCancelled || sync.isCrashed }
    let (rules, user, settings) = (rules, user, options)
    device.fiber.begin { [self] in
      do {
        sync.report = try SyncRun.perform(
          on: SimulationLedger(world: self, device: device, sync: sync),
          with: SimulationLine(world: self, device: device, sync: sync), user: user, options: settings,
          probed: ProbedStores(nil), rules: rules, now: { Int64(self.master.time) * 100 })
      } catch {
        sync.error = error
      }
    }
  }

  /// Lets a device make its next request.
  private func resume(_ device: SimulationDevice) throws {
    device.fiber.resume()
    if let violation { throw violation }
    guard let sync = device.sync, !device.fiber.isBusy else { return }
    device.sync = nil
    note("device \(device.number): " + (sync.isCrashed ? "crashed" : "ends, \(sync.outcome)"))
    // What is on its way arrives now, or never.
    for write in late where write.device === device && chance(2) == 0 { write.put() }
    late.removeAll { $0.device === device }
    if let violation { throw violation }
    try checkEdits(device)
  }

  /// A local change; those of a device that syncs come in between.
  private func edit(_ device: SimulationDevice) throws {
    let photo = chance(SimulationPhoto.all.count)
    try check(device, photo)
    let md5 = SimulationPhoto.all[photo]
    edits += 1
    let value = chance(3) == 0 ? nil : "d\(device.number)-\(edits).jpg"
    var edit = SimulationEdit(
      value: value, versions: master.versions[try key(md5.shard)]?.count ?? 0, conflict: 0)
    edit.conflict = try device.conflicts(after: 0).last?.id ?? 0
    let changed: Int
    if let value {
      changed = try device.catalogue.upsert([
        Photo(md5: md5, filename: value, size: Int64(edits), photodate: 0, modified: 0)
      ])
    } else {
      changed = try device.catalogue.delete([md5])
    }
    guard changed > 0 else { return }
    note("device \(device.number): photo \(photo) of shard \(md5.shard) = \(value ?? "deleted")")
    edit.isMoot = try value == nil && !device.changesBase(photo) && device.intents[md5.shard]?[photo] == nil
    device.edits[photo].append(edit)
  }

  func key(_ shard: Shard.Index) throws -> ObjectKey { try ObjectKey(user.shardKey(shard)) }

  // MARK: What a sync calls

  /// Waits for the device's turn, and draws what happens.
  func request(
    _ device: SimulationDevice, _ sync: SimulationSync, _ name: String
  ) throws(ObjectStoreError) -> SimulationFault? {
    let crashed = ObjectStoreError(.failed(.internal), "the device has crashed")
    if sync.isCrashed { throw crashed }
    device.fiber.pause()
    master.tick()
    let fault = drawFault(sync)
    note("device \(device.number): \(name)" + (fault.map { " -> \($0)" } ?? ""))
    return fault
  }

  func ledgerCall(_ device: SimulationDevice, _ sync: SimulationSync, _ name: String) throws {
    let crashed = SatchelError(.internal, "the device has crashed")
    if sync.isCrashed { throw crashed }
    if setting.pausesAtLedger { device.fiber.pause() }
    if isFaulty, chance(setting.rarity * 8) == 0 { sync.isCrashed = true }
    note("device \(device.number):   \(name)" + (sync.isCrashed ? " -> crash" : ""))
    if sync.isCrashed { throw crashed }
  }

  private func drawFault(_ sync: SimulationSync) -> SimulationFault? {
    guard isFaulty, chance(setting.rarity) == 0 else { return nil }
    let fault = SimulationFault.allCases[chance(SimulationFault.allCases.count)]
    switch fault {
    case .crashBefore, .crashAfter: sync.isCrashed = true
    case .cancel: sync.isCancelled = true
    // A tag that comes back would let a late write in where it does not belong; that is the store's affair.
    case .timeoutLater where master.tagsAreOfContent: return .timeoutBefore
    default: break
    }
    return fault
  }

  func put(
    _ device: SimulationDevice, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
    _ metadata: ObjectMetadata
  ) throws(ObjectStoreError) -> ETag {
    let old = master.current(key)
    let etag = try master.put(key, body, condition, metadata)
    // The manifest's bytes hold a name that is another one each time.
    note(
      "  the master has \(key == manifestKey ? "a new manifest" : "\(key) \(Shard.checksum(body).prefix(6))") now"
    )
    do {
      if key == manifestKey {
        try checkManifest(body, old)
      } else if let shard = SimulationPhoto.shards.first(where: { user.shardKey($0) == key.text }) {
        try checkLanding(device, shard, old: old?.object.body ?? [], new: body)
      }
    } catch {
      violation = violation ?? error as? SimulationViolation ?? SimulationViolation(description: "\(error)")
    }
    return etag
  }

  func putLater(
    _ device: SimulationDevice, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
    _ metadata: ObjectMetadata
  ) {
    late.append(
      (
        device,
        { [self] in
          master.tick()
          note("what device \(device.number) sent arrives late: PUT \(key)")
          _ = try? put(device, key, body, condition, metadata)
        }
      ))
  }
}

extension SimulationSync {
  var outcome: String {
    guard let report else { return "\(error.map { "\($0)" } ?? "nothing")" }
    func list(_ shards: [Shard.Index]) -> String { shards.map(\.description).joined() }
    return "down \(list(report.downloaded)) up \(list(report.uploaded)) repaired \(list(report.repaired)) "
      + "conflicts \(report.conflictRows) failed \(report.failed.map { "\($0.shard): \($0.error)" })"
  }
}
