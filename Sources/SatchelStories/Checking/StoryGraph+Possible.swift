/// The segments and endings that can possibly be reached: where menus, macros and scripts may lead.
extension StoryGraph {
  /// Whether code outside of the choices may lead somewhere.
  struct Outside {
    /// It may lead to any segment.
    var leadsAnywhere: Bool
    /// It may lead to an ending.
    var leadsToEnding: Bool
  }

  /// Returns, for each segment, whether it can possibly be reached; nil when those are the ones that surely can.
  func mayReach(_ table: StoryTable, _ reach: Reach) -> ContiguousArray<Bool>? {
    guard table.hasPossibleLinks || table.hasOutsideLinks else { return nil }
    let count = table.segments.count
    if table.hasOutsideLinks { return ContiguousArray(repeating: true, count: count) }
    var result = ContiguousArray(repeating: false, count: count)
    for segment in reach.order { result[Int(segment)] = true }
    var open = reach.order
    for segment in 0..<count where table.segments[segment].flags.contains(.mayBeEntered) && !result[segment] {
      result[segment] = true
      open.append(Int32(truncatingIfNeeded: segment))
    }
    while let segment = open.popLast() {
      // Only the game knows where it leads.
      if table.segments[Int(segment)].flags.contains(.jumps) {
        return ContiguousArray(repeating: true, count: count)
      }
      forEachNext(of: Int(segment)) { next in
        guard !result[next] else { return }
        result[next] = true
        open.append(Int32(truncatingIfNeeded: next))
      }
    }
    return result
  }

  /// Calls `body` for each segment that one leads to, surely or possibly, or displays.
  @inline(__always)
  private func forEachNext(of segment: Int, _ body: (Int) -> Void) {
    for target in targets(of: segment) where target >= 0 { body(Int(target)) }
    let segment = Int32(truncatingIfNeeded: segment)
    if !possible.isEmpty { possible[segment]?.forEach { body(Int($0)) } }
    if !parts.isEmpty { parts[segment]?.forEach { body(Int($0)) } }
  }

  /// Returns, for each segment, whether an ending can be reached from it. Where only the game knows the way on, it
  /// can.
  ///
  /// - Parameter mended: segments from which an ending could be reached if their faults were mended
  func reachesEnding(_ table: StoryTable, mended: [Int] = []) -> ContiguousArray<Bool> {
    var result = isEnding
    if table.hasPossibleLinks {
      for segment in result.indices where table.segments[segment].flags.contains(.jumps) {
        result[segment] = true
      }
    }
    for segment in mended { result[segment] = true }
    if possible.isEmpty, sweep(&result) { return result }
    searchBackwards(&result, table)
    return result
  }

  /// Returns where code outside of the choices may lead.
  func outside(_ table: StoryTable, _ reachesEnding: ContiguousArray<Bool>) -> Outside {
    guard table.hasPossibleLinks || table.hasOutsideLinks else {
      return Outside(leadsAnywhere: false, leadsToEnding: false)
    }
    let leadsToEnding = table.segments.indices.contains {
      table.segments[$0].flags.contains(.mayBeEntered) && reachesEnding[$0]
    }
    return Outside(
      leadsAnywhere: table.hasOutsideLinks, leadsToEnding: table.hasOutsideLinks || leadsToEnding)
  }

  /// The number of sweeps after which searching backwards costs less.
  private static let maxSweeps = 4

  /// Marks the segments with a choice that leads to a marked one, from the last segment to the first, until nothing
  /// changes. Most choices lead forward, so that a sweep or two mark all; the search below needs the reversed edges,
  /// which take as long as ten sweeps.
  ///
  /// - Returns: whether nothing changed at last
  @_optimize(speed)
  private func sweep(_ result: inout ContiguousArray<Bool>) -> Bool {
    result.withUnsafeMutableBufferPointer { result in
      choices.withUnsafeBufferPointer { choices in
        targets.withUnsafeBufferPointer { targets in
          for _ in 0..<Self.maxSweeps {
            var hasChanged = false
            var isComplete = true
            for segment in result.indices.reversed() where !result[segment] {
              var reaches = false
              for choice in Int(choices[segment].lowerBound)..<Int(choices[segment].upperBound) {
                let target = targets[choice]
                if target >= 0, result[Int(target)] { reaches = true }
              }
              result[segment] = reaches
              hasChanged = hasChanged || reaches
              isComplete = isComplete && reaches
            }
            if isComplete || !hasChanged { return true }
          }
          return false
        }
      }
    }
  }

