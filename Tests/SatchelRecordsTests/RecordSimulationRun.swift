import SatchelRemoteTesting

@testable import SatchelRecords

/// Many schedules of records.
struct RecordSimulationRun {
  /// The first violation, by time; nil when there is none.
  ///
  /// - Parameter isReal: with collections in stores, instead of a ledger in memory
  static func find(
    _ seeds: Range<UInt64>, isReal: Bool = false, rules: RecordSyncRules = RecordSyncRules()
  ) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { maker(isReal, rules) }
  }

  /// All that happens in one schedule.
  static func history(_ seed: UInt64, isReal: Bool = false) throws -> String {
    try SimulationSearch.history(seed, maker(isReal, RecordSyncRules()))
  }

  private static func maker(
    _ isReal: Bool, _ rules: RecordSyncRules
  ) -> SimulationSearch.Maker<RecordSimulationWorld> {
    let shelf = isReal ? RecordSimulationStore.Shelf() : nil
    return { seed, runner, isLogging in
      try RecordSimulationWorld(seed: seed, rules: rules, runner: runner, isLogging: isLogging) { number in
        if let shelf { return try shelf.device(number, runner.number) }
        return RecordLedgerModel(writer: "device \(number)")
      }
    }
  }
}
