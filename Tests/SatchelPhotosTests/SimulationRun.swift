import SatchelRemoteTesting

@testable import SatchelPhotos

/// Many schedules of photo catalogues.
struct SimulationRun {
  /// The first violation, by time; nil when there is none.
  static func find(_ seeds: Range<UInt64>, rules: SyncRules = SyncRules()) -> SimulationSearch.Found? {
    SimulationSearch.find(seeds) { next, attempt in
      let place = SimulationPlace()
      defer { place.end() }
      while let seed = next() { attempt(seed) { try place.run(seed, rules: rules) } }
    }
  }

  /// All that happens in one schedule.
  static func history(_ seed: UInt64, rules: SyncRules = SyncRules()) throws -> String {
    let place = SimulationPlace()
    defer { place.end() }
    return try place.history(seed, rules: rules).joined(separator: "\n")
  }
}
