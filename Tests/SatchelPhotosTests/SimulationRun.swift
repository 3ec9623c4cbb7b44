import SatchelRemoteTesting

import SatchelPhotos

/// Many schedules of photo catalogues.
struct SimulationRun {
  /// The first violation, by time; nil when all hold.
  ///
  /// - Parameter mutant: a faulty part that every sync gets; nil for none
  static func find(_ seeds: Range<UInt64>, mutant: SimulationMutant? = nil) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { maker(mutant, nil) }
  }

  /// Returns the history of one schedule.
  ///
  /// - Parameter script: the steps of the schedule; nil for random ones
  static func history(
    _ seed: UInt64, mutant: SimulationMutant? = nil, script: SimulationScript<SimulationWorld>? = nil
  ) throws -> String {
    try SimulationSearch.history(seed, maker(mutant, script))
  }

  private static func maker(
    _ mutant: SimulationMutant?, _ script: SimulationScript<SimulationWorld>?
  ) -> SimulationSearch.Maker<SimulationWorld> {
    let stores = SimulationStores()
    return { seed, runner, isLogging in
      try SimulationWorld(
        seed: seed, mutant: mutant, script: script, runner: runner, stores: stores, isLogging: isLogging)
    }
  }
}
