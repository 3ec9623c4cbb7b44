import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// A schedule of devices that keep records.
// Unchecked: the baton sees to it that only one thread at a time touches it.
final class RecordSimulationWorld: SimulatedWorld, @unchecked Sendable {
  static let collection = "things"
  let stage: SimulationStage
  let devices: [RecordSimulationDevice]
  /// Decisions of hosts are changes, and so may meet each other again.
  let rounds = 8
  let records: [String]
  let rules: RecordSyncRules
  let user: UserID
  let keys: RecordKeys

  /// - Parameter collection: makes that of a device, which no other schedule has used
  init(
    seed: UInt64, rules: RecordSyncRules, runner: SimulationRunner, isLogging: Bool,
    collection: (_ device: Int) throws -> any SimulatedRecords
  ) throws {
    let stage = SimulationStage(seed: seed, isLogging: isLogging)
    let all = ConflictPolicy.allCases
    // Mostly one for all, as apps have it.
    let onConflict = stage.chance(4) == 0 ? nil : all[stage.chance(all.count)]
    records = Array(["a", "b b", ".c", "é"].prefix(1 + stage.chance(4)))
    devices = try (0..<stage.setting.devices).map { number in
      let records = try collection(number)
      return RecordSimulationDevice(
        number: number, records: records, writer: try records.binding().writer, fiber: runner.fiber(number),
        onConflict: onConflict ?? all[stage.chance(all.count)], skew: Int64(stage.chance(200)) - 100)
    }
    stage.note("records: \(records), strategies: \(devices.map(\.onConflict))")
    self.stage = stage
    self.rules = rules
    user = try UserID("simulated")
    keys = try RecordKeys(user: user, collection: Self.collection)
  }

  private func now(_ device: RecordSimulationDevice) -> Int64 {
    1_000_000 + Int64(remote.time + stage.edits) * 10 + device.skew
  }

  func edit(_ device: RecordSimulationDevice) throws {
    let id = records[stage.chance(records.count)]
    try check(device)
    stage.edits += 1
    let old = try SimulatedDocument.parse(device.records.document(id))
    if stage.chance(4) == 0 {
      guard old != nil else { return }
      stage.note("device \(device.number): \(id) deleted")
      try device.records.delete(id, now: now(device))
      try claimDeletion(device, id)
      return
    }
    let field = SimulatedDocument.fields[stage.chance(SimulatedDocument.fields.count)]
    var document = old ?? JSONObject()
    document[field] = .string("\(device.number)-\(stage.edits)")
    document["edit"] = .string("\(device.number)-\(stage.edits)")
    try put(device, id, document, changed: [field])
  }

  private func put(
    _ device: RecordSimulationDevice, _ id: String, _ document: JSONObject, changed: [String]
  ) throws {
    let bytes = try JSONValue.object(document).serialized()
    stage.note("device \(device.number): \(id) = \(SimulatedDocument.text(bytes))")
    try device.records.put(id, bytes, now: now(device))
    try claim(device, id, document, fields: changed)
  }

  func decide(_ device: RecordSimulationDevice) throws -> Bool {
    guard let conflict = try device.records.conflicts().first(where: \.isOpen) else { return false }
    try check(device)
    stage.edits += 1
    let local = try SimulatedDocument.parse(device.records.document(conflict.record))
    let remote = try RecordEnvelope(parsing: conflict.remote, id: conflict.record).content.document
    var document = local ?? JSONObject()
    for (key, value) in try SimulatedDocument.parse(remote) ?? JSONObject() where document[key] == nil {
      document[key] = value
    }
    // What it decides is a change of its own.
    document["edit"] = .string("\(device.number)-\(stage.edits)")
    let bytes = stage.chance(5) == 0 ? nil : try JSONValue.object(document).serialized()
    stage.note("device \(device.number): \(conflict.record) is decided: \(SimulatedDocument.text(bytes))")
    try device.records.resolve(conflict, bytes, now: now(device))
    if bytes == nil {
      try claimDeletion(device, conflict.record)
    } else {
      try claim(device, conflict.record, document, fields: [])
    }
    return true
  }

  func perform(
    _ device: RecordSimulationDevice, _ sync: SimulationSync<RecordSyncReport>,
    over connection: SimulatedConnection<RecordSimulationWorld>
  ) throws -> RecordSyncReport {
    var options = RecordSyncOptions()
    options.onConflict = device.onConflict
    options.parallel = 1
    options.allowUnsafeRemote = true
    options.isImpatient = !stage.isFaulty || stage.chance(4) > 0
    options.retry = Retry(attempts: 5, base: 0, ceiling: 0, limit: .max)
    options.cancellation = sync.cancellation
    return try RecordSyncRun.perform(
      on: RecordSimulationLedger(world: self, device: device, sync: sync), of: Self.collection,
      with: connection,
      user: user, options: options, rules: rules, now: { self.now(device) }, probe: { _, _ in })
  }

  func describe(_ key: ObjectKey, _ body: [UInt8]) -> String { "\(key) \(SimulatedDocument.text(body))" }
}

extension RecordSimulationDevice: SimulatedDevice {}
extension RecordSyncReport: SimulatedReport {}
