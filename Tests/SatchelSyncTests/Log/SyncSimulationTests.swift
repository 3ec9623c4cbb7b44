import Foundation
import SatchelCore
import SatchelRemoteTesting
import Testing

import SatchelRemote

/// Schedules of several devices and one remote, with faults between any two requests. The rules that each of them has to
/// keep are in SyncSimulation+Checks.swift.
@Suite(.serialized) struct SyncSimulationTests {
  struct Found: Sendable {
    var seed: UInt64
    var violation: String
  }

  /// Whether SATCHEL_SIMULATIONS asks for another number of schedules than a normal run has.
  private static let isLong = ProcessInfo.processInfo.environment["SATCHEL_SIMULATIONS"] != nil

  /// The first violation, by time; nil when there is none.
  private static func find(_ seeds: Range<UInt64>, _ mutant: SyncMutant? = nil) -> Found? {
    let (next, found) = (Locked(seeds.lowerBound), Locked<Found?>(nil))
    let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
    inParallel(Array(0..<processors), limit: processors) { _ in
      let shelf = SyncSimulationShelf()
      defer { shelf.end() }
      while found.withLock({ $0 == nil }) {
        let seed = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard seed < seeds.upperBound else { return }
        if isLong, seed > 0, seed.isMultiple(of: 1000) { print("\(seed) schedules without a violation") }
        if let violation = run(seed, mutant, shelf, isLogging: false).violation {
          found.withLock { $0 = $0 ?? Found(seed: seed, violation: violation) }
        }
      }
    }
    return found.withLock { $0 }
  }

  private static func run(
    _ seed: UInt64, _ mutant: SyncMutant?, _ shelf: SyncSimulationShelf, isLogging: Bool
  ) -> (violation: String?, history: [String]) {
    do {
      let world = try SyncSimulation(seed: seed, mutant: mutant, shelf: shelf, isLogging: isLogging)
      defer { for device in world.devices where device.isBusy { device.crash(world) } }
      do {
        try world.run()
        return (nil, world.history ?? [])
      } catch {
        return ("\(error)", (world.history ?? []) + ["\(error)"])
      }
    } catch {
      return ("\(error)", [])
    }
  }

  @Test("devices lose no edit and converge, whatever faults occur") func devicesLoseNothing()
    throws
  {
    if let seed = SimulationSearch.seed {
      let shelf = SyncSimulationShelf()
      defer { shelf.end() }
      print(Self.run(seed, nil, shelf, isLogging: true).history.joined(separator: "\n"))
      return
    }
    let found = Self.find(SimulationSearch.seeds(of: 0..<200))
    if let found {
      Issue.record("SATCHEL_SIMULATION_SEED=\(found.seed): \(found.violation)")
    }
  }

  /// A device found that the log had gone back, and was killed each time before it had read all of it, until the horizon
  /// had passed the entries that the log lacked.
  @Test("schedules that once found an error pass", arguments: [5576])
  func schedulesOnceFound(_ seed: UInt64) {
    let shelf = SyncSimulationShelf()
    defer { shelf.end() }
    #expect(Self.run(seed, nil, shelf, isLogging: false).violation == nil)
  }

  /// A simulation that finds nothing proves something only if it finds what is wrong.
  @Test(
    "the simulation finds", arguments: SyncMutant.allCases.filter { isLong || !SyncMutant.rare.contains($0) })
  func simulationFinds(_ mutant: SyncMutant) throws {
    let count: UInt64 = Self.isLong ? 10_000 : 400
    let found = Self.find(0..<count, mutant)
    #expect(found != nil, "\(count) schedules have found nothing wrong")
    print("\(mutant): seed \(found?.seed ?? 0): \(found?.violation ?? "nothing")")
  }
}
