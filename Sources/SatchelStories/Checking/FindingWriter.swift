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
  func findings(_ faults: ContiguousArray<StoryFault>) -> [StoryFinding] {
    var lines = lines
    let nearest = nearestIDs(faults)
    return faults.map { fault in
      StoryFinding(
        fault.code, severity: fault.isMilder ? .warning : nil, pointer: pointer(fault),
        position: lines.position(Int(fault.offset)), message: message(fault),
        suggestion: suggestion(fault, nearest))
    }
  }

  private func nearestIDs(_ faults: ContiguousArray<StoryFault>) -> [[UInt8]: Int] {
    var missing: Set<[UInt8]> = []
    for fault in faults where fault.code == .brokenChoice {
      missing.insert(Array(table.text.bytes(table.choices[Int(fault.choice)].target)))
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

  private func pointer(ofChoice index: Int, in segment: Int) -> String {
    "/segments/\(segment)/choices/\(index - Int(table.segments[segment].firstChoice))"
  }

  // MARK: - Words

  private func quoted(_ segment: Int) -> String { "\"\(analysis.id(segment))\"" }

  /// "the story", "segment "x"", "choice "y" of segment "x"".
  private func subject(_ fault: StoryFault) -> String {
    guard fault.segment >= 0 else { return "the story" }
    let segment = Int(fault.segment)
    let name =
      table.segments[segment].flags.contains(.hasID) ? "segment \(quoted(segment))" : "segment \(segment)"
    guard fault.choice >= 0 else { return name }
    let choice = table.choices[Int(fault.choice)]
    let number = fault.choice - table.segments[segment].firstChoice
    return choice.flags.contains(.hasID)
      ? "choice \"\(table.text.string(choice.id))\" of \(name)" : "choice \(number) of \(name)"
  }

  private func message(_ fault: StoryFault) -> String {
    let segment = Int(fault.segment)
    let field = fault.field?.name ?? ""
    switch fault.code {
    case .noSegments: return "the story has no segments"
    case .brokenChoice:
      let target = table.text.string(table.choices[Int(fault.choice)].target)
      return "\(subject(fault)) leads to \"\(target)\", which does not exist"
    case .noAuthenticPath: return "no segment is on the authentic path"
    case .unreachable:
      return fault.isMilder
        ? "\(subject(fault)) cannot be reached by links from \(quoted(0)); a macro that jumps may lead there"
        : "\(subject(fault)) cannot be reached from \(quoted(0))"
    case .trap: return "no ending can be reached from \(subject(fault))"
    case .noEnding: return "no ending can be reached from the first segment, \(quoted(0))"
    case .authenticPathBroken:
      return table.segments[0].flags.contains(.isAuthentic)
        ? "the authentic path ends at \(subject(fault)), which is no ending and leads to no authentic segment beyond"
        : "the authentic path does not begin at the first segment, \(quoted(0))"
    case .duplicateSegment:
      return "the id \(quoted(segment)) is already that of segment \(fault.detail)"
    case .duplicateChoice:
      let id = table.text.string(table.choices[Int(fault.choice)].id)
      return fault.isMilder
        ? "the id \"\(id)\" is already that of a choice of \(owner(of: Int(fault.detail)))"
        : "segment \(quoted(segment)) has two choices with the id \"\(id)\""
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
      let text = table.text.string(table.choices[Int(fault.choice)].text)
      return "segment \(quoted(segment)) has two choices with the text \"\(text)\""
    case .malformedAgeRange:
      return "the age range \"\(table.string(.ageRange) ?? "")\" is neither like \"5-8\" nor like \"12+\""
    case .readingTime: return readingTime()
    case .dynamicJump:
      return "\(subject(fault)) has a macro whose target is known only when it is played"
    case .duplicateStory, .unreadable, .notJSON, .notAStory: return fault.code.summary
    }
  }

  private func owner(of choice: Int) -> String {
    // Segments lie in the order of their choices.
    var low = 0
    var high = table.segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(table.segments[middle].firstChoice) <= choice { low = middle } else { high = middle }
    }
    return "segment \(quoted(low))"
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
    guard let span = ReadingTime(analysis) else { return "\(minutes) minutes" }
    let words =
      span.fewestWords == span.mostWords
      ? "\(span.mostWords)" : "\(span.fewestWords) to \(span.mostWords)"
    return "\(minutes) minutes are estimated, but a reading has \(words) words"
  }
}
