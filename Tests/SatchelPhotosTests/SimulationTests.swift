import SatchelRemoteTesting
import Testing

import SatchelPhotos

/// Schedules of several devices and one remote, with faults between any two requests. The rules that each of
/// them has to obey are in SimulationWorld+Checks.swift.
@Suite(.serialized) struct SimulationTests {
  @Test("devices lose nothing and converge, whatever faults occur") func devicesLoseNothing() throws {
    if let seed = SimulationSearch.seed {
      let history = try SimulationRun.history(seed)
      print(history)
      #expect(!history.contains("VIOLATION"), "seed \(seed)")
      return
    }
    if let found = SimulationRun.find(SimulationSearch.seeds(of: 0..<1_500)) {
      print(try SimulationRun.history(found.seed))
      Issue.record("SATCHEL_SIMULATION_SEED=\(found.seed): \(found.violation)")
    }
  }

  /// A false response that there is no object, after an upload that had arrived; and a photo that was added, deleted,
  /// added and deleted again on one device while another restored it; a version that was cut to the bytes and so to the
  /// etag of the one before it; one that was emptied while a device was emptying it; and a photo that was added and
  /// deleted again during an upload that lost, while another device had added it.
  @Test("schedules that once found an error pass", arguments: [17_899, 30_139, 27, 222, 1_231, 417])
  func schedulesOnceFound(_ seed: UInt64) throws {
    #expect(try !SimulationRun.history(seed).contains("VIOLATION"))
  }

  @Test("a schedule is the same each time") func scheduleSameEach() throws {
    for seed: UInt64 in 1_000..<1_010 {
      #expect(try SimulationRun.history(seed) == SimulationRun.history(seed))
    }
  }
}
