import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelStorage

/// Where schedules run, one after the other: stores and fibers that are used again, because making them takes longer
/// than a schedule. Each schedule has catalogues of its own.
// Unchecked: used by one thread; the fibers take turns with it.
final class SimulationPlace: @unchecked Sendable {
  private var stores: [Database] = []
  private var fibers: [SimulationFiber] = []
  private var schedules = 0
  /// Schedules for which a store is used: it grows with them.
  private static let most = 400

  func device(_ number: Int, policy: SyncPolicy, seed: UInt64) throws -> SimulationDevice {
    while stores.count <= number { stores.append(try Self.store()) }
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    let catalogue = try PhotoCatalogue(database: stores[number], directory: "/simulation/\(schedules)")
    return SimulationDevice(number: number, catalogue: catalogue, fiber: fibers[number], policy: policy)
  }

  /// Runs one schedule. What a violation has left behind is left alone.
  func run(_ seed: UInt64, rules: SyncRules = SyncRules()) throws {
    schedules += 1
    if schedules % Self.most == 0 { stores = [] }
    let world = try SimulationWorld(seed: seed, rules: rules, place: self)
    do {
      try world.run()
    } catch {
      abandon(world)
      throw error
    }
  }

  /// The same schedule again, with everything that happens in it.
  func history(_ seed: UInt64, rules: SyncRules = SyncRules()) throws -> [String] {
    schedules += 1
    let world = try SimulationWorld(seed: seed, rules: rules, place: self, isLogging: true)
    do {
      try world.run()
    } catch {
      world.note("VIOLATION: \(error)")
      abandon(world)
    }
    return world.history ?? []
  }

  /// Ends syncs that are under way, as a crash would.
  private func abandon(_ world: SimulationWorld) {
    for device in world.devices {
      device.sync?.isCrashed = true
      while device.fiber.isBusy { device.fiber.resume() }
    }
  }

  func end() {
    for fiber in fibers { fiber.stop() }
    fibers = []
    stores = []
  }

  private static func store() throws -> Database {
    try Database.open(
      path: ":memory:", options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }
}
