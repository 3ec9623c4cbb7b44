/// Items that block each other. A value: the items that remain in it can be applied together.
///
/// All operations take time in proportion to the number of items and of their dependencies.
struct BlockingGraph {
  /// A dependency of an item: another item that has to be applied first, by its number in the graph.
  private var blockers: [[Int]]
  private var dependents: [[Int]]
  private(set) var isLeft: [Bool]

  init(count: Int) {
    blockers = Array(repeating: [], count: count)
    dependents = blockers
    isLeft = Array(repeating: true, count: count)
  }

  /// Adds a dependency: an item can be applied only together with another one.
  mutating func block(_ item: Int, by blocker: Int) {
    guard item != blocker else { return }
    blockers[item].append(blocker)
    dependents[blocker].append(item)
  }

  /// Removes an item that cannot be applied, and the items that depend on it.
  ///
  /// - Returns: the latter, each with the item that it is blocked by
  mutating func remove(_ item: Int) -> [(item: Int, blocker: Int)] {
    guard isLeft[item] else { return [] }
    isLeft[item] = false
    var removed: [(item: Int, blocker: Int)] = []
    var (blocker, next) = (item, 0)
    while true {
      for dependent in dependents[blocker] where isLeft[dependent] {
        isLeft[dependent] = false
        removed.append((dependent, blocker))
      }
      if next == removed.count { return removed }
      blocker = removed[next].item
      next += 1
    }
  }

  /// The items that are left, in groups that do not block each other; items and groups in order.
  var groups: [[Int]] {
    var group = Array(repeating: -1, count: isLeft.count)
    var groups: [[Int]] = []
    for first in isLeft.indices where isLeft[first] && group[first] < 0 {
      group[first] = groups.count
      var members = [first]
      var next = 0
      while next < members.count {
        let member = members[next]
        next += 1
        for other in blockers[member] + dependents[member] where isLeft[other] && group[other] < 0 {
          group[other] = groups.count
          members.append(other)
        }
      }
      groups.append(members.sorted())
    }
    return groups
  }
}
