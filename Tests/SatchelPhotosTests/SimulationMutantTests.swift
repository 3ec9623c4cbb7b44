import Testing

import SatchelPhotos

/// Shows that the simulation finds errors: the devices synchronize through a faulty store or a faulty ledger.
@Suite(.serialized) struct SimulationMutantTests {
  @Test("the simulation finds it when", arguments: SimulationMutant.common)
  func simulationFindsWhen(_ mutant: SimulationMutant) {
    let found = SimulationRun.find(mutant.firstSeed..<mutant.firstSeed + 3_000, mutant: mutant)
    #expect(found != nil, "3,000 schedules have found nothing wrong")
    print("\(mutant.testDescription): seed \(found?.seed ?? 0): \(found?.violation ?? "nothing")")
  }

  /// The seeds differ in the policies of the devices, and in whether etags identify versions or contents.
  @Test("a script finds it when", arguments: SimulationMutant.scripted, 0..<8 as Range<UInt64>)
  func scriptFindsWhen(_ mutant: SimulationMutant, _ seed: UInt64) throws {
    let sound = try SimulationRun.history(seed, script: mutant.script)
    #expect(!sound.contains("VIOLATION"), "\(sound)")
    let faulty = try SimulationRun.history(seed, mutant: mutant, script: mutant.script)
    #expect(faulty.contains("VIOLATION"), "\(faulty)")
    print("\(mutant.testDescription): \(faulty.split(separator: "\n").last ?? "")")
  }
}
