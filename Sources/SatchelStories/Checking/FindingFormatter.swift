#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SatchelJSON

/// Turns faults into findings with messages and locations.
struct FindingFormatter {
  private let analysis: StoryAnalysis
  private let missing: MissingFiles?
  private let lines: LineCounter

  private var table: StoryTable { analysis.table }

  init(_ analysis: StoryAnalysis, _ missing: MissingFiles? = nil) {
    self.analysis = analysis
    self.missing = missing
    lines = LineCounter(analysis.table.text.source)
  }

  /// Returns the findings of faults that are sorted by offset.
  func findings(_ faults: some Collection<StoryFault>) -> [StoryFinding] {
    var lines = lines
    var file = -1
    let nearest = nearestIDs(faults)
    return faults.map { fault in
      var offset = Int(fault.offset)
      while file + 1 < table.files.count, table.files[file + 1].start <= offset {
        file += 1
        lines = LineCounter(UnsafeRawBufferPointer(rebasing: table.text.source[table.files[file].start...]))
      }
      if file >= 0 { offset -= table.files[file].start }
      var finding = StoryFinding(
        fault.code, severity: fault.severity, pointer: pointer(fault),
        position: lines.position(offset), message: message(fault),
        suggestion: suggestion(fault, nearest))
      finding.file = file >= 0 ? table.files[file].name : nil
      finding.scalarColumn = lines.scalarColumn
      return finding
    }
  }

  private func nearestIDs(_ faults: some Collection<StoryFault>) -> [[UInt8]: Int] {
    var missing: [[UInt8]] = []
    var seen: Set<[UInt8]> = []
    for fault in faults where fault.code == .brokenChoice && fault.choice >= 0 {
      let target = Array(table.text.bytes(table.choices[Int(fault.choice)].target))
      if seen.insert(target).inserted { missing.append(target) }
    }
    return NearestID.segments(for: missing, in: analysis)
  }

  private func suggestion(_ fault: StoryFault, _ nearest: [[UInt8]: Int]) -> String? {
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
      return fault.isDowngraded
        ? "\(subject(fault)) cannot be reached by links from \(name(0)); a menu, a macro or a script may lead there"
        : "\(subject(fault)) cannot be reached from \(name(0))"
    case .trap: return "no ending can be reached from \(subject(fault))"
    case .noEnding: return "no ending can be reached from the first segment, \(name(0))"
    case .authenticPathBroken:
      return table.segments[0].flags.contains(.isAuthentic)
        ? "the authentic path ends at \(subject(fault)), which is not an ending and leads to no further authentic segment"
        : "the authentic path does not start at the first segment, \(name(0))"
    case .duplicateSegment:
      return "the id \(quoted(segment)) is already used by segment \(fault.detail)"
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
    case .byteOrderMark: return "the text starts with a byte-order mark, which is ignored"
    case .duplicateStory, .unreadable, .notJSON, .notAStory: return fault.code.summary
    }
  }

  private func wrongType(_ fault: StoryFault) -> String {
    guard let field = fault.field else { return fault.code.summary }
    switch field {
    case .tags where fault.detail >= 0: return "a tag must be a string"
    case .image where fault.detail >= 0, .sound where fault.detail >= 0:
      return "an element of \(field.name) of \(subject(fault)) must be a path or a reference to an asset"
    case .segments where fault.segment >= 0: return "a segment must be an object"
    case .choices where fault.choice >= 0: return "a choice must be an object"
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

/// Converts offsets to lines and columns, in one pass over the text when the offsets are ascending.
struct LineCounter {
  private let text: UnsafeRawBufferPointer
  private var line = 1
  private var lineStart = 0
  /// The offset up to which line breaks are counted.
  private var counted = 0
  /// The number of UTF-8 continuation bytes in the line, up to that offset.
  private var continued = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// The column of the last position, in Unicode scalars instead of bytes.
  var scalarColumn: Int { counted - lineStart - continued + 1 }

  mutating func position(_ offset: Int) -> JSONPosition {
    let offset = min(max(offset, 0), text.count)
    if offset < counted { (line, lineStart, counted, continued) = (1, 0, 0, 0) }
    while counted < offset, let base = text.baseAddress,
      let end = memchr(base + counted, 0x0A, offset - counted)
    {
      line += 1
      lineStart = UnsafeRawPointer(end) - base + 1
      (counted, continued) = (lineStart, 0)
    }
    for byte in text[counted..<offset] where byte & 0xC0 == 0x80 { continued += 1 }
    counted = offset
    return JSONPosition(offset: offset, line: line, column: offset - lineStart + 1)
  }
}
