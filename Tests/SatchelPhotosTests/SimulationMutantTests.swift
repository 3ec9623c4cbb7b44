import Testing

@testable import SatchelPhotos

/// A simulation that finds nothing proves something only if it finds what is wrong: each rule of a sync is switched
/// off in turn.
@Suite(.serialized) struct SimulationMutantTests {
  struct Mutant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout SyncRules) -> Void
  }

  static let mutants = [
    Mutant(testDescription: "conditions are left out") { $0.usesConditions = false },
    Mutant(testDescription: "the manifest is written before the shard") { $0.uploadsShardFirst = false },
    Mutant(testDescription: "changes during an upload count as uploaded") {
      $0.settlesOnlyWhatWasSent = false
    },
    Mutant(testDescription: "bytes are not verified") { $0.verifiesBytes = false },
    Mutant(testDescription: "uploads that were begun are forgotten") { $0.heedsIntents = false },
    Mutant(testDescription: "the manifest is overwritten without another look") { $0.looksAgain = false },
    Mutant(testDescription: "a quiet sync does not look at the objects") { $0.looksAtListing = false },
    Mutant(testDescription: "what no checksum proves is believed") { $0.comparesUnproven = false },
    Mutant(testDescription: "damaged objects stay") { $0.mendsDamage = false },
    Mutant(testDescription: "a damaged or emptied shard is settled by a manifest that may be old") {
      $0.confirmsBeforeMending = false
    },
    Mutant(testDescription: "an earlier version of an object is applied") { $0.refusesOutdated = false },
    Mutant(testDescription: "whatever replaced an upload counts as built on it") {
      $0.settlesOnlyWhatWasBuiltOn = false
    },
  ]

  @Test(arguments: mutants)
  func `the simulation finds it when`(_ mutant: Mutant) throws {
    var rules = SyncRules()
    mutant.change(&rules)
    let found = SimulationRun.find(0..<3_000, rules: rules)
    #expect(found != nil, "3,000 schedules have found nothing wrong")
    print("\(mutant.testDescription): seed \(found?.seed ?? 0): \(found?.violation ?? "nothing")")
  }
}
