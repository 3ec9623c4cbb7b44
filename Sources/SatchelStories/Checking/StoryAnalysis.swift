/// A parsed story with its graph and reachability: the input of rules, path counts, statistics, drawings and
/// comparisons.
// A class, because many values have one: copies of a struct of this size cost 30 KB of code.
package final class StoryAnalysis {
  package let table: StoryTable
  let graph: StoryGraph
  /// The segments that can surely be reached from the first one.
  package let reach: StoryGraph.Reach
  /// For each segment, whether it can possibly be reached; nil when those are the ones that surely can.
  private let mayReach: ContiguousArray<Bool>?
  /// For each segment, whether an ending can be reached from it.
  let reachesEnding: ContiguousArray<Bool>
  /// Where code outside of the choices may lead.
  let outside: StoryGraph.Outside
  /// The ending with the shortest path from the start.
  package let nearestEnding: Int?
  /// Nil when no ending can be reached.
  let readingTime: ReadingTime?

  package init(_ table: consuming StoryTable) {
    graph = StoryGraph(&table)
    reach = graph.reach(table)
    mayReach = graph.mayReach(table, reach)
    reachesEnding = graph.reachesEnding(table)
    outside = graph.outside(table, reachesEnding)
    nearestEnding = graph.ending(reach)
    self.table = table
    readingTime = ReadingTime(self.table, reach, to: nearestEnding)
  }

  /// Whether a segment can be reached, surely or possibly.
  func canReach(_ segment: Int) -> Bool { mayReach?[segment] ?? reach.contains(segment) }

  /// Whether an ending can be reached from a segment, by its choices or by code outside of them.
  func canEnd(_ segment: Int) -> Bool { reachesEnding[segment] || outside.leadsToEnding }

  /// Whether a segment can surely be reached.
  package func isReached(_ segment: Int) -> Bool { reach.contains(segment) }

  /// Whether a segment has no choices, or is an ending for another reason.
  package func isEnding(_ segment: Int) -> Bool { graph.isEnding[segment] }

  /// Whether a segment has a choice whose target is only possible, or does not exist.
  func isOpen(_ segment: Int) -> Bool {
    table.choiceRange(segment).contains {
      graph.targets[$0] < 0 && !table.choices[$0].flags.isDisjoint(with: [.isDynamic, .hasTarget])
    }
  }

  /// A shortest path to an ending; where no choices lead to one, to a segment whose way on is not known.
  package var likelyPath: [Int] {
    (nearestEnding ?? reach.order.first { isOpen(Int($0)) }.map { Int($0) }).map { reach.path(to: $0) } ?? [0]
  }

  /// Returns the index of the segment with an id.
  func segment(_ id: String) -> Int? {
    var id = id
    return id.withUTF8 { bytes in
      graph.ids.find(UnsafeRawBufferPointer(bytes))
    }
  }

  package func id(_ segment: Int) -> String { table.text.string(table.segments[segment].id) }

  /// Returns the authentic path: the authentic segments from the first one to an ending, or to the last one
  /// reached.
  ///
  /// - Returns: the path, and whether it ends at an ending, or at a segment whose way on is not known
  func authenticPath() -> (path: [Int], isComplete: Bool) {
    let authentic = graph.reach(table) { table.segments[$0].flags.contains(.isAuthentic) }
    let end = graph.ending(authentic) ?? authentic.order.first { isOpen(Int($0)) }.map { Int($0) }
    guard let last = end ?? authentic.order.last.map({ Int($0) }) else { return ([], false) }
    return (authentic.path(to: last), end != nil)
  }
}

/// The range of times that reading a story may take, by its number of words.
struct ReadingTime {
  /// The number of words on a path with the fewest segments.
  let minWords: Int
  /// The number of words of all reachable segments.
  let maxWords: Int

  /// The words per minute of a fast reader, and of a slow one.
  private static let fast = 300.0
  private static let slow = 100.0

  /// Returns nil when no ending can be reached.
  init?(_ table: StoryTable, _ reach: StoryGraph.Reach, to ending: Int?) {
    guard let ending else { return nil }
    minWords = reach.path(to: ending).reduce(0) { $0 + Int(table.segments[$1].words) }
    maxWords = table.segments.indices.reduce(0) {
      $0 + (reach.contains($1) ? Int(table.segments[$1].words) : 0)
    }
  }

  var shortestMinutes: Double { Double(minWords) / Self.fast }
  var longestMinutes: Double { Double(maxWords) / Self.slow }

  /// Whether an estimate is within the tolerance: a factor of two, and two minutes.
  func isNear(_ minutes: Int64) -> Bool {
    let minutes = Double(minutes)
    return minutes >= 0 && minutes >= shortestMinutes / 2 - 2 && minutes <= longestMinutes * 2 + 2
  }
}
