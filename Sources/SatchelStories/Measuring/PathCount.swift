/// The number of different paths, sequences of choices, from a story's start to an ending. Choices that are dynamic do
/// not count, and an ending whose choices lead only back to the start ends a path.
public enum PathCount: Equatable, Sendable {
  /// A finite number. At `UInt64.max` the value saturates, and `isExact` is false.
  case finite(UInt64, isExact: Bool)
  /// A path to an ending can contain a cycle.
  case unbounded

  /// The number that `saturated` returned.
  init(saturated number: Int64) {
    self = number < 0 ? .unbounded : .finite(UInt64(number), isExact: number < .max)
  }

  /// The number as an integer: -1 for unbounded, `Int64.max` for that many or more.
  public var saturated: Int64 {
    switch self {
    case .finite(let count, _): Int64(clamping: count)
    case .unbounded: -1
    }
  }
}

/// Counts paths by dynamic programming over the segments on paths from the start to an ending.
struct PathCounter {
  private let analysis: StoryAnalysis
  /// These segments in topological order; nil when they have a cycle.
  private let order: ContiguousArray<Int32>?

  init(_ analysis: StoryAnalysis) {
    self.analysis = analysis
    order = Self.order(analysis)
  }

  var count: PathCount {
    guard let order else { return .unbounded }
    let paths = sum(over: order)
    return .finite(paths, isExact: paths < .max)
  }

  /// The exact count in decimal digits; nil for unbounded.
  ///
  /// The time is proportional to segments plus choices, times the digits of the result.
  var digits: String? {
    guard let order, case .finite(let paths, let isExact) = count else { return nil }
    return isExact ? String(paths) : LongSum(analysis, order).decimal
  }

  /// The number of segments on a longest path, both ends included; nil when there is no path, or no longest
  /// one.
  var longest: Int? {
    guard let order, let first = order.first else { return nil }
    let table = analysis.table
    var longest = ContiguousArray<Int32>(repeating: 0, count: table.segments.count)
    for segment in order.reversed() {
      var length: Int32 = 0
      for target in analysis.graph.targets(of: Int(segment)) {
        if target >= 0 { length = max(length, longest[Int(target)]) }
      }
      longest[Int(segment)] = length + 1
    }
    return Int(longest[Int(first)])
  }

  private func sum(over order: ContiguousArray<Int32>) -> UInt64 {
    guard let first = order.first else { return 0 }
    let count = analysis.table.segments.count
    var paths = ContiguousArray<UInt64>(repeating: 0, count: count)
    for segment in order.reversed() {
      var total: UInt64 = analysis.graph.isEnding[Int(segment)] ? 1 : 0
      for target in analysis.graph.targets(of: Int(segment)) where target >= 0 {
        let (next, overflow) = total.addingReportingOverflow(paths[Int(target)])
        total = overflow ? .max : next
      }
      paths[Int(segment)] = total
    }
    return paths[Int(first)]
  }

  /// Returns the topological order, by Kahn's algorithm, of the reachable segments from which an ending can
  /// be reached.
  @_optimize(speed)
  private static func order(_ analysis: StoryAnalysis) -> ContiguousArray<Int32>? {
    let graph = analysis.graph
    let count = analysis.table.segments.count
    func isOnPath(_ segment: Int) -> Bool {
      analysis.reachesEnding[segment] && analysis.reach.contains(segment)
    }
    guard count > 0, isOnPath(0) else { return [] }
    var incoming = ContiguousArray<Int32>(repeating: 0, count: count)
    var total = 0
    for segment in analysis.reach.entered where isOnPath(Int(segment)) {
      total += 1
      if graph.isRestart(Int(segment)) { continue }
      for target in graph.targets(of: Int(segment)) where target >= 0 { incoming[Int(target)] += 1 }
      // Every segment on a path is reachable from the start, so an edge to the start closes a cycle.
      if incoming[0] > 0 { return nil }
    }
    var order: ContiguousArray<Int32> = [0]
    order.reserveCapacity(total)
    var next = 0
    while next < order.count {
      let segment = Int(order[next])
      next += 1
      if graph.isRestart(segment) { continue }
      for target in graph.targets(of: segment) where target >= 0 {
        incoming[Int(target)] -= 1
        if incoming[Int(target)] == 0, isOnPath(Int(target)) { order.append(target) }
      }
    }
    return order.count == total ? order : nil
  }
}
