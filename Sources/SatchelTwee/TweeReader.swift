import SatchelCore
import SatchelJSON
import SatchelStories

/// Fills a `StoryTable` from Twee 3. Its slices refer to the Twee text, so that rules, locations, counts and
/// drawings work as for a story in this library's format.
///
/// Passages become segments, and links become choices. A macro that leads to a passage by name is also a
/// choice; in the body of a link it has the text of the link. A macro that displays a passage makes it a part
/// of the segment, which has the part's choices too. Two macros of one passage with the same target, and
/// without a text, are one choice.
struct TweeReader {
  let bytes: TweeBytes
  var table: StoryTable
  var passages: ContiguousArray<TweePassage> = []
  private(set) var format = TweeFormat.unknown
  /// The body of the first StoryData, when it is JSON.
  private(set) var dataBody: Range<Int>?
  private var startName: (name: StorySlice, offset: Int)?
  /// The visible text of the current passage.
  var visible: [UInt8] = []
  /// The passages that are only parts of others, in the order of their segments.
  var partPassages: [TweePassage] = []
  /// The macros that display passages, with the offsets of the macros.
  var included: [(segment: Int32, target: StorySlice, offset: Int)] = []
  /// The names in code that may lead to passages; the segment is -1 outside of segments.
  var mentioned: [(segment: Int32, name: StorySlice)] = []

