import SatchelJSON

/// Creates segments and choices.
extension TweeReader {
  mutating func fill() {
    let start = startPassage()
    var scanner = TweeScanner(bytes, format, TweeNames(passages, table.text))
    if let start { addSegment(passages[start], &scanner) }
    for (index, passage) in passages.enumerated() where index != start {
      switch passage.kind {
      case .segment: addSegment(passage, &scanner)
      case .shownElsewhere, .script: addElsewhere(passage, &scanner)
      case .data: break
      }
    }
    table.segmentsStart = table.segments.first.map { Int($0.start) }
  }

  /// Records whether a menu or a script has links, which lead from any segment.
  private mutating func addElsewhere(_ passage: TweePassage, _ scanner: inout TweeScanner) {
    guard !table.hasOutsideLinks else { return }
    if passage.kind == .script { scanner.scanScript(passage.body) } else { scanner.scan(passage.body) }
    table.hasOutsideLinks = scanner.markups.contains { $0.kind != .external && $0.kind != .hidden }
  }

  private mutating func addSegment(_ passage: TweePassage, _ scanner: inout TweeScanner) {
    let index = Int32(truncatingIfNeeded: table.segments.count)
    var segment = StoryTable.Segment(
      start: UInt32(truncatingIfNeeded: passage.start),
      firstChoice: Int32(truncatingIfNeeded: table.choices.count))
    segment.id = passage.name
    segment.text = bytes.slice(passage.body)
    segment.flags = [.hasID, .hasChoices]
    if passage.isAuthentic { segment.flags.insert(.isAuthentic) }
    if passage.name.count == 0 { note(.invalidID, at: passage.start, segment: index, field: .id) }
    let metadata = header(passage).metadata
    if !metadata.isEmpty, (try? JSONScanner.check(bytes.raw(metadata))) == nil {
      note(.wrongType, at: metadata.lowerBound, "has metadata that is not JSON", segment: index)
    }
    scanner.scan(passage.body)
    for markup in scanner.markups {
      switch markup.kind {
      case .link, .macro: addChoice(markup, scanner.names)
      case .jump:
        segment.flags.insert(.jumps)
        note(.dynamicJump, at: markup.range.lowerBound, segment: index)
      case .external, .hidden: break
      }
    }
    dropRepeatedMacros(from: Int(segment.firstChoice))
    checkTexts(from: Int(segment.firstChoice), of: index)
    segment.choiceCount = Int32(truncatingIfNeeded: table.choices.count) - segment.firstChoice
    segment.words = UInt32(truncatingIfNeeded: words(passage.body, scanner.markups))
    if passage.body.isEmpty { note(.emptyText, at: passage.start, segment: index, field: .text) }
    table.segments.append(segment)
  }

  private mutating func addChoice(_ markup: TweeMarkup, _ names: TweeNames) {
    var choice = StoryTable.Choice(start: UInt32(truncatingIfNeeded: markup.range.lowerBound))
    choice.target = slice(markup.target, markup.isTargetEscaped)
    // A macro displays a special passage, which is not a segment.
    guard !names.isSpecial(table.text.bytes(choice.target)) else { return }
    choice.flags.insert(.hasTarget)
    if let text = markup.text {
      choice.text = slice(text, markup.isTextEscaped)
      choice.flags.insert(.hasText)
    }
    table.choices.append(choice)
  }

  /// Removes the macros without a text of the last segment that have the same target as another of its
  /// choices.
  private mutating func dropRepeatedMacros(from first: Int) {
    let count = table.choices.count - first
    guard count > 1, table.choices[first...].contains(where: { !$0.flags.contains(.hasText) }) else { return }
    var targets = StoryIDTable(capacity: count)
    let text = table.text
    // Choices with a text are kept, and are inserted first.
    for withText in [true, false] {
      for index in first..<table.choices.count where table.choices[index].flags.contains(.hasText) == withText
      {
        let earlier = targets.insert(index, text.bytes(table.choices[index].target))
        if earlier != nil, !withText { table.choices[index].flags = [] }
      }
    }
    let kept = table.choices[first...].filter { $0.flags.contains(.hasTarget) }
    table.choices.replaceSubrange(first..., with: kept)
  }

  private mutating func checkTexts(from first: Int, of segment: Int32) {
    for index in first..<table.choices.count where table.choices[index].flags.contains(.hasText) {
      let choice = table.choices[index]
      if WordCount.count(table.text.bytes(choice.text), isEscaped: false) == 0 {
        note(
          .emptyText, at: Int(choice.start), segment: segment, choice: Int32(truncatingIfNeeded: index),
          field: .text)
      }
    }
  }

  /// Returns the number of visible words: without macros and comments, and with links as their texts.
  private mutating func words(_ body: Range<Int>, _ markups: ContiguousArray<TweeMarkup>) -> Int {
    guard !markups.isEmpty else { return WordCount.count(bytes.raw(body), isEscaped: false) }
    visible.removeAll(keepingCapacity: true)
    var cursor = body.lowerBound
    for markup in markups where markup.range.lowerBound >= cursor {
      visible.append(contentsOf: bytes.raw(bytes.range(cursor, markup.range.lowerBound)))
      if let text = markup.text { visible.append(contentsOf: bytes.raw(text)) }
      cursor = markup.range.upperBound
    }
    visible.append(contentsOf: bytes.raw(bytes.range(cursor, body.upperBound)))
    return visible.withUnsafeBytes { WordCount.count($0, isEscaped: false) }
  }
}
