import SatchelCore
import SatchelJSON
import SatchelStories

/// Creates segments and choices.
extension TweeReader {
  /// Facts that are known only after all passages were scanned, and that decide how they are scanned again.
  struct Roles: Equatable {
    /// Passages with a special tag or name that a link leads to: they are segments.
    var linked: Set<Int> = []
    /// Passages that are only displayed as parts of others: they come last.
    var parts: Set<Int> = []
  }

  func fill() {
    let start = startPassage()
    let faults = table.faults
    var roles = Roles()
    // The first pass finds linked passages; with them, a second one finds parts; a third one has all.
    for _ in 0..<3 {
      (table.faults, table.segments, table.choices) = (faults, [], [])
      (table.namedFiles, included, entered) = ([], [], [])
      for index in roles.linked { passages[index].kind = .segment }
      let found = fill(from: start, roles)
      if found == roles { break }
      roles = found
    }
    partPassages = passages.indices.filter { roles.parts.contains($0) }.map { passages[$0] }
    expandIncludes()
    markEntries()
    for index in table.segments.indices {
      checkTexts(of: index)
      markEnding(index)
    }
    // A menu or a script may offer a way on.
    if table.hasOutsideLinks || !entered.isEmpty { table.faults.removeAll { $0.code == .conditionalDeadEnd } }
    table.segmentsStart = table.segments.first.map { Int($0.start) }
  }

  private func fill(from start: Int?, _ roles: Roles) -> Roles {
    var scanner = TweeScanner(bytes, format, names: TweeNames(passages, table.text, bytes))
    var found = Roles(linked: roles.linked)
    let others = passages.indices.filter { $0 != start && !roles.parts.contains($0) }
    for index in (start.map { [$0] } ?? []) + others + roles.parts.ordered() {
      switch passages[index].kind {
      case .segment: addSegment(passages[index], isPart: roles.parts.contains(index), &scanner, roles: &found)
      case .shownElsewhere, .script: addElsewhere(passages[index], &scanner)
      case .data: break
      }
    }
    guard found.linked == roles.linked, !included.isEmpty else { return found }
    found.parts = roles.parts.isEmpty ? self.parts(start) : roles.parts
    return found
  }

  /// Returns the passages that others display, and no choice leads to. Those that only display each other are none.
  private func parts(_ start: Int?) -> Set<Int> {
    var names = StoryIDTable(capacity: passages.count)
    for (index, passage) in passages.enumerated() where passage.kind == .segment {
      _ = names.insert(index, table.text.bytes(passage.name))
    }
    let links = included.compactMap { include -> (from: Int, to: Int)? in
      guard let from = names.find(table.text.bytes(table.segments[Int(include.segment)].id)),
        let to = names.find(table.text.bytes(include.target))
      else { return nil }
      return (from, to)
    }
    var parts = Set(links.map(\.to))
    for choice in table.choices {
      if let target = names.find(table.text.bytes(choice.target)) { parts.remove(target) }
    }
    if let start { parts.remove(start) }
    var displayed: [Int: [Int]] = [:]
    for link in links where parts.contains(link.to) { displayed[link.from, default: []].append(link.to) }
    var open = displayed.keys.filter { !parts.contains($0) }
    var found: Set<Int> = []
    while let passage = open.popLast() {
      for part in displayed[passage] ?? [] where found.insert(part).inserted { open.append(part) }
    }
    return found
  }

  /// Records where a menu or a script may lead, from any segment.
  private func addElsewhere(_ passage: TweePassage, _ scanner: inout TweeScanner) {
    if passage.kind == .script { scanner.scanScript(passage.body) } else { scanner.scan(passage.body) }
    for markup in scanner.markups {
      switch markup.kind {
      case .link, .macro, .include: entered.append(slice(markup.target, markup.targetEncoding))
      case .jump: table.hasOutsideLinks = true
      case .external, .hidden: break
      }
    }
    if scanner.loadsCode { table.hasOutsideLinks = true }
    for name in scanner.mentions { entered.append(bytes.slice(name)) }
  }

  /// Marks the segments that menus and scripts may lead to.
  private func markEntries() {
    if table.choices.contains(where: { $0.flags.contains(.isDynamic) }) { table.hasPossibleLinks = true }
    guard !entered.isEmpty else { return }
    let names = segmentNames()
    for name in entered {
      // The first segment is reached anyway.
      guard let segment = names.find(table.text.bytes(name)), segment > 0 else { continue }
      table.segments[segment].flags.insert(.mayBeEntered)
      table.hasPossibleLinks = true
    }
  }

