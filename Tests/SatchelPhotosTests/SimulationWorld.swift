import SatchelRemoteTesting
import SatchelTesting

@testable import SatchelPhotos
@testable import SatchelRemote

/// A schedule of devices that keep photo catalogues.
// Unchecked: the baton sees to it that only one thread at a time touches it.
final class SimulationWorld: SimulatedWorld, @unchecked Sendable {
  let stage: SimulationStage
  let devices: [SimulationDevice]
  let rounds = 4
  let rules: SyncRules
  let user: UserID
  let manifestKey: ObjectKey
  /// Versions of the manifest that were checked.
  var announced = Manifest(directoryUUID: "none")
  /// Draws what is damaged, apart from all else, so that schedules without damage stay as they are.
  private var chance: SeededRandom
  private let isDamaging: Bool
  /// Some stores do not tell tags in listings.
  let listsTags: Bool
  let pageSize = 1000

  init(
    seed: UInt64, rules: SyncRules, place: SimulationPlace, stores: SimulationStores, isLogging: Bool
  ) throws {
    let stage = SimulationStage(seed: seed, isLogging: isLogging)
    let both: [SyncPolicy] = [.remoteWins, .mergeRows]
    let policy: SyncPolicy? = [.remoteWins, .mergeRows, nil][stage.chance(3)]
    devices = try (0..<stage.setting.devices).map { number in
      SimulationDevice(
        number: number, catalogue: try stores.catalogue(number, schedule: place.number),
        fiber: place.fiber(number), policy: policy ?? both[stage.chance(2)])
    }
    // A tag that comes back would let a late write in where it does not belong; that is the store's affair.
    stage.allowsLateWrites = !stage.setting.tagsAreOfContent
    stage.note("policies: \(devices.map(\.policy))")
    self.stage = stage
    self.rules = rules
    chance = SeededRandom(seed: seed ^ 0xDA3A_6ED0)
    listsTags = seed % 5 != 1
    // Without tags in listings damage shows only where a shard is changed, or verified.
    isDamaging = seed % 3 == 0 && listsTags
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
    try check(device, photo)
    let md5 = SimulationPhoto.all[photo]
    stage.edits += 1
    let value = stage.chance(3) == 0 ? nil : "d\(device.number)-\(stage.edits).jpg"
    var edit = SimulationEdit(
      value: value, versions: master.versions[try key(md5.shard)]?.count ?? 0, conflict: 0)
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
    edit.isMoot = try value == nil && !device.changesBase(photo) && device.intents[md5.shard]?[photo] == nil
    device.edits[photo].append(edit)
  }

  func perform(
    _ device: SimulationDevice, _ sync: SimulationSync<SyncReport>,
    over line: SimulationLine<SimulationWorld>
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.policy = device.policy
    options.parallel = 1
    options.acceptsUnconditional = true
    options.retry = Retry(attempts: 5, base: 0, ceiling: 0, limit: .max)
    options.cancellation = sync.cancellation
    return try SyncRun.perform(
      on: SimulationLedger(world: self, device: device, sync: sync), with: line, user: user, options: options,
      probed: ProbedStores(nil), rules: rules, now: { Int64(self.master.time) * 100 })
  }

  /// A shard is what was written last.
  func mayLag(_ key: ObjectKey) -> Bool { key == manifestKey }

  /// The manifest's bytes hold a name that is another one each time.
  func describe(_ key: ObjectKey, _ body: [UInt8]) -> String {
    key == manifestKey ? "a new manifest" : "\(key) \(Shard.checksum(body).prefix(6))"
  }
}

extension SimulationDevice: SimulatedDevice {}
extension SyncReport: SimulatedReport {}
