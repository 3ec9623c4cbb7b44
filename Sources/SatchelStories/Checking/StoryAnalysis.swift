/// A parsed story with its graph and reachability: the input of rules, path counts, statistics, drawings and
/// comparisons.
package struct StoryAnalysis {
  package let table: StoryTable
  let graph: StoryGraph
  /// The segments that can be reached from the first one.
  package let reach: StoryGraph.Reach
  /// For each segment, whether an ending can be reached from it.
  let reachesEnding: ContiguousArray<Bool>
  /// The ending with the shortest path from the start.
  package let nearestEnding: Int?
  /// Nil when no ending can be reached.
  let readingTime: ReadingTime?

  package init(_ table: consuming StoryTable) {
    graph = StoryGraph(&table)
    reach = graph.reach(table)
    reachesEnding = graph.reachesEnding(table)
    nearestEnding = graph.ending(reach)
    self.table = table
    readingTime = ReadingTime(self.table, reach, to: nearestEnding)
  }

  /// Whether a menu or a macro may lead to any segment, so that none is certainly unreachable.
  var hasUncertainPaths: Bool {
    table.hasOutsideLinks
      || table.isImported && reach.order.contains { table.segments[Int($0)].flags.contains(.jumps) }
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
  /// - Returns: the path, and whether it ends at an ending
  func authenticPath() -> (path: [Int], isComplete: Bool) {
    let authentic = graph.reach(table) { table.segments[$0].flags.contains(.isAuthentic) }
    let ending = graph.ending(authentic)
    guard let last = ending ?? authentic.order.last.map({ Int($0) }) else { return ([], false) }
    return (authentic.path(to: last), ending != nil)
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
