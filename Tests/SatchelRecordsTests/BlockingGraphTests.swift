import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Items that block each other")
struct BlockingGraphTests {
  @Test("remain in groups, and are removed with their dependencies") func groups() {
    var graph = BlockingGraph(count: 7)
    // A circle, a chain with an end that is removed, and one that is alone.
    for (item, blocker) in [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (4, 5), (4, 4)] {
      graph.block(item, by: blocker)
    }
    #expect(graph.groups == [[0, 1, 2], [3, 4, 5], [6]])
    let removed = graph.remove(5)
    #expect(removed.map(\.item) == [4, 3] && removed.map(\.blocker) == [5, 4])
    #expect(graph.groups == [[0, 1, 2], [6]])
    #expect(graph.remove(5).isEmpty && graph.remove(3).isEmpty)
    #expect(Set(graph.remove(1).map(\.item)) == [0, 2])
    #expect(graph.groups == [[6]])
  }

  @Test("remain exactly when all of their dependencies do", arguments: 0..<200 as Range<UInt64>)
  func closure(_ seed: UInt64) {
    var chance = SeededRandom(seed: seed)
    let count = Int.random(in: 1...12, using: &chance)
    var graph = BlockingGraph(count: count)
    var blockers = Array(repeating: Set<Int>(), count: count)
    for _ in 0..<Int.random(in: 0...20, using: &chance) {
      let (item, blocker) = (
        Int.random(in: 0..<count, using: &chance), Int.random(in: 0..<count, using: &chance)
      )
      graph.block(item, by: blocker)
      if item != blocker { blockers[item].insert(blocker) }
    }
    var left = Set(0..<count)
    for _ in 0..<3 {
      let item = Int.random(in: 0..<count, using: &chance)
      _ = graph.remove(item)
      left.remove(item)
    }
    while let blocked = left.first(where: { !blockers[$0].isSubset(of: left) }) { left.remove(blocked) }
    #expect(Set(graph.groups.joined()) == left)
    for group in graph.groups {
      for item in group { #expect(blockers[item].isSubset(of: group)) }
    }
  }
}