  /// Parses a story's text.
  ///
  /// - Throws: `SatchelError` `.invalid`, with line and column, when the text contains a NUL, is not UTF-8,
  ///   or has no passage
  init(_ source: UnsafeRawBufferPointer) throws {
    guard source.count <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "the story is larger than 2 GiB")
    }
    bytes = TweeBytes(source: source)
    table = StoryTable(text: StoryText(source))
    table.isImported = true
    try bytes.checkText()
    findPassages()
    guard let first = passages.first else { throw bytes.failure("it has no passage", at: 0) }
    table.start = first.start
    readTitle()
    readData()
    classify()
    fill()
    table.hashIDs()
  }

  // MARK: - Passages

  private mutating func findPassages() {
    // Skips a byte order mark.
    var lineStart = bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
    let prelude = lineStart
    while lineStart < bytes.count {
      let lineEnd = bytes.find(0x0A, from: lineStart, to: bytes.count) ?? bytes.count
      if bytes[lineStart] == UInt8(ascii: ":"), bytes[lineStart + 1] == UInt8(ascii: ":") {
        endPassage(at: lineStart)
        let header = TweeHeader(bytes, line: lineStart..<lineEnd)
        passages.append(
          TweePassage(
            start: lineStart, name: slice(header.name, header.isNameEscaped),
            body: bytes.range(lineEnd + 1, bytes.count)))
      }
      lineStart = lineEnd + 1
    }
    endPassage(at: bytes.count)
    let before = bytes.trimmed(bytes.range(prelude, passages.first?.start ?? 0))
    if !before.isEmpty {
      note(.wrongType, at: before.lowerBound, "the text before the first passage belongs to no passage")
    }
  }

  /// Ends the body of the previous passage, without trailing white space.
  private mutating func endPassage(at end: Int) {
    guard let body = passages.last?.body else { return }
    var last = end
    while last > body.lowerBound, TweeBytes.isSpace(bytes[last - 1]) { last -= 1 }
    passages[passages.count - 1].body = bytes.range(min(body.lowerBound, end), last)
  }

  /// Returns the slice of a string, with its escapes resolved.
  mutating func slice(_ range: Range<Int>, _ isEscaped: Bool) -> StorySlice {
    guard isEscaped else { return bytes.slice(range) }
    return table.text.keep(TweeEscape.resolved(bytes.raw(range)), from: range.lowerBound)
  }

  private func first(_ name: StaticString) -> TweePassage? {
    passages.first {
      !$0.name.isInArena && bytes.equals(Int($0.name.start)..<Int($0.name.start + $0.name.count), name)
    }
  }

  // MARK: - Special passages

  private mutating func readTitle() {
    guard let title = first("StoryTitle") else { return }
    let body = bytes.trimmed(title.body)
    if !body.isEmpty { table.header[.title] = StoryTable.Value(slice: bytes.slice(body), isEscaped: false) }
  }

  private mutating func readData() {
    guard let passage = first("StoryData") else { return }
    let body = bytes.raw(passage.body)
    var data = TweeData(body)
    do {
      try JSONScanner.scan(body, into: &data)
    } catch {
      note(
        .wrongType, at: passage.body.lowerBound + (error.position?.offset ?? 0),
        "StoryData is not JSON: \(error.reason)")
      return
    }
    dataBody = passage.body
    if let name = data.format { format = TweeFormat(name: bytes.string(absolute(name, passage))) }
    guard let start = data.start else { return }
    let range = absolute(start.slice, passage)
    let name =
      start.isEscaped
      ? table.text.keep(JSONEscape.resolved(bytes.raw(range)), from: range.lowerBound) : bytes.slice(range)
    startName = (name, range.lowerBound)
  }

  private func absolute(_ slice: JSONSlice, _ passage: TweePassage) -> Range<Int> {
    bytes.range(passage.body.lowerBound + slice.start, passage.body.lowerBound + slice.end)
  }

  private mutating func classify() {
    for index in passages.indices { passages[index].classify(by: header(passages[index]), in: bytes, format) }
  }

  func header(_ passage: TweePassage) -> TweeHeader { header(at: passage.start) }

  /// Returns the header whose "::" is at an offset.
  func header(at start: Int) -> TweeHeader {
    TweeHeader(bytes, line: bytes.range(start, bytes.find(0x0A, from: start, to: bytes.count) ?? bytes.count))
  }

  /// Returns the passage that the story starts with; the first one of the file when no passage has the
  /// start's name.
  mutating func startPassage() -> Int? {
    let name = startName.map { table.text.bytes($0.name) }
    // Harlowe's tags show a passage elsewhere too.
    let kinds: [TweePassage.Kind] = [.segment, .shownElsewhere]
    if let name, let found = passages.firstIndex(where: { kinds.contains($0.kind) && isNamed($0, name) }) {
      if passages[found].kind == .shownElsewhere { table.hasOutsideLinks = true }
      passages[found].kind = .segment
      return found
    }
    let usual = passages.firstIndex {
      $0.kind == .segment && table.text.bytes($0.name).elementsEqual("Start".utf8)
    }
    let fallback = usual ?? passages.firstIndex { $0.kind == .segment }
    // A story without segments has its own finding.
    guard fallback != nil else { return nil }
    if let startName {
      let name = table.text.string(startName.name)
      note(
        .missingField, at: startName.offset,
        "StoryData names \"\(name)\" as the start, but no segment has this name")
    } else if usual == nil {
      note(.missingField, at: table.start, "no passage has the name \"Start\", and StoryData has no start")
      if first("StoryData") == nil {
        // Compilers of Twee 1 have an option for the start, which can be any passage.
        table.faults[table.faults.count - 1].isDowngraded = true
        table.hasOutsideLinks = true
      }
    }
    return fallback
  }

  private func isNamed(_ passage: TweePassage, _ name: UnsafeRawBufferPointer) -> Bool {
    passage.name.count == name.count && table.text.bytes(passage.name).elementsEqual(name)
  }

  // MARK: - Faults

  mutating func note(
    _ code: StoryFinding.Code, at offset: Int, _ message: String? = nil, segment: Int32 = -1,
    choice: Int32 = -1,
    field: StoryField? = nil
  ) {
    var fault = StoryFault(
      code: code, offset: UInt32(truncatingIfNeeded: offset), segment: segment, choice: choice)
    fault.field = field
    // Twine and its compilers ignore wrong types, so they are warnings.
    fault.isDowngraded = code == .wrongType
    if let message {
      if table.notes.last != message { table.notes.append(message) }
      fault.detail = Int32(truncatingIfNeeded: table.notes.count - 1)
    }
    table.faults.append(fault)
  }
}

/// The members of StoryData that the reader needs. Offsets are relative to the passage's body.
struct TweeData: JSONSink {
  private(set) var start: (slice: JSONSlice, isEscaped: Bool)?
  private(set) var format: JSONSlice?
  private let body: UnsafeRawBufferPointer
  private var depth = 0
  private var field = Field.other

  private enum Field { case start, format, other }

  init(_ body: UnsafeRawBufferPointer) { self.body = body }

  mutating func begin(_ kind: JSONKind, at start: Int) { depth += 1 }

  mutating func end(_ kind: JSONKind, at end: Int) { depth -= 1 }

  mutating func key(_ slice: JSONSlice, isEscaped: Bool) {
    guard depth == 1, !isEscaped else {
      field = .other
      return
    }
    let key = body[slice.start..<slice.end]
    field = key.elementsEqual("start".utf8) ? .start : key.elementsEqual("format".utf8) ? .format : .other
  }

  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {
    guard depth == 1, kind == .string else { return }
    switch field {
    case .start: start = (slice, isEscaped)
    case .format: format = slice
    case .other: break
    }
  }
}
