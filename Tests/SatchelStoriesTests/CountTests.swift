import SatchelTesting
import Testing

import SatchelStories

@Suite("Paths are counted without enumerating them") struct CountTests {
  struct Example: Sendable, CustomStringConvertible {
    var description: String
    var targets: [[Int]]
    var paths: Int64
    var shortest: Int?
    var longest: Int?
  }

  static let examples: [Example] = [
    Example(description: "one segment", targets: [[]], paths: 1, shortest: 1, longest: 1),
    Example(description: "a chain", targets: [[1], [2], []], paths: 1, shortest: 3, longest: 3),
    Example(
      description: "two choices to one segment", targets: [[1, 1], []], paths: 2, shortest: 2, longest: 2),
    Example(description: "a diamond", targets: [[1, 2], [3], [3], []], paths: 2, shortest: 3, longest: 3),
    Example(description: "a short cut", targets: [[1, 2], [2], []], paths: 2, shortest: 2, longest: 3),
    Example(
      description: "a cycle on the path", targets: [[1], [0, 2], []], paths: -1, shortest: 3, longest: nil),
    Example(description: "a loop of one", targets: [[0, 1], []], paths: -1, shortest: 2, longest: nil),
    Example(
      description: "a cycle that cannot be left", targets: [[1, 3], [2], [1], []], paths: 1, shortest: 2,
      longest: 2),
    Example(
      description: "a cycle that cannot be entered", targets: [[1], [], [3, 1], [2]], paths: 1, shortest: 2,
      longest: 2),
    Example(description: "no ending", targets: [[1], [0]], paths: 0, shortest: nil, longest: nil),
    Example(
      description: "an ending out of reach", targets: [[0], []], paths: 0, shortest: nil, longest: nil),
  ]

  @Test("Small stories", arguments: examples) func small(_ example: Example) throws {
    let story = try CountStory(example.targets).read()
    #expect(story.pathCount.saturated == example.paths)
    #expect(story.exactPathCount == (example.paths < 0 ? nil : String(example.paths)))
    #expect(story.statistics.shortestPath == example.shortest)
    #expect(story.statistics.longestPath == example.longest)
  }

  @Test("A story without segments has no path") func empty() throws {
    let story = try CountStory().read()
    #expect(story.pathCount == .finite(0, isExact: true))
    #expect(story.exactPathCount == "0")
    #expect(story.statistics.shortestPath == nil && story.statistics.longestPath == nil)
    #expect(story.start == nil && story.segmentCount == 0)
  }

  @Test("An ending with choices ends some paths, and others continue") func endingWithChoices() throws {
    var text = CountStory()
    text.add(to: [1, 2])
    text.add(to: [2, 2], isEnding: true)
    text.add(to: [], isEnding: true)
    let story = try text.read()
    #expect(story.pathCount.saturated == 4)
    #expect(story.statistics.longestPath == 3)
    #expect(story.statistics.endings == 2)
  }

  @Test("Two hundred diamonds have 2^200 paths") func twoHundredDiamonds() throws {
    let story = try CountStory.diamonds(200).read()
    #expect(story.pathCount == .finite(.max, isExact: false))
    #expect(story.pathCount.saturated == .max)
    #expect(story.exactPathCount == "1606938044258990275541962092341162602522202993782792835301376")
    #expect(story.statistics.shortestPath == 401 && story.statistics.longestPath == 401)
  }

