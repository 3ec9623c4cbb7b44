import Foundation
import SatchelStorage

/// Tries many schedules, on as many threads as there are processors, until one of them violates a rule.
package struct SimulationSearch {
  package struct Found: Sendable {
    package var seed: UInt64
    package var violation: String
  }

  /// SATCHEL_SIMULATIONS; the ordinary tests run few.
  package static let count = number("SATCHEL_SIMULATIONS") ?? 1_500
  /// SATCHEL_SIMULATION_SEED: only this one, with its history.
  package static let seed = number("SATCHEL_SIMULATION_SEED")

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// Makes the world of a schedule.
  package typealias Maker<World> = (_ seed: UInt64, _ place: SimulationPlace, _ isLogging: Bool) throws ->
    World

  /// The first violation, by time; nil when there is none.
  ///
  /// - Parameter prepare: called on each thread, which uses what it returns for all of its schedules
  package static func find<World: SimulatedWorld>(
    _ seeds: Range<UInt64>, _ prepare: @escaping @Sendable () -> Maker<World>
  ) -> Found? {
    let next = Guarded(seeds.lowerBound)
    let found = Guarded<Found?>(nil)
    let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
    inParallel(Array(0..<processors), limit: processors) { _ in
      let (place, make) = (SimulationPlace(), prepare())
      defer { place.end() }
      while found.withLock({ $0 == nil }) {
        let seed = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard seed < seeds.upperBound else { return }
        do {
          try place.run { try make(seed, $0, false) }
        } catch {
          found.withLock { $0 = $0 ?? Found(seed: seed, violation: "\(error)") }
        }
      }
    }
    return found.withLock { $0 }
  }

  /// All that happens in one schedule.
  package static func history<World: SimulatedWorld>(_ seed: UInt64, _ make: Maker<World>) throws -> String {
    let place = SimulationPlace()
    defer { place.end() }
    return try place.run { try make(seed, $0, true) }.joined(separator: "\n")
  }
}