  /// Marks the segments from which a marked one can be reached, by searching backwards from these.
  private func searchBackwards(_ result: inout ContiguousArray<Bool>, _ table: StoryTable) {
    let sources = Sources(table, targets)
    var open = ContiguousArray(
      result.indices.lazy.filter { [result] in result[$0] }.map { Int32(truncatingIfNeeded: $0) })
    var possibleSources: [Int32: [Int32]] = [:]
    for (source, targets) in possible {
      for target in targets { possibleSources[target, default: []].append(source) }
    }
    while let segment = open.popLast() {
      for source in sources.of(Int(segment)) where !result[Int(source)] {
        result[Int(source)] = true
        open.append(source)
      }
      if possibleSources.isEmpty { continue }
      for source in possibleSources[segment] ?? [] where !result[Int(source)] {
        result[Int(source)] = true
        open.append(source)
      }
    }
  }
}

/// Separates causes from what follows from them.
extension StoryGraph {
  /// A segment with a fault, and the number of segments that have it only because of this one.
  struct Root {
    var segment: Int
    var followers: Int
  }

  /// Returns, of segments with the same fault, those that no other one leads to, with the number of those that they
  /// lead to. Of several that lead to each other, it is the first one; of two that only lead to each other, both.
  ///
  /// - Parameter members: the segments, in the order in which a root is chosen
  func roots(of members: ContiguousArray<Int32>) -> [Root] {
    guard !members.isEmpty else { return [] }
    var closed = ContiguousArray(repeating: true, count: choices.count)
    for member in members { closed[Int(member)] = false }
    let isOutside = closed
    var first = closed
    var candidates: ContiguousArray<Int32> = []
    for member in members where !first[Int(member)] {
      _ = enter(Int(member), &first)
      candidates.append(member)
    }
    // One that leads to an earlier candidate, but is not led to by it, comes after it.
    var roots: [Root] = []
    for candidate in candidates.reversed() where !closed[Int(candidate)] {
      let followers = enter(Int(candidate), &closed) - 1
      if followers == 1, let twin = twin(of: Int(candidate), isOutside) {
        roots += [Root(segment: Int(candidate), followers: 0), Root(segment: twin, followers: 0)]
      } else {
        roots.append(Root(segment: Int(candidate), followers: followers))
      }
    }
    return roots
  }

  /// Returns the other one of two members that lead to each other, and to no other member.
  private func twin(of segment: Int, _ isOutside: ContiguousArray<Bool>) -> Int? {
    func only(of segment: Int) -> Int? {
      var found: Int?
      var isOnly = true
      forEachNext(of: segment) { next in
        guard next != segment, !isOutside[next] else { return }
        if found != nil, found != next { isOnly = false }
        found = next
      }
      return isOnly ? found : nil
    }
    return only(of: segment).flatMap { other in only(of: other) == segment ? other : nil }
  }

  /// Closes a segment, and the open ones that it leads to.
  ///
  /// - Returns: the number of segments that were closed
  func enter(_ segment: Int, _ closed: inout ContiguousArray<Bool>) -> Int {
    guard !closed[segment] else { return 0 }
    closed[segment] = true
    var open = [Int32(truncatingIfNeeded: segment)]
    var count = 0
    while let segment = open.popLast() {
      count += 1
      forEachNext(of: Int(segment)) { next in
        guard !closed[next] else { return }
        closed[next] = true
        open.append(Int32(truncatingIfNeeded: next))
      }
    }
    return count
  }
}
