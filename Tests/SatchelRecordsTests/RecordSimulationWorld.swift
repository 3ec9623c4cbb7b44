import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// One schedule: some devices that edit and sync, one master, and the faults between them, all drawn from a seed.
// Unchecked: the baton sees to it that only one thread at a time touches it.
final class RecordSimulationWorld: @unchecked Sendable {
  /// What a schedule is made of; drawn from its seed.
  struct Setting {
    var strategies: [RecordSyncStrategy]
    var records: [String]
    /// A request in so many meets a fault; 0 for none.
    var rarity: Int
    /// Whether other devices may come in between two calls of the ledger, too.
    var pausesAtLedger: Bool
    var beginsInAgreement: Bool
    var steps: Int
  }

  static let collection = "things"
  let setting: Setting
  let rules: RecordSyncRules
  let user: UserID
  let keys: RecordKeys
  private(set) var devices: [RecordSimulationDevice] = []
  var master: SimulationMaster
  var violation: RecordSimulationViolation?
  private(set) var history: [String]?
  private var random: SeededRandom
  private var isFaulty = false
  private var edits = 0
  private var late: [(device: RecordSimulationDevice, put: () -> Void)] = []

  init(
    seed: UInt64, rules: RecordSyncRules, place: RecordSimulationPlace, isLogging: Bool = false
  ) throws {
    var random = SeededRandom(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = RecordSyncStrategy.allCases
    let count = [2, 2, 3, 3, 4][below(5)]
    // Mostly one for all, as apps have it.
    let strategy = below(4) == 0 ? nil : all[below(all.count)]
    setting = Setting(
      strategies: (0..<count).map { _ in strategy ?? all[below(all.count)] },
      records: Array(["a", "b b", ".c", "é"].prefix(1 + below(4))), rarity: [0, 4, 8, 16, 40][below(5)],
      pausesAtLedger: below(3) == 0, beginsInAgreement: below(3) > 0, steps: 20 + below(100))
    self.rules = rules
    user = try UserID("simulated")
    keys = try RecordKeys(user: user, collection: Self.collection)
    master = SimulationMaster(tagsAreOfContent: below(2) == 0)
    history = isLogging ? [] : nil
    for (number, strategy) in setting.strategies.enumerated() {
      devices.append(try place.device(number, strategy: strategy, skew: Int64(below(200)) - 100))
    }
    self.random = random
  }

  func note(_ line: @autoclosure () -> String) { history?.append(line()) }

  /// 0 to below `bound`.
  func chance(_ bound: Int) -> Int { Int(random.next() % UInt64(max(bound, 1))) }

  private func now(_ device: RecordSimulationDevice) -> Int64 {
    1_000_000 + Int64(master.time + edits) * 10 + device.skew
  }

  // MARK: The schedule

  /// - Throws: `RecordSimulationViolation`
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
    // Decisions of hosts are changes, and so may meet each other again.
    for round in 0..<8 {
      if round == 1, let device = devices.first { try edit(device) }
      for device in devices {
        while try resolve(device) {}
        try complete(device, isCalm: round == 7)
      }
    }
    try checkAgreement()
  }

  private func step() throws {
    if !late.isEmpty, chance(6) == 0 { late.remove(at: chance(late.count)).put() }
    guard let device = devices.randomElement(using: &random) else { return }
    switch (device.sync, chance(10)) {
    case (nil, 0..<4), (_?, 0): try edit(device)
    case (nil, 4): _ = try resolve(device)
    case (nil, _): begin(device)
    case (_?, _): try resume(device)
    }
    if let violation { throw violation }
  }

  /// A whole sync that nobody disturbs.
  private func complete(_ device: RecordSimulationDevice, isCalm: Bool = false) throws {
    begin(device)
    var report: RecordSyncReport?
    while let sync = device.sync {
      try resume(device)
      if let error = sync.error { throw RecordSimulationViolation(description: "without faults: \(error)") }
      report = sync.report
    }
    if let failure = report?.failed.first {
      throw RecordSimulationViolation(description: "a sync without faults failed: \(failure)")
    }
    let pages = max(1, (master.versions.count + 1) / 2)
    if isCalm, let report, !report.isUnchanged || report.requests != pages {
      throw RecordSimulationViolation(
        description: "device \(device.number) agrees, and yet: \(try report.json.text)")
    }
  }

  private func begin(_ device: RecordSimulationDevice) {
    note("device \(device.number): sync, \(device.strategy)")
    let sync = RecordSimulationSync()
    device.sync = sync
    var options = RecordSyncOptions()
    options.strategy = device.strategy
    options.parallel = 1
    options.acceptsUnconditional = true
    options.isImpatient = !isFaulty || chance(4) > 0
    options.retry = Retry(attempts: 5, base: 0, ceiling: 0, limit: .max)
    options.cancellation = Cancellation { sync.isCancelled || sync.isCrashed }
    let (rules, user, settings) = (rules, user, options)
    device.fiber.begin { [self] in
      do {
        sync.report = try RecordSyncRun.perform(
          on: RecordSimulationLedger(world: self, device: device, sync: sync), of: Self.collection,
          with: RecordSimulationLine(world: self, device: device, sync: sync), user: user,
          options: settings, rules: rules, now: { self.now(device) }, probe: { _, _ in })
      } catch {
        sync.error = error
      }
    }
  }

