import Testing

@testable import SatchelPhotos

/// Shows that the simulation finds errors: each rule of a sync is
/// switched off in turn.
@Suite(.serialized) struct SimulationMutantTests {
  struct Mutant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout SyncRules) -> Void
  }

  static let mutants = [
    Mutant(testDescription: "conditions are left out") { $0.usesConditions = false },
    Mutant(testDescription: "the manifest is written before the shard") { $0.uploadsShardFirst = false },
    Mutant(testDescription: "changes during an upload count as uploaded") {
      $0.confirmsOnlySentChanges = false
    },
    Mutant(testDescription: "bytes are not verified") { $0.verifiesBytes = false },
    Mutant(testDescription: "pending uploads are ignored") { $0.checksPendingUploads = false },
    Mutant(testDescription: "the manifest is overwritten without examining the shards again") {
      $0.rechecksShards = false
    },
    Mutant(testDescription: "a sync without changes does not list the objects") { $0.usesListing = false },
    Mutant(testDescription: "bytes that no checksum proves are applied") { $0.comparesUnproven = false },
    Mutant(testDescription: "damaged objects are not repaired") { $0.repairsDamage = false },
    Mutant(testDescription: "a damaged or emptied shard is judged by a manifest that may be old") {
      $0.confirmsManifestFirst = false
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