  private func addSegment(
    _ passage: TweePassage, isPart: Bool, _ scanner: inout TweeScanner, roles: inout Roles
  ) {
    let index = Int32(truncatingIfNeeded: table.segments.count)
    var segment = StoryTable.Segment(
      start: UInt32(truncatingIfNeeded: passage.start),
      firstChoice: Int32(truncatingIfNeeded: table.choices.count))
    (segment.id, segment.idHash) = (passage.name, passage.nameHash)
    segment.text = bytes.slice(passage.body)
    segment.flags = .imported
    if isPart { segment.flags.insert(.isPart) }
    if passage.isAuthentic { segment.flags.insert(.isAuthentic) }
    if passage.name.count == 0 { note(.invalidID, at: passage.start, segment: index, field: .id) }
    let metadata = header(passage).metadata
    if !metadata.isEmpty, (try? JSONScanner.check(bytes.raw(metadata))) == nil {
      note(.wrongType, at: metadata.lowerBound, "has metadata that is not JSON", segment: index)
    }
    scanner.scan(passage.body)
    // Those that it displays itself.
    var known: Set<Int> = []
    for markup in scanner.markups {
      switch markup.kind {
      case .link, .macro: addChoice(markup, named: scanner.names, &roles)
      case .include:
        let target = slice(markup.target, markup.targetEncoding)
        if let passage = scanner.names.find(table.text.bytes(target)) {
          known.insert(passage)
          if passages[passage].kind == .segment { included.append((index, target, markup.range.lowerBound)) }
        } else {
          addMissing(target, markup)
        }
      case .jump:
        note(.dynamicJump, at: markup.range.lowerBound, segment: index)
        addJump(markup)
      case .external, .hidden: break
      }
    }
    for name in scanner.mentions { addMention(name, named: scanner.names, in: passage, without: known) }
    for path in scanner.files { addFile(path, segment: Int(index)) }
    if scanner.loadsCode { table.hasOutsideLinks = true }
    if scanner.hasWayOn, !scanner.hasSureWayOn, !isPart {
      note(.conditionalDeadEnd, at: passage.start, segment: index)
    }
    Self.dropRepeatedMacros(of: &table, from: Int(segment.firstChoice))
    segment.choiceCount = Int32(truncatingIfNeeded: table.choices.count) - segment.firstChoice
    segment.words = UInt32(truncatingIfNeeded: words(passage.body, scanner.markups))
    if passage.body.isEmpty { note(.emptyText, at: passage.start, segment: index, field: .text) }
    table.segments.append(segment)
  }

  // MARK: - Choices

  private func addChoice(_ markup: TweeMarkup, named names: TweeNames, _ roles: inout Roles) {
    var choice = choice(markup)
    choice.target = slice(markup.target, markup.targetEncoding)
    if let special = names.special(table.text.bytes(choice.target)) {
      // Code is never displayed.
      guard passages[special].kind != .script, passages[special].body != dataBody else { return }
      roles.linked.insert(special)
    }
    choice.flags.insert(.hasTarget)
    table.choices.append(choice)
  }

  /// Returns a choice with the text of a link or macro, if it has one.
  private func choice(_ markup: TweeMarkup) -> StoryTable.Choice {
    var choice = StoryTable.Choice(start: UInt32(truncatingIfNeeded: markup.range.lowerBound))
    if let text = markup.text {
      choice.text = slice(text, markup.isTextEscaped ? .backslashes : .none)
      choice.flags.insert(.hasText)
    }
    return choice
  }

  /// Adds a choice that leads where only the game knows.
  private func addJump(_ markup: TweeMarkup) {
    var choice = choice(markup)
    choice.flags.insert(.isDynamic)
    table.choices.append(choice)
  }

  /// Adds a passage that code names, and perhaps leads to.
  private func addMention(
    _ name: Range<Int>, named names: TweeNames, in passage: TweePassage, without known: Set<Int>
  ) {
    guard let target = names.find(bytes.raw(name)), passages[target].kind == .segment,
      passages[target].start != passage.start, !known.contains(target)
    else { return }
    var choice = StoryTable.Choice(start: UInt32(truncatingIfNeeded: name.lowerBound))
    choice.target = passages[target].name
    choice.flags = [.isDynamic, .hasTarget]
    table.choices.append(choice)
  }

  /// Adds a macro that displays a passage that does not exist.
  private func addMissing(_ target: StorySlice, _ markup: TweeMarkup) {
    var choice = StoryTable.Choice(start: UInt32(truncatingIfNeeded: markup.range.lowerBound))
    choice.target = target
    choice.flags = [.hasTarget, .isDisplay]
    table.choices.append(choice)
  }

  /// Marks a segment that has no choices, but code that may lead on, as an ending.
  private func markEnding(_ index: Int) {
    let range = table.choiceRange(index)
    guard !range.isEmpty, !table.segments[index].flags.contains(.isPart) else { return }
    let isEnding = range.allSatisfy {
      let flags = table.choices[$0].flags
      return flags.contains(.isDisplay)
        || flags.contains([.isDynamic, .hasTarget]) && !flags.contains(.hasText)
    }
    if isEnding { table.segments[index].flags.insert(.isMarkedEnding) }
  }

  /// Adds a file that a passage displays, by the path of a URL: without query and fragment, and decoded.
  private func addFile(_ range: Range<Int>, segment: Int) {
    let text = bytes.string(range)
    let path = StoryPath.isAddress(text.utf8) ? text : Self.decoded(text)
    table.namedFiles.append(
      StoryTable.NamedFile(
        path: path.utf8.count == range.count
          ? bytes.slice(range) : table.text.keep(path, from: range.lowerBound),
        start: range.lowerBound, segment: segment, field: .text))
  }

  private static func decoded(_ url: String) -> String {
    let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    var (decoded, index) = ([UInt8](), 0)
    while index < bytes.count {
      let digits = bytes[index...].dropFirst().prefix(2)
      if bytes[index] == UInt8(ascii: "%"), digits.count == 2,
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private func checkTexts(of segment: Int) {
    for index in table.choiceRange(segment) {
      let choice = table.choices[index]
      guard choice.flags.contains(.hasText), !choice.flags.contains(.isIncluded) else { continue }
      if WordCount.count(table.text.bytes(choice.text), isEscaped: false) == 0 {
        note(
          .emptyText, at: Int(choice.start), segment: Int32(truncatingIfNeeded: segment),
          choice: Int32(truncatingIfNeeded: index), field: .text)
      }
    }
  }

  /// Returns the number of visible words: without macros and comments, and with links as their texts.
  private func words(_ body: Range<Int>, _ markups: ContiguousArray<TweeMarkup>) -> Int {
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
