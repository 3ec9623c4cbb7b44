/// How many different ways lead from a story's start to an ending: sequences of choices, counted, not listed.
public enum PathCount: Equatable, Sendable {
  /// Exact below `UInt64.max`; from there on `isExact` is false and the value stays there.
  case finite(UInt64, isExact: Bool)
  /// A cycle can be walked on the way to an ending.
  case unbounded

  /// As an integer: -1 for unbounded, `Int64.max` for all that is more.
  public var saturated: Int64 {
    switch self {
    case .finite(let count, _): Int64(clamping: count)
    case .unbounded: -1
    }
  }
}

/// Counts ways by dynamic programming over the segments that lie on a way from the start to an ending.
struct PathCounter {
  private let analysis: StoryAnalysis
  /// Those segments, each before all that it leads to; nil when a cycle is among them.
  private let order: ContiguousArray<Int32>?

  init(_ analysis: StoryAnalysis) {
    self.analysis = analysis
    order = Self.order(analysis)
  }

  var count: PathCount {
    guard let order else { return .unbounded }
    let ways = sum(over: order)
    return .finite(ways, isExact: ways < .max)
  }

  /// The exact count in decimal digits; nil for unbounded.
  ///
  /// Time grows with segments plus choices, times the digits of the answer.
  var digits: String? {
    guard let order, case .finite(let ways, let isExact) = count else { return nil }
    return isExact ? String(ways) : LongSum(analysis, order).decimal
  }

  /// Segments on the longest way, both ends included; nil where there is no way, or no longest.
  var longest: Int? {
    guard let order, let first = order.first else { return nil }
    let table = analysis.table
    var longest = ContiguousArray<Int32>(repeating: 0, count: table.segments.count)
    for segment in order.reversed() {
      var most: Int32 = 0
      for choice in table.choiceRange(Int(segment)) {
        let target = analysis.graph.targets[choice]
        if target >= 0 { most = max(most, longest[Int(target)]) }
      }
      longest[Int(segment)] = most + 1
    }
    return Int(longest[Int(first)])
  }

  private func sum(over order: ContiguousArray<Int32>) -> UInt64 {
    guard let first = order.first else { return 0 }
    let table = analysis.table
    var ways = ContiguousArray<UInt64>(repeating: 0, count: table.segments.count)
    for segment in order.reversed() {
      var total: UInt64 = table.isEnding(Int(segment)) ? 1 : 0
      for choice in table.choiceRange(Int(segment)) {
        let target = analysis.graph.targets[choice]
        guard target >= 0 else { continue }
        let (next, overflow) = total.addingReportingOverflow(ways[Int(target)])
        total = overflow ? .max : next
      }
      ways[Int(segment)] = total
    }
    return ways[Int(first)]
  }

  /// Kahn's order of the segments that can be reached and can end.
  private static func order(_ analysis: StoryAnalysis) -> ContiguousArray<Int32>? {
    let table = analysis.table
    let targets = analysis.graph.targets
    func isOnWay(_ segment: Int) -> Bool { analysis.canEnd[segment] && analysis.reach.contains(segment) }
    guard !table.segments.isEmpty, isOnWay(0) else { return [] }
    var incoming = ContiguousArray<Int32>(repeating: 0, count: table.segments.count)
    var total = 0
    for segment in analysis.reach.order where isOnWay(Int(segment)) {
      total += 1
      for choice in table.choiceRange(Int(segment)) where targets[choice] >= 0 {
        incoming[Int(targets[choice])] += 1
      }
    }
    // Every segment on a way is led to from the start; when something leads to the start, there is a cycle.
    guard incoming[0] == 0 else { return nil }
    var order: ContiguousArray<Int32> = [0]
    order.reserveCapacity(total)
    var next = 0
    while next < order.count {
      let segment = Int(order[next])
      next += 1
      for choice in table.choiceRange(segment) where targets[choice] >= 0 {
        let target = Int(targets[choice])
        incoming[target] -= 1
        if incoming[target] == 0, isOnWay(target) { order.append(Int32(truncatingIfNeeded: target)) }
      }
    }
    return order.count == total ? order : nil
  }
}
