import SatchelJSON
import SatchelStorage

/// Fills a `StoryTable` from Twee 3: its slices are those of the Twee text, so that rules, places, counts and pictures
/// work as for a story of this library's own format.
///
/// A passage is a segment, a link a choice. A macro that leads to a passage by name is a choice too, and so is one that
/// shows a passage within another: the passage is reached, though its reader stays. Two macros of one passage that
/// lead to the same place are one choice.
struct TweeReader {
  let bytes: TweeBytes
  var table: StoryTable
  private(set) var passages: ContiguousArray<TweePassage> = []
  private(set) var format = TweeFormat.unknown
  /// Of the first StoryData, when it is JSON.
  private(set) var dataBody: Range<Int>?
  private var startName: (name: StorySlice, offset: Int)?
  /// What a reader sees of the passage at hand.
  var visible: [UInt8] = []

  /// Reads a story's text.
  ///
  /// - Throws: `SatchelError` `.invalid` with line and column where the text holds a NUL, is no UTF-8, or has no
  ///   passage.
  static func read(_ source: UnsafeRawBufferPointer) throws -> StoryTable {
    try TweeReader(source).table
  }

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
    // A byte-order mark is of no meaning in UTF-8.
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
      note(.wrongType, at: before.lowerBound, "what stands before the first passage is of none")
    }
  }

  /// The body of the passage before: blank lines at its end are not part of it.
  private mutating func endPassage(at end: Int) {
    guard let body = passages.last?.body else { return }
    var last = end
    while last > body.lowerBound, TweeBytes.isSpace(bytes[last - 1]) { last -= 1 }
    passages[passages.count - 1].body = bytes.range(min(body.lowerBound, end), last)
  }

  /// A text with its escapes resolved.
  mutating func slice(_ range: Range<Int>, _ isEscaped: Bool) -> StorySlice {
    guard isEscaped else { return bytes.slice(range) }
    return table.text.keep(TweeEscape.resolved(bytes.raw(range)), from: range.lowerBound)
  }

  private func first(_ name: StaticString) -> TweePassage? {
    passages.first {
      !$0.name.isInArena && bytes.equals(Int($0.name.start)..<Int($0.name.start + $0.name.count), name)
    }
  }

  // MARK: - What the special passages say

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
        "StoryData is no JSON: \(error.reason)")
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
    for index in passages.indices { passages[index].classify(bytes, header(passages[index]), format) }
  }

  func header(_ passage: TweePassage) -> TweeHeader { header(at: passage.start) }

  /// The header whose "::" stands at an offset.
  func header(at start: Int) -> TweeHeader {
    TweeHeader(bytes, line: bytes.range(start, bytes.find(0x0A, from: start, to: bytes.count) ?? bytes.count))
  }

  /// The passage that the story begins with; of none by that name, the first of the file.
  mutating func startPassage() -> Int? {
    let name = startName.map { table.text.bytes($0.name) }
    if let name, let found = passages.firstIndex(where: { $0.kind == .segment && isNamed($0, name) }) {
      return found
    }
    let usual = passages.firstIndex {
      $0.kind == .segment && table.text.bytes($0.name).elementsEqual("Start".utf8)
    }
    let fallback = usual ?? passages.firstIndex { $0.kind == .segment }
    // A story without a segment has a finding of its own.
    guard fallback != nil else { return nil }
    if let startName {
      let name = table.text.string(startName.name)
      note(
        .missingField, at: startName.offset,
        "StoryData names \"\(name)\" as the start, but no passage of the story is")
    } else if usual == nil {
      note(.missingField, at: table.start, "no passage is \"Start\", and no StoryData names another start")
    }
    return fallback
  }

  private func isNamed(_ passage: TweePassage, _ name: UnsafeRawBufferPointer) -> Bool {
    passage.name.count == name.count && table.text.bytes(passage.name).elementsEqual(name)
  }

  // MARK: - What is wrong

  mutating func note(
    _ code: StoryFinding.Code, at offset: Int, _ words: String? = nil, segment: Int32 = -1,
    choice: Int32 = -1,
    field: StoryField? = nil
  ) {
    var fault = StoryFault(
      code: code, offset: UInt32(truncatingIfNeeded: offset), segment: segment, choice: choice)
    fault.field = field
    // What Twine and its compilers pass over is no error.
    fault.isMilder = code == .wrongType
    if let words {
      if table.notes.last != words { table.notes.append(words) }
      fault.detail = Int32(truncatingIfNeeded: table.notes.count - 1)
    }
    table.faults.append(fault)
  }
}
