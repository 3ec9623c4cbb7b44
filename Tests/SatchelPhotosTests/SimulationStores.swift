import SatchelPhotos
import SatchelCore
import SatchelStorage

/// Stores that schedules reuse, because creating them takes longer than a schedule. Each
/// schedule has catalogues of its own.
final class SimulationStores {
  private var stores: [Database] = []
  /// The number of schedules for which a store is used, since it grows with each.
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
