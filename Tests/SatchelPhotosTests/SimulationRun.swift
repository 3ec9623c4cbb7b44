import SatchelRemoteTesting

@testable import SatchelPhotos

/// Many schedules of photo catalogues.
struct SimulationRun {
  /// The first violation, by time; nil when all hold.
  static func find(_ seeds: Range<UInt64>, rules: SyncRules = SyncRules()) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { maker(rules) }
  }

  /// Returns the history of one schedule.
  static func history(_ seed: UInt64) throws -> String {
    try SimulationSearch.history(seed, maker(SyncRules()))
  }

  private static func maker(_ rules: SyncRules) -> SimulationSearch.Maker<SimulationWorld> {
    let stores = SimulationStores()
    return { seed, runner, isLogging in
      try SimulationWorld(seed: seed, rules: rules, runner: runner, stores: stores, isLogging: isLogging)
    }
  }
}
