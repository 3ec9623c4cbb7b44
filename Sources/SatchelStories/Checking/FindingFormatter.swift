import SatchelCore
import SatchelJSON

/// Turns faults into findings with messages and locations.
struct FindingFormatter {
  private let analysis: StoryAnalysis
  /// In the order of the file.
  private let faults: ArraySlice<StoryFault>
  /// For targets that do not exist, the segment that was probably meant.
  private let nearest: [[UInt8]: Int]
  private let missing: MissingFiles?
  /// For the offsets of the other segments of duplicates, their places.
  private var others: [Int: String] = [:]

  private var table: StoryTable { analysis.table }

  init(
    _ analysis: StoryAnalysis, _ faults: ArraySlice<StoryFault>, nearest: [[UInt8]: Int] = [:],
    _ missing: MissingFiles? = nil
  ) {
    (self.analysis, self.faults) = (analysis, faults)
    (self.nearest, self.missing) = (nearest, missing)
    var places = StoryPlaces(table)
    let offsets = Set(faults.compactMap { $0.code == .duplicateSegment ? otherOffset($0) : nil })
    for offset in offsets.ordered(by: { $0 < $1 }) { others[offset] = places.place(offset).text }
  }

  /// Returns the findings of the faults.
  func findings() -> [StoryFinding] {
    var places = StoryPlaces(table)
    // Of the passage of the last finding.
    var lines = (segment: Int32(-1), counter: LineCounter(UnsafeRawBufferPointer(start: nil, count: 0)))
    return faults.map { fault in
      if fault.segment >= 0, fault.segment != lines.segment {
        lines = (fault.segment, LineCounter(table.text.bytes(table.segments[Int(fault.segment)].text)))
      }
      let place = places.place(Int(fault.offset))
      var finding = StoryFinding(
        fault.code, severity: fault.severity, pointer: pointer(fault), position: place.position,
        message: message(fault), suggestion: suggestion(fault))
      finding.file = place.file
      finding.scalarColumn = place.scalarColumn
      (finding.passage, finding.isInPage) = (passage(fault, &lines.counter), table.origins != nil)
      return finding
    }
  }

  /// Returns the place of a fault in the text of its passage.
  private func passage(_ fault: StoryFault, _ lines: inout LineCounter) -> StoryFinding.Passage? {
    guard table.isImported, fault.segment >= 0 else { return nil }
    let segment = table.segments[Int(fault.segment)]
    let position = lines.position(Int(fault.offset) - Int(segment.text.start))
    return StoryFinding.Passage(
      name: table.text.string(segment.id), line: position.line, column: position.column)
  }

  private func suggestion(_ fault: StoryFault) -> String? {
    if fault.code == .missingAsset { return missing?.suggestion(fault) }
    guard fault.code == .brokenChoice, fault.choice >= 0 else { return nil }
    return nearest[Array(table.text.bytes(table.choices[Int(fault.choice)].target))].map { analysis.id($0) }
  }

  // MARK: - Locations

  private func pointer(_ fault: StoryFault) -> String {
    guard fault.segment >= 0 else {
      guard let field = fault.field, fault.code != .missingField else { return "" }
      if field == .segments, table.segmentsStart == nil, fault.code != .wrongType { return "" }
      return "/\(field.name)" + element(fault)
    }
    // The JSON that a Twee story converts to has its parts after its segments.
    let isPart = table.segments[Int(fault.segment)].flags.contains(.isPart)
    if isPart { return "/twinePassages/\(Int(fault.segment) - table.partsStart)" }
    var pointer = "/segments/\(fault.segment)"
    if fault.choice >= 0 {
      pointer += "/choices/\(fault.choice - table.segments[Int(fault.segment)].firstChoice)"
    }
    guard let field = fault.field, fault.code != .missingField else { return pointer }
    // The element itself is of the wrong type.
    if field == .segments || (field == .choices && fault.choice >= 0) { return pointer }
    return pointer + "/\(field.name)" + element(fault)
  }

  /// Returns the last part of a pointer into a member that is an array.
  private func element(_ fault: StoryFault) -> String {
    guard fault.detail >= 0, let field = fault.field, field == .tags || field.shape == .media else {
      return ""
    }
    guard fault.code == .missingAsset else { return "/\(fault.detail)" }
    let index = table.namedFiles[Int(fault.detail)].index
    return index < 0 ? "" : "/\(index)"
  }

  // MARK: - Messages

  /// The maximum size of a name in a message, in bytes: long names in a million messages would exhaust the
  /// memory.
  private static let maxNameBytes = 200

  /// Returns a name in quotes, truncated when it is too long.
  private func quoted(_ slice: StorySlice) -> String { quoted(table.text.bytes(slice)) }

