/// Checks the paths through a story, and names the causes of what is wrong with them.
extension StoryRules {
  /// Returns the targets that do not exist, each once, in the order of the file.
  func missingTargets() -> [[UInt8]] {
    var seen: Set<[UInt8]> = []
    return broken.compactMap { index in
      let target = target(of: faults[index])
      return seen.insert(target).inserted ? target : nil
    }
  }

  private func target(of fault: StoryFault) -> [UInt8] {
    Array(table.text.bytes(table.choices[Int(fault.choice)].target))
  }

  mutating func checkReach() {
    var unreached: ContiguousArray<Int32> = []
    for segment in table.segments.indices where !analysis.reach.contains(segment) {
      let flags = table.segments[segment].flags
      if flags.contains(.hasID), !flags.contains(.isDuplicate) {
        unreached.append(Int32(truncatingIfNeeded: segment))
      }
    }
    guard !unreached.isEmpty else { return }
    foldIntoBroken(&unreached)
    for isPossible in [false, true] {
      let members = unreached.filter { analysis.canReach(Int($0)) == isPossible }
      for root in analysis.graph.roots(of: ContiguousArray(members)) {
        note(.unreachable, segment: root.segment, detail: root.followers, isDowngraded: isPossible)
      }
    }
  }

  /// Removes the segments that are unreachable because a choice that leads to them is misspelt.
  private mutating func foldIntoBroken(_ unreached: inout ContiguousArray<Int32>) {
    guard !nearest.isEmpty else { return }
    var closed = ContiguousArray(repeating: true, count: table.segments.count)
    for segment in unreached { closed[Int(segment)] = false }
    for index in broken {
      guard let meant = nearest[target(of: faults[index])] else { continue }
      let count = analysis.graph.enter(meant, &closed)
      if count > 0 { faults[index].detail = Int32(truncatingIfNeeded: count) }
    }
    unreached.removeAll { closed[Int($0)] }
  }

  mutating func checkEndings() {
    // Where a choice to a missing segment is mended, an ending may be reached: the choice is the cause.
    let mended = broken.map { Int(faults[$0].segment) } + includingBroken()
    let ends =
      mended.isEmpty ? analysis.reachesEnding : analysis.graph.reachesEnding(table, mended: mended)
    let isMilder = analysis.outside.leadsToEnding
    if ends[0] {
      // Where no ending can be reached at all, every reachable segment is a trap: one finding says it.
      var traps: ContiguousArray<Int32> = []
      for segment in table.segments.indices where !ends[segment] && analysis.reach.contains(segment) {
        if !table.segments[segment].flags.contains(.isPart) {
          traps.append(Int32(truncatingIfNeeded: segment))
        }
      }
      for root in analysis.graph.roots(of: traps) {
        note(.trap, segment: root.segment, detail: root.followers, isDowngraded: isMilder)
      }
    } else {
      note(
        .noEnding, at: table.segmentsStart ?? table.start, field: .segments, isDowngraded: isMilder)
    }
    guard !table.isImported else { return }
    for segment in table.segments.indices {
      let record = table.segments[segment]
      if record.flags.contains(.isMarkedEnding) {
        if record.choiceCount > 0, hasWayOn(segment) { note(.endingWithChoices, segment: segment) }
      } else if record.choiceCount == 0, record.flags.contains(.hasChoices) {
        note(.unmarkedEnding, segment: segment)
      }
    }
  }

  /// Returns the segments that display a part with a choice to a missing segment.
  private func includingBroken() -> [Int] {
    guard table.includedChoices > 0, !broken.isEmpty else { return [] }
    return table.segments.indices.filter { segment in
      table.choiceRange(segment).contains {
        let flags = table.choices[$0].flags
        return flags.contains(.isIncluded) && !flags.contains(.isDynamic) && analysis.graph.targets[$0] < 0
      }
    }
  }

  /// Whether choices of an ending lead on, and not only back to the first segment.
  private func hasWayOn(_ segment: Int) -> Bool {
    !analysis.graph.isRestart(segment)
      && table.choiceRange(segment).contains { !table.choices[$0].flags.contains(.isDynamic) }
  }

  mutating func checkAuthenticPath() {
    let hasAuthentic = table.segments.contains { $0.flags.contains(.isAuthentic) }
    guard hasAuthentic else {
      if !table.isImported {
        note(.noAuthenticPath, at: table.segmentsStart ?? table.start, field: .segments)
      }
      return
    }
    let (path, isComplete) = analysis.authenticPath()
    // Where no ending can be reached, no path can connect.
    let hasCause = faults.contains { $0.code == .noEnding } && table.segments[0].flags.contains(.isAuthentic)
    if !isComplete, !hasCause {
      note(.authenticPathBroken, segment: path.last ?? 0, isDowngraded: analysis.outside.leadsToEnding)
    }
  }
}