  /// Lets a device make its next request.
  private func resume(_ device: RecordSimulationDevice) throws {
    device.fiber.resume()
    if let violation { throw violation }
    guard let sync = device.sync, !device.fiber.isBusy else { return }
    device.sync = nil
    note("device \(device.number): " + (sync.isCrashed ? "crashed" : "ends, \(sync.outcome)"))
    // What is on its way arrives now, or never.
    for write in late where write.device === device && chance(2) == 0 { write.put() }
    late.removeAll { $0.device === device }
    if let violation { throw violation }
    try checkClaims(device)
  }

  /// A local change; those of a device that syncs come in between.
  private func edit(_ device: RecordSimulationDevice) throws {
    let id = setting.records[chance(setting.records.count)]
    try checkClaims(device)
    edits += 1
    let old = try SimulatedDocument.parse(device.records.document(id))
    if chance(4) == 0 {
      guard old != nil else { return }
      note("device \(device.number): \(id) deleted")
      try device.records.delete(id, now: now(device))
      try claimDeletion(device, id)
      return
    }
    let field = SimulatedDocument.fields[chance(SimulatedDocument.fields.count)]
    var document = old ?? JSONObject()
    document[field] = .string("\(device.number)-\(edits)")
    document["edit"] = .string("\(device.number)-\(edits)")
    try put(device, id, document, changed: [field])
  }

  private func put(
    _ device: RecordSimulationDevice, _ id: String, _ document: JSONObject, changed: [String]
  ) throws {
    let bytes = try JSONValue.object(document).serialized()
    note("device \(device.number): \(id) = \(SimulatedDocument.text(bytes))")
    try device.records.put(id, bytes, now: now(device))
    try claim(device, id, document, fields: changed)
  }

  /// The host decides about one of the open conflicts.
  ///
  /// - Returns: whether there was one
  private func resolve(_ device: RecordSimulationDevice) throws -> Bool {
    guard let conflict = try device.records.conflicts().first(where: \.isOpen) else { return false }
    try checkClaims(device)
    edits += 1
    let local = try SimulatedDocument.parse(device.records.document(conflict.record))
    let remote = try RecordEnvelope(parsing: conflict.remote, id: conflict.record).content.document
    var document = local ?? JSONObject()
    for (key, value) in try SimulatedDocument.parse(remote) ?? JSONObject() where document[key] == nil {
      document[key] = value
    }
    // What it decides is a change of its own.
    document["edit"] = .string("\(device.number)-\(edits)")
    let bytes = chance(5) == 0 ? nil : try JSONValue.object(document).serialized()
    note("device \(device.number): \(conflict.record) is decided: \(SimulatedDocument.text(bytes))")
    try device.records.resolve(conflict, bytes, now: now(device))
    if bytes == nil {
      try claimDeletion(device, conflict.record)
    } else {
      try claim(device, conflict.record, document, fields: [])
    }
    return true
  }

  // MARK: What a sync calls

  /// Waits for the device's turn, and draws what happens.
  func request(
    _ device: RecordSimulationDevice, _ sync: RecordSimulationSync, _ name: String
  ) throws(ObjectStoreError) -> SimulationFault? {
    let crashed = ObjectStoreError(.failed(.internal), "the device has crashed")
    if sync.isCrashed { throw crashed }
    device.fiber.pause()
    master.tick()
    let fault = drawFault(sync)
    note("device \(device.number): \(name)" + (fault.map { " -> \($0)" } ?? ""))
    return fault
  }

  func ledgerCall(
    _ device: RecordSimulationDevice, _ sync: RecordSimulationSync, _ name: String
  ) throws {
    let crashed = SatchelError(.internal, "the device has crashed")
    if sync.isCrashed { throw crashed }
    if setting.pausesAtLedger { device.fiber.pause() }
    if isFaulty, chance(setting.rarity * 8) == 0 { sync.isCrashed = true }
    note("device \(device.number):   \(name)" + (sync.isCrashed ? " -> crash" : ""))
    if sync.isCrashed { throw crashed }
  }

  private func drawFault(_ sync: RecordSimulationSync) -> SimulationFault? {
    guard isFaulty, chance(setting.rarity) == 0 else { return nil }
    let fault = SimulationFault.allCases[chance(SimulationFault.allCases.count)]
    switch fault {
    case .crashBefore, .crashAfter: sync.isCrashed = true
    case .cancel: sync.isCancelled = true
    default: break
    }
    return fault
  }

  func put(
    _ device: RecordSimulationDevice, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
    _ metadata: ObjectMetadata
  ) throws(ObjectStoreError) -> ETag {
    let old = master.current(key)?.object.body
    let etag = try master.put(key, body, condition, metadata)
    note("  the master has \(key) \(SimulatedDocument.text(body)) now")
    do {
      try checkLanding(device, key, old: old, new: body)
    } catch {
      violation =
        violation ?? error as? RecordSimulationViolation ?? RecordSimulationViolation(description: "\(error)")
    }
    return etag
  }

  func putLater(
    _ device: RecordSimulationDevice, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
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