  private func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.count > Self.maxNameBytes else { return "\"\(String(decoding: bytes, as: UTF8.self))\"" }
    var end = Self.maxNameBytes
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return "\"\(String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self))…\""
  }

  private func quoted(_ segment: Int) -> String { quoted(table.segments[segment].id) }

  /// Returns `segment "x"`, or the segment's number when it has no id.
  private func name(_ segment: Int) -> String {
    table.segments[segment].flags.contains(.hasID) ? "segment \(quoted(segment))" : "segment \(segment)"
  }

  /// Returns `the story`, `segment "x"` or `choice "y" of segment "x"`.
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
    if table.isImported, fault.code == .wrongType || fault.code == .missingField,
      table.notes.indices.contains(Int(fault.detail))
    {
      let note = table.notes[Int(fault.detail)]
      return fault.segment >= 0 ? "\(subject(fault)) \(note)" : note
    }
    switch fault.code {
    case .noSegments: return "the story has no segments"
    case .brokenChoice:
      let choice = table.choices[Int(fault.choice)]
      let verb =
        choice.flags.contains(.isDisplay) ? "\(name(segment)) displays" : "\(subject(fault)) leads to"
      return "\(verb) \(quoted(choice.target)), which does not exist"
        + more(fault, "that cannot be reached without it")
    case .noAuthenticPath: return "no segment is on the authentic path"
    case .unreachable:
      return "\(subject(fault)) cannot be reached from \(name(0))" + more(fault, "that only it leads to")
        + elsewhere(fault)
    case .trap:
      return "no ending can be reached from \(subject(fault))" + more(fault, "that it leads to")
        + elsewhere(fault)
    case .noEnding:
      return "no ending can be reached from the first segment, \(name(0))" + elsewhere(fault)
    case .authenticPathBroken:
      return table.segments[0].flags.contains(.isAuthentic)
        ? "the authentic path ends at \(subject(fault)), which is not an ending and leads to no further authentic segment"
        : "the authentic path does not start at the first segment, \(name(0))"
    case .duplicateSegment:
      guard fault.segment >= 0 else {
        let name = quoted(table.replaced[Int(fault.detail)].name)
        return
          "the passage \(name) is replaced by the one of this name at \(others[otherOffset(fault)] ?? "")"
      }
      return
        "the id \(quoted(segment)) is already used by segment \(fault.detail), at \(others[otherOffset(fault)] ?? "")"
    case .duplicateChoice:
      let id = quoted(table.choices[Int(fault.choice)].id)
      return fault.isDowngraded
        ? "the id \(id) is already used by a choice of \(name(table.segment(ofChoice: Int(fault.detail))))"
        : "\(name(segment)) has two choices with the id \(id)"
    case .missingField: return "\(subject(fault)) has no \"\(field)\""
    case .wrongType: return wrongType(fault)
    case .invalidID:
      return fault.segment >= 0
        ? "\(subject(fault)) has an empty id"
        : "the story's id is not a valid name: it must not be empty, contain \"/\", \"\\\" or control characters, start with \".\","
          + " or be longer than 200 bytes"
    case .endingWithChoices: return "\(subject(fault)) is marked as an ending, but has choices"
    case .unmarkedEnding: return "\(subject(fault)) has no choices, but is not marked as an ending"
    case .emptyText: return "\(field) of \(subject(fault)) has no words"
    case .selfChoice: return "\(subject(fault)) leads back to its own segment"
    case .duplicateChoiceText:
      return "\(name(segment)) has two choices with the text \(quoted(table.choices[Int(fault.choice)].text))"
    case .malformedAgeRange:
      return
        "the age range \(quoted(table.header[.ageRange]?.slice ?? .none)) is neither of the form \"5-8\" nor of the form \"12+\""
    case .readingTime: return readingTime()
    case .dynamicJump:
      return "\(subject(fault)) has a link or macro whose target is known only when the story is played"
    case .missingAsset:
      let file = table.namedFiles[Int(fault.detail)]
      return "\(field) of \(subject(fault)) names \(quoted(file.path)), \(missing?.reason(fault) ?? "")"
    case .conditionalDeadEnd:
      return "each choice of \(subject(fault)) depends on a condition: where none is true, there is no way on"
    case .byteOrderMark: return "the text starts with a byte-order mark, which is ignored"
    case .duplicateStory, .unreadable, .notJSON, .notAStory: return fault.code.summary
    }
  }

  /// Returns the offset of the other segment of a duplicate.
  private func otherOffset(_ fault: StoryFault) -> Int {
    fault.segment < 0
      ? Int(table.replaced[Int(fault.detail)].later) : Int(table.segments[Int(fault.detail)].start)
  }

  /// Returns the number of segments with faults that follow from this one.
  private func more(_ fault: StoryFault, _ relation: String) -> String {
    guard fault.detail > 0 else { return "" }
    return ", with \(fault.detail) \(fault.detail == 1 ? "segment" : "segments") \(relation)"
  }

  private func elsewhere(_ fault: StoryFault) -> String {
    fault.isDowngraded ? "; a menu, a macro or a script may lead there" : ""
  }

  private func wrongType(_ fault: StoryFault) -> String {
    guard let field = fault.field else { return fault.code.summary }
    switch field {
    case .tags where fault.detail >= 0: return "a tag must be a string"
    case .image where fault.detail >= 0, .sound where fault.detail >= 0:
      return "an element of \(field.name) of \(subject(fault)) must be a path or a reference to an asset"
    case .segments where fault.segment >= 0: return "a segment must be an object"
    case .choices where fault.choice >= 0: return "a choice must be an object"
    case .entry: return "entry of \(subject(fault)) must be \"possible\""
    default: return "\(field.name) of \(subject(fault)) must be \(field.shape.name)"
    }
  }

  private func readingTime() -> String {
    let minutes = table.integer(.estimatedReadingMinutes) ?? 0
    guard let span = analysis.readingTime else { return "\(minutes) minutes" }
    let words =
      span.minWords == span.maxWords
      ? "\(span.maxWords)" : "\(span.minWords) to \(span.maxWords)"
    return "\(minutes) minutes are estimated, but a reading has \(words) words"
  }
}
