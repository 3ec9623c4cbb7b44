import SatchelStories
import SatchelTesting
import Testing

@Suite("Exactly the planted faults are found") struct PlantedFaultTests {
  struct Plan: Sendable, CustomStringConvertible {
    var size: Int
    var faults: Int
    var whole = PlantedStory.Whole.nothing
    var layout = PlantedWriter.Layout.wild
    var seed: UInt64
    var description: String { "\(size) segments, \(faults) of each fault, \(whole), \(layout), seed \(seed)" }
  }

  private func check(_ plan: Plan) throws {
    var story = PlantedStory(size: plan.size, faults: plan.faults, whole: plan.whole, seed: plan.seed)
    var writer = PlantedWriter(plan.layout, seed: plan.seed &+ 1)
    writer.write(story.node())
    let report = try StoryReport.check(writer.bytes, source: .json)
    let found = report.findings.map { PlantedFinding($0) }
    let expected = writer.findings.sorted()
    let sorted = found.sorted()
    if sorted != expected {
      let missed = Set(expected).subtracting(sorted).sorted().prefix(5)
      let extra = Set(sorted).subtracting(expected).sorted().prefix(5)
      Issue.record("missed \(missed), not planted \(extra); \(sorted.count) found of \(expected.count)")
    }
    // In the order of the file.
    #expect(zip(found, found.dropFirst()).allSatisfy { ($0.line, $0.column) <= ($1.line, $1.column) })
    #expect(report.errorCount == expected.count { $0.severity == "error" })
    #expect(report.warningCount == expected.count { $0.severity == "warning" })
    #expect(report.isSound == (report.errorCount == 0))
    if plan.faults > 0 { #expect(!expected.isEmpty) }
  }

  static let sound = PlantedWriter.Layout.allCases.flatMap { layout in
    (0..<50).map { Plan(size: 4 + $0, faults: 0, layout: layout, seed: UInt64($0)) }
  }

  @Test("A sound story has no findings, in any notation") func soundStories() throws {
    for plan in Self.sound { try check(plan) }
  }

  @Test("Twenty segments", arguments: PlantedWriter.Layout.allCases)
  func few(_ layout: PlantedWriter.Layout) throws {
    for seed in 0..<150 {
      try check(Plan(size: 20, faults: 1 + seed % 3, layout: layout, seed: UInt64(seed)))
    }
  }

  @Test("Faults of a story as a whole", arguments: PlantedStory.Whole.allCases)
  func whole(_ whole: PlantedStory.Whole) throws {
    for seed in 0..<100 {
      // When no segment can end, other planted faults would change that.
      let faults = whole == .endings ? 0 : seed % 2
      let layout = PlantedWriter.Layout.allCases[seed % 4]
      try check(Plan(size: 20, faults: faults, whole: whole, layout: layout, seed: UInt64(seed)))
    }
  }

  @Test("A thousand segments", arguments: PlantedWriter.Layout.allCases)
  func thousand(_ layout: PlantedWriter.Layout) throws {
    try check(Plan(size: 1_000, faults: 40, layout: layout, seed: 7))
  }

  @Test("A hundred thousand segments and more", arguments: [100_000, 200_000]) func hundredThousand(
    _ whole: Int
  ) throws {
    let size = Portion.count(whole, parts: 10)
    try check(Plan(size: size, faults: 300, layout: whole > 100_000 ? .oneLine : .wild, seed: 8))
  }

  @Test("Every code for the text of JSON is planted") func codes() {
    var codes: Set<String> = ["no-segments"]
    for whole in PlantedStory.Whole.allCases {
      var story = PlantedStory(size: 20, faults: whole == .endings ? 0 : 1, whole: whole, seed: 1)
      var writer = PlantedWriter(.lines, seed: 1)
      writer.write(story.node())
      codes.formUnion(writer.findings.map(\.code))
    }
    let others: Set<String> = [
      "missing-asset", "dynamic-jump", "conditional-dead-end", "byte-order-mark", "duplicate-story",
      "unreadable", "not-json",
      "not-a-story",
    ]
    #expect(codes.union(others) == Set(StoryFinding.Code.allCases.map(\.rawValue)))
  }
}
