import Foundation
import SatchelCore
import SatchelStorage
import SatchelTesting

/// Runs many schedules, on as many threads as there are processors, until one violates an invariant.
package struct SimulationSearch {
  package struct Found: Sendable {
    package var seed: UInt64
    package var violation: String
  }

  /// The schedules of a run: as many as SATCHEL_SIMULATIONS says, or a portion of those that a suite has.
  package static func seeds(of all: Range<UInt64>) -> Range<UInt64> {
    number("SATCHEL_SIMULATIONS").map { 0..<$0 } ?? Portion.seeds(all)
  }
  /// The only seed to run, with its history: SATCHEL_SIMULATION_SEED.
  package static let seed = number("SATCHEL_SIMULATION_SEED")

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// Creates the world of a schedule.
  package typealias Maker<World> = (_ seed: UInt64, _ runner: SimulationRunner, _ isLogging: Bool) throws ->
    World

  /// Returns the first violation found; nil when no schedule has one.
  ///
  /// - Parameter prepare: called once on each thread; the thread uses the result for all of its schedules
  package static func find<World: SimulatedWorld>(
    _ seeds: Range<UInt64>, _ prepare: @escaping @Sendable () -> Maker<World>
  ) -> Found? {
    let next = Locked(seeds.lowerBound)
    let found = Locked<Found?>(nil)
    let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
    inParallel(Array(0..<processors), limit: processors) { _ in
      let (runner, make) = (SimulationRunner(), prepare())
      defer { runner.end() }
      while found.withLock({ $0 == nil }) {
        let seed = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard seed < seeds.upperBound else { return }
        do {
          try runner.run { try make(seed, $0, false) }
        } catch {
          found.withLock { $0 = $0 ?? Found(seed: seed, violation: "\(error)") }
        }
      }
    }
    return found.withLock { $0 }
  }

  /// Returns the history of one schedule.
  package static func history<World: SimulatedWorld>(_ seed: UInt64, _ make: Maker<World>) throws -> String {
    let runner = SimulationRunner()
    defer { runner.end() }
    return try runner.run { try make(seed, $0, true) }.joined(separator: "\n")
  }
}
