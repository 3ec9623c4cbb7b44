import SatchelRemoteTesting
import Testing

/// Schedules of two processes with the assets of one store. The rules that each of them keeps are in
/// AssetFolderSimulation.swift.
@Suite(.serialized) struct AssetFolderSimulationTests {
  private static func run(
    _ seed: UInt64, _ mutant: AssetFolderMutant?, _ shelf: AssetFolderShelf, isLogging: Bool = false
  ) -> (violation: String?, history: [String], counts: [String: Int]) {
    do {
      let world = try AssetFolderSimulation(seed: seed, mutant, shelf: shelf, isLogging: isLogging)
      defer { world.abandon() }
      do { try world.run() } catch { world.fail("\(error)") }
      return (world.violation, world.history ?? [], world.counts)
    } catch { return ("\(error)", [], [:]) }
  }

  private static func search(_ seeds: Range<UInt64>, _ mutant: AssetFolderMutant? = nil, maximum: Int) throws
    -> ScheduleSearch.Report
  {
    try ScheduleSearch.run(seeds, maximum: maximum) {
      let shelf = try AssetFolderShelf()
      return ScheduleSearch.Worker {
        let result = run($0, mutant, shelf)
        return (result.violation, result.counts)
      } end: {
        shelf.end()
      }
    }
  }

  @Test("rows, files and backups agree, whatever is killed or loses power between any two calls of the disk")
  func schedules() throws {
    if let seed = SimulationSearch.seed {
      let shelf = try AssetFolderShelf()
      print(Self.run(seed, ScheduleSearch.mutant(), shelf, isLogging: true).history.joined(separator: "\n"))
      return shelf.end()
    }
    let report = try Self.search(
      ScheduleSearch.seeds(of: 0..<200), maximum: ScheduleSearch.isLong ? 20 : 1)
    if ScheduleSearch.isLong { print("schedules of the folder: \(report)") }
    if !report.violations.isEmpty { Issue.record("\(report)") }
  }

  @Test(
    "the simulation finds",
    arguments: AssetFolderMutant.allCases.filter {
      ScheduleSearch.isLong || !AssetFolderMutant.rare.contains($0)
    })
  func simulationFinds(_ mutant: AssetFolderMutant) throws {
    let count: UInt64 = ScheduleSearch.isLong ? 10_000 : 400
    let report = try Self.search(0..<count, mutant, maximum: ScheduleSearch.isLong ? 10 : 1)
    print("\(mutant): \(report)")
    if report.violations.isEmpty { Issue.record("\(count) schedules have found nothing wrong") }
  }
}