  @Test("The largest count in a machine word is exact", arguments: [62, 63, 64])
  func edge(_ diamonds: Int) throws {
    let story = try CountStory.diamonds(diamonds).read()
    let exact = ["4611686018427387904", "9223372036854775808", "18446744073709551616"][diamonds - 62]
    #expect(story.exactPathCount == exact)
    #expect(
      story.pathCount == UInt64(exact).map { .finite($0, isExact: true) } ?? .finite(.max, isExact: false))
    #expect(story.pathCount.saturated == Int64(exact) ?? .max)
  }

  /// The number of paths, by the reference addition.
  private func expectedCount(_ targets: [[Int]]) -> String {
    var counts: [CountNumber] = Array(repeating: CountNumber(0), count: targets.count)
    for index in targets.indices.reversed() {
      var total = CountNumber(targets[index].isEmpty ? 1 : 0)
      for target in targets[index] { total += counts[target] }
      counts[index] = total
    }
    return counts[0].decimal
  }

  @Test("Thousands of digits are exact") func manyDigits() throws {
    var random = SeededRandom(seed: 4)
    for size in [40, 700, 5_000] {
      let targets = (0..<size).map { index in
        index + 1 == size
          ? [] : [index + 1] + (0..<random.below(4)).map { _ in min(size - 1, index + 1 + random.below(6)) }
      }
      #expect(try CountStory(targets).read().exactPathCount == expectedCount(targets))
    }
  }

  @Test("Five thousand diamonds are counted to the last digit") func fiveThousandDiamonds() throws {
    let targets = (0..<15_001).map { index in
      index == 15_000 ? [] : index % 3 == 0 ? [index + 1, index + 2] : [index / 3 * 3 + 3]
    }
    let digits = try CountStory.diamonds(5_000).read().exactPathCount
    #expect(digits == expectedCount(targets))
    #expect(digits?.count == 1_506)
  }

  @Test("More digits than fit in one block are exact") func stretches() throws {
    // Twice as many words as the buffer of the sums has.
    let targets = (0..<60_001).map { index in
      index == 60_000 ? [] : index % 3 == 2 ? [index + 1] : [index + 1, index + 1]
    }
    #expect(try CountStory(targets).read().exactPathCount == expectedCount(targets))
  }

  @Test("A hundred thousand diamonds saturate") func saturates() throws {
    let story = try CountStory.diamonds(100_000).read()
    #expect(story.pathCount == .finite(.max, isExact: false))
    #expect(story.statistics.longestPath == 200_001)
  }

  @Test("A full binary tree of depth 19") func tree() throws {
    var text = CountStory()
    let depth = Portion.isWhole ? 19 : 16
    let inner = 1 << depth
    for index in 0..<2 * inner - 1 {
      text.add(to: index < inner - 1 ? [2 * index + 1, 2 * index + 2] : [], isEnding: index >= inner - 1)
    }
    let story = try text.read()
    #expect(story.pathCount == .finite(UInt64(inner), isExact: true))
    #expect(story.statistics.shortestPath == depth + 1 && story.statistics.longestPath == depth + 1)
    #expect(story.statistics.endings == inner)
  }

  @Test("Thousands of small stories equal the reference implementation") func againstReference()
    throws
  {
    var random = SeededRandom(seed: 11)
    var kinds: Set<String> = []
    for number in 0..<6_000 {
      let reference = CountReference.random(&random)
      let story = try Story(reference.json, source: .json)
      let findings = story.check().findings
      func pointers(_ code: StoryFinding.Code) -> [String] {
        findings.filter { $0.code == code }.map(\.pointer)
      }
      let context = Comment(rawValue: "story \(number): \(String(decoding: reference.json, as: UTF8.self))")
      #expect(
        pointers(.unreachable) == reference.causes(of: reference.unreachable).map { "/segments/\($0)" },
        context)
      let traps = reference.traps
      // Where no ending can be reached at all, one finding says it.
      let hasNoEnding = traps.contains(0)
      #expect(
        pointers(.trap) == (hasNoEnding ? [] : reference.causes(of: traps).map { "/segments/\($0)" }), context
      )
      #expect(pointers(.noEnding) == (hasNoEnding ? ["/segments"] : []), context)
      #expect(pointers(.brokenChoice) == reference.brokenChoices, context)
      #expect(pointers(.duplicateSegment) == reference.twins, context)
      let isAuthentic = reference.segments.contains(where: \.isAuthentic)
      #expect(pointers(.noAuthenticPath) == (isAuthentic ? [] : ["/segments"]), context)
      #expect(pointers(.authenticPathBroken).isEmpty == (!isAuthentic || reference.hasAuthenticWay), context)
      let lengths = reference.pathLengths
      #expect(story.pathCount.saturated == lengths.map { Int64($0.count) } ?? -1, context)
      #expect(story.exactPathCount == lengths.map { String($0.count) }, context)
      #expect(story.statistics.shortestPath == reference.shortest, context)
      #expect(story.statistics.longestPath == lengths?.max(), context)
      kinds.insert(lengths.map { $0.count > 2 ? "many" : String($0.count) } ?? "unbounded")
    }
    #expect(kinds == ["unbounded", "0", "1", "2", "many"])
  }
}
