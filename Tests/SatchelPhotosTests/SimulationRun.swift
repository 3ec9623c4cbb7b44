import SatchelRemoteTesting

@testable import SatchelPhotos

/// Many schedules of photo catalogues.
struct SimulationRun {
  /// The first violation, by time; nil when there is none.
  static func find(_ seeds: Range<UInt64>, rules: SyncRules = SyncRules()) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { maker(rules) }
  }

  /// All that happens in one schedule.
  static func history(_ seed: UInt64) throws -> String {
    try SimulationSearch.history(seed, maker(SyncRules()))
  }

  private static func maker(_ rules: SyncRules) -> SimulationSearch.Maker<SimulationWorld> {
    let stores = SimulationStores()
    return { seed, place, isLogging in
      try SimulationWorld(seed: seed, rules: rules, place: place, stores: stores, isLogging: isLogging)
    }
  }
}
