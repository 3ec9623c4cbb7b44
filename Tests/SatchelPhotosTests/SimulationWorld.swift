import SatchelCore
import SatchelRemoteTesting
import SatchelTesting

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync

/// A schedule of devices that keep photo catalogues: random, or given by a script.
// Unchecked: the simulation runs one thread at a time.
final class SimulationWorld: SimulatedWorld, @unchecked Sendable {
  let stage: SimulationStage
  let devices: [SimulationDevice]
  let rounds = 4
  private let mutant: SimulationMutant?
  let script: SimulationScript<SimulationWorld>?
  let user: UserID
  let manifestKey: ObjectKey
  /// The manifest that was checked last.
  var announced = Manifest(directoryUUID: "none")
  /// Draws the damage from a generator of its own, so that schedules without damage stay the same.
  private var chance: SeededRandom
  private let isDamaging: Bool
  /// Whether listings have etags; those of some stores do not.
  let listsETags: Bool
  let pageSize = 1000

  init(
    seed: UInt64, mutant: SimulationMutant?, script: SimulationScript<SimulationWorld>?,
    runner: SimulationRunner,
    stores: SimulationStores, isLogging: Bool
  ) throws {
    let stage = SimulationStage(seed: seed, isLogging: isLogging) { setting in
      if script != nil { SimulationScript<SimulationWorld>.adapt(&setting) }
    }
    let both: [ConflictPolicy] = [.remoteWins, .merge]
    let onConflict: ConflictPolicy? = [.remoteWins, .merge, nil][stage.chance(3)]
    devices = try (0..<stage.setting.devices).map { number in
      SimulationDevice(
        number: number, catalogue: try stores.catalogue(number, schedule: runner.number),
        fiber: runner.fiber(number), onConflict: onConflict ?? both[stage.chance(2)])
    }
    // A recurring etag would let a late write succeed wrongly, which no client can prevent.
    stage.allowsLateWrites = !stage.setting.hasContentETags
    stage.note("policies: \(devices.map(\.onConflict))")
    self.stage = stage
    self.mutant = mutant
    self.script = script
    chance = SeededRandom(seed: seed ^ 0xDA3A_6ED0)
    listsETags = script != nil || seed % 5 != 1
    // Without etags in listings damage is found only when a shard is changed, or verified.
    // In schedule 1014 damage leaves exactly the bytes that a device writes next, which these checks cannot
    // distinguish.
    isDamaging = seed % 3 == 0 && seed < 1000 && listsETags
    user = try UserID("simulated")
    manifestKey = try ObjectKey(user.manifestKey)
  }

  func disturb() throws {
    guard isDamaging, stage.isFaulty else { return }
    func draw(_ bound: Int) -> Int { Int(chance.next() % UInt64(max(bound, 1))) }
    if draw(12) == 0 { try damage(drawing: draw) }
  }

  func key(_ shard: Shard.Index) throws -> ObjectKey { try ObjectKey(user.shardKey(shard)) }

  func edit(_ device: SimulationDevice) throws {
    let photo = stage.chance(SimulationPhoto.all.count)
    try edit(device, photo, isDeletion: stage.chance(3) == 0)
  }

  func edit(_ device: SimulationDevice, _ photo: Int, isDeletion: Bool = false) throws {
    try check(device, photo)
    let md5 = SimulationPhoto.all[photo]
    stage.edits += 1
    let value = isDeletion ? nil : "d\(device.number)-\(stage.edits).jpg"
    var edit = SimulationEdit(
      value: value, versions: remote.versions[try key(md5.shard)]?.count ?? 0, conflict: 0)
    edit.conflict = try device.conflicts(after: 0).last?.id ?? 0
    let changed: Int
    if let value {
      changed = try device.catalogue.upsert([
        Photo(md5: md5, filename: value, size: Int64(stage.edits), photodate: 0, modified: 0)
      ])
    } else {
      changed = try device.catalogue.delete([md5])
    }
    guard changed > 0 else { return }
    stage.note("device \(device.number): photo \(photo) of shard \(md5.shard) = \(value ?? "deleted")")
    edit.isMoot =
      try value == nil && !device.changesBase(photo) && device.pendingUploads[md5.shard]?[photo] == nil
    device.edits[photo].append(edit)
  }

  func perform(
    _ device: SimulationDevice, _ sync: SimulationSync<SyncReport>,
    over connection: SimulatedConnection<SimulationWorld>
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.onConflict = device.onConflict
    options.parallel = 1
    options.allowUnsafeRemote = true
    options.retry = Retry(attempts: 5, base: 0, ceiling: 0, limit: .max)
    options.cancellation = sync.cancellation
    let ledger = SimulationLedger(world: self, device: device, sync: sync)
    let session = try SyncSession(
      nil, with: mutant?.store(connection, self) ?? connection, user: user, options: options)
    do {
      let run = try SyncRun(mutant?.ledger(ledger) ?? ledger, in: session, options: options) {
        Int64(self.remote.time) * 100
      }
      var report = try run.run()
      report.add(session.traffic)
      return report
    } catch {
      throw SatchelError(converting: error)
    }
  }

  /// Reads of shards are never stale.
  func mayBeStale(_ key: ObjectKey) -> Bool { key == manifestKey }

  /// The manifest contains a random identifier.
  func describe(_ key: ObjectKey, _ body: [UInt8]) -> String {
    key == manifestKey ? "a new manifest" : "\(key) \(Shard.checksum(body).prefix(6))"
  }
}

extension SimulationDevice: SimulatedDevice {}
extension SyncReport: SimulatedReport {}
