import Foundation

@testable import SatchelPhotos
@testable import SatchelStorage

/// Many schedules, on as many threads as there are processors.
struct SimulationRun {
  struct Found: Sendable {
    var seed: UInt64
    var violation: String
  }

  /// SATCHEL_SIMULATIONS; the ordinary tests run few.
  static let count = number("SATCHEL_SIMULATIONS") ?? 1_500
  /// SATCHEL_SIMULATION_SEED: only this one, with its history.
  static let seed = number("SATCHEL_SIMULATION_SEED")

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// The first violation, by time; nil when there is none.
  static func find(_ seeds: Range<UInt64>, rules: SyncRules = SyncRules()) throws -> Found? {
    let next = Guarded(seeds.lowerBound)
    let found = Guarded<Found?>(nil)
    let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
    try inParallel(Array(0..<processors), limit: processors) { _ in
      let place = SimulationPlace()
      defer { place.end() }
      while found.withLock({ $0 == nil }) {
        let seed = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard seed < seeds.upperBound else { return }
        do {
          try place.run(seed, rules: rules)
        } catch {
          found.withLock { $0 = $0 ?? Found(seed: seed, violation: "\(error)") }
        }
      }
    }
    return found.withLock { $0 }
  }

  /// All that happens in one schedule.
  static func history(_ seed: UInt64, rules: SyncRules = SyncRules()) throws -> String {
    let place = SimulationPlace()
    defer { place.end() }
    return try place.history(seed, rules: rules).joined(separator: "\n")
  }
}
