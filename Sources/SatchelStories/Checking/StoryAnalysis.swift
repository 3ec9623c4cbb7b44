/// A story that was read, with its graph and what can be reached in it: what rules, counts, statistics, pictures and
/// comparisons start from.
struct StoryAnalysis {
  let table: StoryTable
  let graph: StoryGraph
  /// From the first segment.
  let reach: StoryGraph.Reach
  /// Of each segment whether an ending can be reached from it.
  let canEnd: ContiguousArray<Bool>
  /// The ending that the fewest segments lead to.
  let nearestEnding: Int?
  /// Nil where no ending can be reached.
  let readingTime: ReadingTime?

  init(_ table: consuming StoryTable) {
    graph = StoryGraph(&table)
    reach = graph.reach(table)
    canEnd = graph.canEnd(table)
    nearestEnding = reach.ending(table)
    self.table = table
    readingTime = ReadingTime(self.table, reach, to: nearestEnding)
  }

  /// Of a segment, its index by id.
  func segment(_ id: String) -> Int? {
    var id = id
    return id.withUTF8 { bytes in
      graph.ids.find(UnsafeRawBufferPointer(bytes))
    }
  }

  func id(_ segment: Int) -> String { table.text.string(table.segments[segment].id) }

  /// The authentic segments that connect the first one to an ending; and where they stop when they do not.
  ///
  /// - Returns: the way, and whether it ends at an ending
  func authenticWay() -> (way: [Int], isWhole: Bool) {
    let authentic = graph.reach(table) { table.segments[$0].flags.contains(.isAuthentic) }
    let ending = authentic.ending(table)
    guard let last = ending ?? authentic.order.last.map({ Int($0) }) else { return ([], false) }
    return (authentic.way(to: last), ending != nil)
  }
}
