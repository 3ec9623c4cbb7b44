/// A story that was read, with its graph and what can be reached in it: what rules, counts, statistics, pictures and
/// comparisons start from.
struct StoryAnalysis {
  let table: StoryTable
  let graph: StoryGraph
  /// From the first segment.
  let reach: StoryGraph.Reach
  /// Of each segment whether an ending can be reached from it.
  let canEnd: ContiguousArray<Bool>

  init(_ table: consuming StoryTable) {
    graph = StoryGraph(&table)
    reach = graph.reach(table)
    canEnd = graph.canEnd(table)
    self.table = table
  }

  /// Of a segment, its index by id.
  func segment(_ id: String) -> Int? {
    var id = id
    return id.withUTF8 { bytes in
      graph.ids.find(UnsafeRawBufferPointer(bytes))
    }
  }

  func id(_ segment: Int) -> String { table.text.string(table.segments[segment].id) }

  /// The nearest ending, in segments.
  var nearestEnding: Int? { reach.order.first { table.isEnding(Int($0)) }.map { Int($0) } }

  /// The segments on a shortest way from the first one to another, both included.
  func way(to segment: Int) -> [Int] {
    var way: [Int] = []
    var current = segment
    while current >= 0 {
      way.append(current)
      current = Int(reach.from[current])
    }
    return way.reversed()
  }

  /// The authentic segments that connect the first one to an ending; and where they stop when they do not.
  ///
  /// - Returns: the way, and whether it ends at an ending
  func authenticWay() -> (way: [Int], isWhole: Bool) {
    let authentic = graph.reach(table) { table.segments[$0].flags.contains(.isAuthentic) }
    let ending = authentic.order.first { table.isEnding(Int($0)) }
    guard let last = ending ?? authentic.order.last else { return ([], false) }
    var way: [Int] = []
    var current = Int(last)
    while current >= 0 {
      way.append(current)
      current = Int(authentic.from[current])
    }
    return (way.reversed(), ending != nil)
  }
}
