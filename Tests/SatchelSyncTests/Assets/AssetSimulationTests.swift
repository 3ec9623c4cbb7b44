import Foundation
import SatchelCore
import SatchelRemoteTesting
import Testing

@testable import SatchelSync

/// Schedules of three devices with assets. The rules that each of them keeps are in AssetSimulation+Checks.swift.
@Suite(.serialized) struct AssetSimulationTests {
  private static func run(
    _ seed: UInt64, _ mutant: AssetMutant?, _ shelf: AssetSimulationShelf, isLogging: Bool = false
  ) -> (violation: String?, history: [String], counts: [String: Int]) {
    do {
      let world = try AssetSimulation(seed: seed, mutant, shelf: shelf, isLogging: isLogging)
      defer { for device in world.devices { device.crash() } }
      do { try world.run() } catch { world.fail("\(error)") }
      return (world.violation, world.history ?? [], world.counts)
    } catch { return ("\(error)", [], [:]) }
  }

  private static func search(_ seeds: Range<UInt64>, _ mutant: AssetMutant? = nil, maximum: Int) throws
    -> ScheduleSearch.Report
  {
    try ScheduleSearch.run(seeds, maximum: maximum) {
      let shelf = AssetSimulationShelf()
      return ScheduleSearch.Worker {
        let result = run($0, mutant, shelf)
        return (result.violation, result.counts)
      } end: {
        shelf.end()
      }
    }
  }

  @Test("what records refer to stays, and nothing else, whatever faults occur") func schedules() throws {
    if let seed = SimulationSearch.seed {
      let shelf = AssetSimulationShelf()
      print(Self.run(seed, ScheduleSearch.mutant(), shelf, isLogging: true).history.joined(separator: "\n"))
      return shelf.end()
    }
    let report = try Self.search(ScheduleSearch.seeds(of: 0..<100), maximum: ScheduleSearch.isLong ? 20 : 1)
    if ScheduleSearch.isLong { print("schedules of the remote: \(report)") }
    if !report.violations.isEmpty { Issue.record("\(report)") }
  }

  @Test("the simulation finds", arguments: AssetMutant.allCases) func simulationFinds(_ mutant: AssetMutant)
    throws
  {
    let count: UInt64 = ScheduleSearch.isLong ? 3000 : 400
    let report = try Self.search(0..<count, mutant, maximum: ScheduleSearch.isLong ? 10 : 1)
    print("\(mutant): \(report)")
    if report.violations.isEmpty { Issue.record("\(count) schedules have found nothing wrong") }
  }

  /// In the first, a sync reserved an object for a change that it left for the next one, dropped the reservation, and did
  /// so again without end; in the second, a purge wrote heads without end, because of what another process had read.
  @Test("schedules that once found an error pass", arguments: [13_717, 17_350, 24_149] as [UInt64])
  func known(_ seed: UInt64) {
    let shelf = AssetSimulationShelf()
    defer { shelf.end() }
    #expect(Self.run(seed, nil, shelf).violation == nil)
  }

  /// Two processes had uploaded to one reservation, and the parts of the second one stayed for ever.
  @Test("a sweep removes parts that nothing completes, also where it finds no other garbage")
  func partsGo() throws {
    let shelf = AssetSimulationShelf()
    defer { shelf.end() }
    let world = try AssetSimulation(seed: 1, nil, shelf: shelf, isLogging: false)
    world.rate = 0
    let device = world.devices[0]
    try device.edit(AssetSimulation.keys[0], [AssetSimulation.contents[4]])
    for _ in 0..<2 { try device.complete() }
    let log = try #require(device.log)
    let key = try AssetObject(log: log, fence: 0).key(AssetSimulation.user)
    _ = world.remote.startUpload(key, .none)
    for _ in 0..<2 { try device.complete(sweeps: true) }
    #expect(world.remote.uploads.isEmpty)
    #expect(world.remote.assetKeys.count == 1)
    #expect(world.violation == nil)
    // A sweep that finds nothing writes nothing.
    #expect(try device.complete(sweeps: true) == "quiet")
  }
}
