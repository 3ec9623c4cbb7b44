import Foundation
import SatchelCore
import SatchelTesting

/// Runs schedules by their seeds, on as many threads as there are processors, and counts what happens in them.
package enum ScheduleSearch {
  /// What runs the schedules of one thread.
  package struct Worker {
    let run: (UInt64) -> (violation: String?, counts: [String: Int])
    let end: () -> Void

    package init(
      _ run: @escaping (UInt64) -> (violation: String?, counts: [String: Int]), end: @escaping () -> Void
    ) {
      (self.run, self.end) = (run, end)
    }
  }

  package struct Report: Sendable, CustomStringConvertible {
    /// The number of schedules.
    package var schedules = 0
    package var seeds: Range<UInt64>
    package var violations: [(seed: UInt64, text: String)] = []
    package var counts: [String: Int] = [:]
    package var seconds: Int64 = 0

    package var description: String {
      let counted = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let found = violations.map { "\n  SATCHEL_SIMULATION_SEED=\($0.seed): \($0.text)" }
      return "\(schedules) schedules from seed \(seeds.lowerBound), \(violations.count) violations, "
        + "\(seconds) s; \(counted.joined(separator: ", "))\(found.joined())"
    }
  }

  private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

  /// Whether SATCHEL_SIMULATIONS asks for another number of schedules than a suite has.
  package static let isLong = variable("SATCHEL_SIMULATIONS") != nil

  /// The schedules of a run: as many as SATCHEL_SIMULATIONS says, from SATCHEL_SIMULATION_FIRST on, or a portion of those
  /// that a suite has.
  package static func seeds(of all: Range<UInt64>) -> Range<UInt64> {
    let first = variable("SATCHEL_SIMULATION_FIRST").flatMap { UInt64($0) } ?? 0
    guard let count = variable("SATCHEL_SIMULATIONS").flatMap({ UInt64($0) }) else {
      return Portion.seeds(all)
    }
    return first..<first + count
  }

  /// The mutant of the only schedule to run: SATCHEL_SIMULATION_MUTANT.
  package static func mutant<Mutant: RawRepresentable<String>>() -> Mutant? {
    variable("SATCHEL_SIMULATION_MUTANT").flatMap { Mutant(rawValue: $0) }
  }

  /// The number of threads: SATCHEL_SIMULATION_THREADS, or that of the processors.
  private static var threads: Int {
    variable("SATCHEL_SIMULATION_THREADS").flatMap { Int($0) }
      ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
  }

  /// Runs schedules until so many have a violation.
  ///
  /// - Parameter prepare: called once on each thread
  package static func run(
    _ seeds: Range<UInt64>, maximum: Int, _ prepare: @escaping @Sendable () throws -> Worker
  ) throws -> Report {
    let (next, report) = (Locked(seeds.lowerBound), Locked(Report(seeds: seeds)))
    let start = Clock.monotonic.now()
    let count = threads
    let failure = Locked<(any Error)?>(nil)
    inParallel(Array(0..<count), limit: count) { _ in
      let worker: Worker
      do { worker = try prepare() } catch { return failure.withLock { $0 = error } }
      defer { worker.end() }
      while report.withLock({ $0.violations.count < maximum }) {
        let seed = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard seed < seeds.upperBound else { return }
        let result = worker.run(seed)
        report.withLock { report in
          report.schedules += 1
          report.seconds = (Clock.monotonic.now() - start) / 1000
          report.counts.merge(result.counts) { $0 + $1 }
          if let text = result.violation { report.violations.append((seed, text)) }
          if isLong, report.schedules.isMultiple(of: 1000) {
            print(report)
            fflush(nil)
          }
        }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
    return report.withLock { $0 }
  }
}
