@testable import SatchelPhotos
@testable import SatchelStorage

/// Stores that schedules use one after the other, because making them takes longer than a schedule. Each schedule has
/// catalogues of its own.
final class SimulationStores {
  private var stores: [Database] = []
  /// Schedules for which a store is used: it grows with them.
  private static let most = 400

  func catalogue(_ device: Int, schedule: Int) throws -> PhotoCatalogue {
    if device == 0, schedule % Self.most == 0 { stores = [] }
    while stores.count <= device {
      stores.append(
        try Database.open(
          path: ":memory:", options: StoreOptions(),
          migrations: [Migration(version: 1, sql: ChangeLog.schema)]))
    }
    return try PhotoCatalogue(database: stores[device], directory: "/simulation/\(schedule)")
  }
}
