import SatchelCore
import SatchelRemoteTesting
import Testing

@testable import SatchelSync

/// Schedules of three devices with assets. The rules that each of them keeps are in AssetSimulation+Checks.swift.
@Suite(.serialized) struct AssetSimulationTests {
  private static func run(_ seed: UInt64, _ mutant: AssetMutant? = nil) -> (
    violation: String?, history: [String]
  ) {
    do {
      let world = try AssetSimulation(seed: seed, mutant)
      do { try world.run() } catch { world.fail("\(error)") }
      return (world.violation, world.history)
    } catch { return ("\(error)", []) }
  }

  @Test("what records refer to stays, and nothing else, whatever faults occur") func schedules() {
    if let seed = SimulationSearch.seed {
      print(Self.run(seed).history.joined(separator: "\n"))
      return
    }
    for seed in SimulationSearch.seeds(of: 0..<100) {
      if let violation = Self.run(seed).violation {
        Issue.record("SATCHEL_SIMULATION_SEED=\(seed): \(violation)")
        return
      }
    }
  }

  @Test("the simulation finds", arguments: AssetMutant.allCases) func simulationFinds(_ mutant: AssetMutant) {
    for seed in 0..<200 as Range<UInt64> {
      if let violation = Self.run(seed, mutant).violation {
        print("\(mutant): seed \(seed): \(violation)")
        return
      }
    }
    Issue.record("200 schedules have found nothing wrong")
  }
}
