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

  /// The first violation, by time; nil when there is none.
  ///
  /// - Parameter work: done on each thread; gives each seed that it takes to `attempt`
  package static func find(
    _ seeds: Range<UInt64>, _ work: @escaping @Sendable (_ next: () -> UInt64?, _ attempt: Attempt) -> Void
  ) -> Found? {
    let next = Guarded(seeds.lowerBound)
    let found = Guarded<Found?>(nil)
    let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
    inParallel(Array(0..<processors), limit: processors) { _ in
      work(
        {
          guard found.withLock({ $0 == nil }) else { return nil }
          let seed = next.withLock { next in
            defer { next += 1 }
            return next
          }
          return seed < seeds.upperBound ? seed : nil
        },
        { seed, body in
          do {
            try body()
          } catch {
            found.withLock { $0 = $0 ?? Found(seed: seed, violation: "\(error)") }
          }
        })
    }
    return found.withLock { $0 }
  }

  /// Runs a schedule, and notes what it throws.
  package typealias Attempt = (_ seed: UInt64, _ body: () throws -> Void) -> Void
}
