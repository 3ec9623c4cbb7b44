import SatchelRemoteTesting

@testable import SatchelRecords

/// Where schedules run, one after the other: fibers that are used again, because making them takes longer than a
/// schedule.
// Unchecked: used by one thread; the fibers take turns with it.
final class RecordSimulationPlace: @unchecked Sendable {
  /// Makes the collection of a device, which no other schedule has used.
  typealias Maker = (_ number: Int, _ schedule: Int) throws -> any SimulatedRecords

  private let make: Maker
  private var fibers: [SimulationFiber] = []
  private var schedules = 0

  init(_ make: @escaping Maker = { number, _ in RecordLedgerModel(writer: "device \(number)") }) {
    self.make = make
  }

  func device(_ number: Int, strategy: RecordSyncStrategy, skew: Int64) throws -> RecordSimulationDevice {
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    let records = try make(number, schedules)
    return RecordSimulationDevice(
      number: number, records: records, writer: try records.binding().writer, fiber: fibers[number],
      strategy: strategy, skew: skew)
  }

  /// Runs one schedule. What a violation has left behind is left alone.
  func run(_ seed: UInt64, rules: RecordSyncRules = RecordSyncRules()) throws {
    schedules += 1
    let world = try RecordSimulationWorld(seed: seed, rules: rules, place: self)
    do {
      try world.run()
    } catch {
      abandon(world)
      throw error
    }
  }

  /// The same schedule again, with everything that happens in it.
  func history(_ seed: UInt64, rules: RecordSyncRules = RecordSyncRules()) throws -> [String] {
    schedules += 1
    let world = try RecordSimulationWorld(seed: seed, rules: rules, place: self, isLogging: true)
    do {
      try world.run()
    } catch {
      world.note("VIOLATION: \(error)")
      abandon(world)
    }
    return world.history ?? []
  }

  /// Ends syncs that are under way, as a crash would.
  private func abandon(_ world: RecordSimulationWorld) {
    for device in world.devices {
      device.sync?.isCrashed = true
      while device.fiber.isBusy { device.fiber.resume() }
    }
  }

  func end() {
    for fiber in fibers { fiber.stop() }
    fibers = []
  }
}

extension RecordSimulationPlace {
  /// With real collections, which take longer.
  convenience init(ofStores: Void) {
    let shelf = RecordSimulationStore.Shelf()
    self.init { try shelf.device($0, $1) }
  }
}

/// Many schedules of records.
struct RecordSimulationRun {
  /// The first violation, by time; nil when there is none.
  ///
  /// - Parameter isReal: with collections in stores, instead of a ledger in memory
  static func find(
    _ seeds: Range<UInt64>, isReal: Bool = false, rules: RecordSyncRules = RecordSyncRules()
  ) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { next, attempt in
      let place = isReal ? RecordSimulationPlace(ofStores: ()) : RecordSimulationPlace()
      defer { place.end() }
      while let seed = next() { attempt(seed) { try place.run(seed, rules: rules) } }
    }
  }

  /// All that happens in one schedule.
  static func history(
    _ seed: UInt64, isReal: Bool = false, rules: RecordSyncRules = RecordSyncRules()
  ) throws -> String {
    let place = isReal ? RecordSimulationPlace(ofStores: ()) : RecordSimulationPlace()
    defer { place.end() }
    return try place.history(seed, rules: rules).joined(separator: "\n")
  }
}
