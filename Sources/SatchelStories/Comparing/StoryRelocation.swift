import SatchelJSON
import SatchelStorage

/// Where reading positions of an old version of a story are in the new one. A value: computing it reads and
/// writes nothing.
struct StoryRelocation {
  private let old: StoryAnalysis
  private let new: StoryAnalysis
  private let broken: [StoryName: StoryDiff.BrokenPosition]
  /// For each removed segment that has a successor in the new version, the successor.
  let successors: [(from: String, to: String)]

  /// - Parameter old: the old version's `StoryOutline`
  init(old: StoryAnalysis, new: StoryAnalysis) {
    self.old = old
    self.new = new
    let diff = StoryComparison(old: old, new: new, isOutline: true).diff
    broken = Dictionary(diff.broken.map { (StoryName($0.segment), $0) }, uniquingKeysWith: { one, _ in one })
    var successors: [(from: String, to: String)] = []
    for position in diff.broken where position.reason == .removed {
      if let suggestion = position.suggestion { successors.append((position.segment, suggestion)) }
    }
    self.successors = successors
  }

  /// Returns the nearest segment for a broken position: its successor, else the sound segment with the fewest
  /// choices from there to the position, else the first segment.
  ///
  /// - Returns: nil when the position is not broken, or the new version has no other segment
  func move(from position: String) -> (to: String, reason: StoryDiff.BrokenPosition.Reason)? {
    let known = broken[StoryName(position)]
    let isGone = new.segment(position) == nil
    guard let reason = isGone ? StoryDiff.BrokenPosition.Reason.removed : known?.reason else { return nil }
    // Where the story has no ending at all, no segment is better than another one.
    if reason == .trap, new.table.segments.isEmpty || !new.canEnd(0) { return nil }
    guard let target = known?.suggestion ?? predecessor(of: position) ?? firstSegment,
      !target.hasSameBytes(as: position)
    else { return nil }
    return (target, reason)
  }

  private var firstSegment: String? { new.table.segments.isEmpty ? nil : new.id(0) }

  /// Searches backwards along the choices of the old version.
  private func predecessor(of position: String) -> String? {
    guard let start = old.segment(position) else { return nil }
    let sources = StoryGraph.Sources(old.table, old.graph.targets)
    var seen = ContiguousArray(repeating: false, count: old.table.segments.count)
    var order = [Int32(truncatingIfNeeded: start)]
    seen[start] = true
    var next = 0
    while next < order.count {
      let segment = Int(order[next])
      next += 1
      if segment != start, isSound(segment) { return old.id(segment) }
      for source in sources.of(segment) where !seen[Int(source)] {
        seen[Int(source)] = true
        order.append(source)
      }
    }
    return nil
  }

  /// Whether a segment of the old version is in the new one, and a reader can go on from there.
  private func isSound(_ segment: Int) -> Bool {
    let id = old.id(segment)
    guard old.table.segments[segment].flags.contains(.hasID), let match = new.segment(id) else {
      return false
    }
    return broken[StoryName(id)] == nil && new.canReach(match)
  }
}
