import SatchelRemoteTesting
import Testing

@testable import SatchelRecords

/// Schedules of several devices and one remote, with faults between any two requests. The rules that each of them has
/// to keep are in RecordSimulationWorld+Checks.swift.
@Suite(.serialized) struct RecordSimulationTests {
  /// With a ledger in memory, and with real collections, of which there are fewer because they take longer.
  @Test("devices lose nothing and agree in the end, whatever happens on the way", arguments: [false, true])
  func devicesLoseNothing(_ isReal: Bool) throws {
    if let seed = SimulationSearch.seed {
      let history = try RecordSimulationRun.history(seed, isReal: isReal)
      print(history)
      #expect(!history.contains("VIOLATION"), "seed \(seed)")
      return
    }
    let count = isReal ? max(1, SimulationSearch.count / 5) : SimulationSearch.count
    if let found = RecordSimulationRun.find(0..<count, isReal: isReal) {
      print(try RecordSimulationRun.history(found.seed, isReal: isReal))
      Issue.record("SATCHEL_SIMULATION_SEED=\(found.seed): \(found.violation)")
    }
  }

  @Test("a schedule is the same each time") func scheduleSameEach() throws {
    for seed: UInt64 in 1_000..<1_010 {
      #expect(try RecordSimulationRun.history(seed) == RecordSimulationRun.history(seed))
    }
  }

  // MARK: Mutants

  struct Mutant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout RecordSyncRules) -> Void
  }

  static let mutants = [
    Mutant(testDescription: "conditions are left out") { $0.usesConditions = false },
    Mutant(testDescription: "changes during an upload count as uploaded") {
      $0.settlesOnlyWhatWasSent = false
    },
    Mutant(testDescription: "a deletion is the same as no object") { $0.knowsTombstones = false },
    Mutant(testDescription: "what was taken does not become the base") { $0.updatesBase = false },
    Mutant(testDescription: "uploads that were begun are forgotten") { $0.heedsSending = false },
    Mutant(testDescription: "what a listing does not show counts as gone") { $0.asksForUnlisted = false },
    Mutant(testDescription: "bytes are not verified") { $0.verifiesBytes = false },
  ]

  /// A simulation that finds nothing proves something only if it finds what is wrong.
  @Test("the simulation finds it when", arguments: mutants)
  func simulationFindsWhen(_ mutant: Mutant) throws {
    var rules = RecordSyncRules()
    mutant.change(&rules)
    let found = RecordSimulationRun.find(0..<3_000, rules: rules)
    #expect(found != nil, "3,000 schedules have found nothing wrong")
    print("\(mutant.testDescription): seed \(found?.seed ?? 0): \(found?.violation ?? "nothing")")
  }
}
