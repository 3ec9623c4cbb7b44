import SatchelJSON

/// Puts faults into words, with their places.
struct FindingWriter {
  private let analysis: StoryAnalysis
  private let lines: LineCounter

  private var table: StoryTable { analysis.table }

  init(_ analysis: StoryAnalysis) {
    self.analysis = analysis
    lines = LineCounter(analysis.table.text.source)
  }

  /// Findings of faults that are ordered by offset.
  func findings(_ faults: some Collection<StoryFault>) -> [StoryFinding] {
    var lines = lines
    let nearest = nearestIDs(faults)
    return faults.map { fault in
      var finding = StoryFinding(
        fault.code, severity: fault.severity, pointer: pointer(fault),
        position: lines.position(Int(fault.offset)), message: message(fault),
        suggestion: suggestion(fault, nearest))
      finding.scalarColumn = lines.scalarColumn
      return finding
    }
  }

  private func nearestIDs(_ faults: some Collection<StoryFault>) -> [[UInt8]: Int] {
    var missing: [[UInt8]] = []
    var seen: Set<[UInt8]> = []
    for fault in faults where fault.code == .brokenChoice {
      let target = Array(table.text.bytes(table.choices[Int(fault.choice)].target))
      if seen.insert(target).inserted { missing.append(target) }
    }
    return NearestID.segments(for: missing, in: analysis)
  }

  private func suggestion(_ fault: StoryFault, _ nearest: [[UInt8]: Int]) -> String? {
    guard fault.code == .brokenChoice else { return nil }
    return nearest[Array(table.text.bytes(table.choices[Int(fault.choice)].target))].map { analysis.id($0) }
  }

  // MARK: - Places

  private func pointer(_ fault: StoryFault) -> String {
    guard fault.segment >= 0 else {
      guard let field = fault.field, fault.code != .missingField else { return "" }
      if field == .segments, table.segmentsStart == nil, fault.code != .wrongType { return "" }
      return fault.field == .tags && fault.detail >= 0 ? "/tags/\(fault.detail)" : "/\(field.name)"
    }
    var pointer = "/segments/\(fault.segment)"
    if fault.choice >= 0 {
      pointer += "/choices/\(fault.choice - table.segments[Int(fault.segment)].firstChoice)"
    }
    guard let field = fault.field, fault.code != .missingField else { return pointer }
    // The element itself is of the wrong type.
    if field == .segments || (field == .choices && fault.choice >= 0) { return pointer }
    return pointer + "/\(field.name)"
  }

  // MARK: - Words

  /// Bytes of a name that a message shows: a long one in a million messages would fill the memory.
  private static let longestName = 200

  /// A name between quotes, cut when it is long.
  private func quoted(_ slice: StorySlice) -> String { quoted(table.text.bytes(slice)) }

  private func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.count > Self.longestName else { return "\"\(String(decoding: bytes, as: UTF8.self))\"" }
    var end = Self.longestName
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return "\"\(String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self))…\""
  }

  private func quoted(_ segment: Int) -> String { quoted(table.segments[segment].id) }

  /// "segment "x"", or by its number where it has no id.
  private func name(_ segment: Int) -> String {
    table.segments[segment].flags.contains(.hasID) ? "segment \(quoted(segment))" : "segment \(segment)"
  }

  /// "the story", "segment "x"", "choice "y" of segment "x"".
  private func subject(_ fault: StoryFault) -> String {
    guard fault.segment >= 0 else { return "the story" }
    let segment = Int(fault.segment)
    guard fault.choice >= 0 else { return name(segment) }
    let choice = table.choices[Int(fault.choice)]
    let number = fault.choice - table.segments[segment].firstChoice
    return choice.flags.contains(.hasID)
      ? "choice \(quoted(choice.id)) of \(name(segment))" : "choice \(number) of \(name(segment))"
  }

  private func message(_ fault: StoryFault) -> String {
    let segment = Int(fault.segment)
    let field = fault.field?.name ?? ""
    if table.isImported, fault.field == nil, table.notes.indices.contains(Int(fault.detail)) {
      let note = table.notes[Int(fault.detail)]
      return fault.segment >= 0 ? "\(subject(fault)) \(note)" : note
    }
    switch fault.code {
    case .noSegments: return "the story has no segments"
    case .brokenChoice:
      return
        "\(subject(fault)) leads to \(quoted(table.choices[Int(fault.choice)].target)), which does not exist"
    case .noAuthenticPath: return "no segment is on the authentic path"
    case .unreachable:
      return fault.isMilder
        ? "\(subject(fault)) cannot be reached by links from \(name(0)); a menu or a macro that jumps may lead there"
        : "\(subject(fault)) cannot be reached from \(name(0))"
    case .trap: return "no ending can be reached from \(subject(fault))"
    case .noEnding: return "no ending can be reached from the first one, \(name(0))"
    case .authenticPathBroken:
      return table.segments[0].flags.contains(.isAuthentic)
        ? "the authentic path ends at \(subject(fault)), which is no ending and leads to no authentic segment beyond"
        : "the authentic path does not begin at the first one, \(name(0))"
    case .duplicateSegment:
      return "the id \(quoted(segment)) is already that of segment \(fault.detail)"
    case .duplicateChoice:
      let id = quoted(table.choices[Int(fault.choice)].id)
      return fault.isMilder
        ? "the id \(id) is already that of a choice of \(name(table.segment(ofChoice: Int(fault.detail))))"
        : "\(name(segment)) has two choices with the id \(id)"
    case .missingField: return "\(subject(fault)) has no \"\(field)\""
    case .wrongType: return wrongType(fault)
    case .invalidID:
      return fault.segment >= 0
        ? "\(subject(fault)) has an empty id"
        : "the story's id is no name: it must not be empty, hold \"/\", \"\\\" or control characters, begin with \".\","
          + " or be longer than 200 bytes"
    case .endingWithChoices: return "\(subject(fault)) is marked as an ending, but has choices"
    case .unmarkedEnding: return "\(subject(fault)) has no choices, but is not marked as an ending"
    case .emptyText: return "\(field) of \(subject(fault)) has no words"
    case .selfChoice: return "\(subject(fault)) leads back to its own segment"
    case .duplicateChoiceText:
      return "\(name(segment)) has two choices with the text \(quoted(table.choices[Int(fault.choice)].text))"
    case .malformedAgeRange:
      return
        "the age range \(quoted(table.header[.ageRange]?.slice ?? .none)) is neither like \"5-8\" nor like \"12+\""
    case .readingTime: return readingTime()
    case .dynamicJump:
      return "\(subject(fault)) has a link or macro whose target is known only when it is played"
    case .duplicateStory, .unreadable, .notJSON, .notAStory: return fault.code.summary
    }
  }

  private func wrongType(_ fault: StoryFault) -> String {
    guard let field = fault.field else { return fault.code.summary }
    switch field {
    case .tags where fault.detail >= 0: return "a tag must be a text"
    case .segments where fault.segment >= 0: return "a segment must be an object"
    case .choices where fault.choice >= 0: return "a choice must be an object"
    default: return "\(field.name) of \(subject(fault)) must be \(field.shape.words)"
    }
  }

  private func readingTime() -> String {
    let minutes = table.integer(.estimatedReadingMinutes) ?? 0
    guard let span = analysis.readingTime else { return "\(minutes) minutes" }
    let words =
      span.fewestWords == span.mostWords
      ? "\(span.mostWords)" : "\(span.fewestWords) to \(span.mostWords)"
    return "\(minutes) minutes are estimated, but a reading has \(words) words"
  }
}
