import SatchelStories

/// Gives segments the choices of the passages that they display as their parts.
extension TweeReader {
  /// A macro that displays a passage.
  struct Inclusion {
    var part: Int
    /// The offset of the macro.
    var offset: UInt32
  }

  /// Copies the choices of parts to the segments that display them, at the positions of the macros.
  ///
  /// The number of copies is limited to a multiple of all segments and choices, so that the time is linear; a
  /// segment beyond the limit has a jump that is known only when the story is played.
  func expandIncludes() {
    let inclusions = resolveIncludes()
    guard !inclusions.isEmpty else { return }
    let own = table.choices
    let ranges = table.segments.indices.map { table.choiceRange($0) }
    var allowance = 4 * (own.count + ranges.count) + 65_536
    table.choices = []
    for index in table.segments.indices {
      let first = table.choices.count
      if inclusions[index] == nil {
        table.choices.append(contentsOf: own[ranges[index]])
      } else {
        expand(index, with: inclusions, own: own, ranges: ranges, &allowance)
        Self.dropRepeatedMacros(of: &table, from: first)
      }
      table.segments[index].firstChoice = Int32(truncatingIfNeeded: first)
      table.segments[index].choiceCount = Int32(truncatingIfNeeded: table.choices.count - first)
    }
    table.includedChoices = table.choices.reduce(0) { $0 + ($1.flags.contains(.isIncluded) ? 1 : 0) }
  }

  func segmentNames() -> StoryIDTable {
    var names = StoryIDTable(capacity: table.segments.count)
    for index in table.segments.indices {
      _ = names.insert(index, table.text.bytes(table.segments[index].id))
    }
    return names
  }

  /// Returns the parts of each segment, in the order of the text.
  private func resolveIncludes() -> [Int: [Inclusion]] {
    guard !included.isEmpty else { return [:] }
    let names = segmentNames()
    var inclusions: [Int: [Inclusion]] = [:]
    table.includes = []
    for (segment, target, offset) in included {
      guard let part = names.find(table.text.bytes(target)) else { continue }
      inclusions[Int(segment), default: []].append(
        Inclusion(part: part, offset: UInt32(truncatingIfNeeded: offset)))
      table.includes.append(StoryTable.Link(from: segment, to: Int32(truncatingIfNeeded: part)))
    }
    return inclusions
  }

  /// Appends the choices of a segment and of its parts, each part once.
  private func expand(
    _ index: Int, with inclusions: [Int: [Inclusion]], own: ContiguousArray<StoryTable.Choice>,
    ranges: [Range<Int>], _ allowance: inout Int
  ) {
    var frames = [(segment: index, choice: ranges[index].lowerBound, inclusion: 0)]
    var visited: Set<Int> = [index]
    while var frame = frames.popLast() {
      let parts = inclusions[frame.segment] ?? []
      let next = frame.inclusion < parts.count ? parts[frame.inclusion] : nil
      while frame.choice < ranges[frame.segment].upperBound, own[frame.choice].start < next?.offset ?? .max {
        var choice = own[frame.choice]
        if frame.segment != index {
          choice.flags.insert(.isIncluded)
          allowance -= 1
        }
        table.choices.append(choice)
        frame.choice += 1
      }
      guard let next else { continue }
      frame.inclusion += 1
      frames.append(frame)
      guard visited.insert(next.part).inserted else { continue }
      allowance -= 1
      guard allowance > 0 else {
        note(.dynamicJump, at: Int(next.offset), segment: Int32(truncatingIfNeeded: index))
        var jump = StoryTable.Choice(start: next.offset)
        jump.flags = .isDynamic
        table.choices.append(jump)
        return table.choices.append(contentsOf: own[ranges[index]].filter { $0.start >= next.offset })
      }
      frames.append((next.part, ranges[next.part].lowerBound, 0))
    }
  }

  /// Removes the macros without a text of the last segment that have the same target as another of its
  /// choices.
  static func dropRepeatedMacros(of table: inout StoryTable, from first: Int) {
    let count = table.choices.count - first
    guard count > 1, table.choices[first...].contains(where: { !$0.flags.contains(.hasText) }) else { return }
    var targets = StoryIDTable(capacity: count)
    let text = table.text
    // Choices with a text are kept, and are inserted first.
    for withText in [true, false] {
      for index in first..<table.choices.count
      where table.choices[index].flags.contains(.hasText) == withText
        && table.choices[index].flags.contains(.hasTarget)
      {
        let earlier = targets.insert(index, text.bytes(table.choices[index].target))
        if earlier != nil, !withText { table.choices[index].flags = [] }
      }
    }
    let kept = table.choices[first...].filter { $0.flags.rawValue != 0 }
    table.choices.replaceSubrange(first..., with: kept)
  }
}
