import SatchelCore
import SatchelJSON
import SatchelStories

/// Fills a `StoryTable` from the passages of a game. Its slices refer to the text of the passages, so that rules,
/// locations, counts and drawings work as for a story in this library's format.
///
/// Passages become segments, and links become choices. A macro that leads to a passage by name is also a
/// choice; in the body of a link it has the text of the link. A macro that displays a passage makes it a part
/// of the segment, which has the part's choices too. Where a macro may lead on, there is a dynamic choice. Two macros
/// of one passage with the same target, and without a text, are one choice.
final class TweeReader {
  let bytes: TweeBytes
  var table: StoryTable
  var passages: ContiguousArray<TweePassage> = []
  private(set) var format = TweeFormat.unknown
  /// The body of StoryData, when it is JSON.
  private(set) var dataBody: Range<Int>?
  private var startName: (name: StorySlice, offset: Int)?
  /// The visible text of the current passage.
  var visible: [UInt8] = []
  /// The passages that are only parts of others, in the order of their segments.
  var partPassages: [TweePassage] = []
  /// The macros that display passages, with the offsets of the macros.
  var included: [(segment: Int32, target: StorySlice, offset: Int)] = []
  /// The names of passages that menus and scripts may lead to.
  var entered: [StorySlice] = []

  /// Parses a game of any form.
  ///
  /// - Parameters:
  ///   - files: those that were joined, if there are several
  ///   - story: the number of the story in an archive
  /// - Throws: as `TweeSource`
  init(_ game: UnsafeRawBufferPointer, files: [StoryTable.File] = [], story: Int? = nil) throws {
    let source = try TweeSource(game, files: files, story: story)
    bytes = source.bytes
    table = StoryTable(text: source.text)
    table.isImported = true
    (table.origins, table.files) = (source.origins, files)
    for file in files where file.hasByteOrderMark {
      table.faults.append(StoryFault(code: .byteOrderMark, offset: UInt32(truncatingIfNeeded: file.start)))
    }
    for prelude in source.preludes {
      note(.wrongType, at: prelude.lowerBound, "the text before the first passage belongs to no passage")
    }
    addPassages(source.passages)
    table.start = passages.first?.start ?? 0
    readTitle()
    readData()
    classify()
    fill()
    table.hashTargets()
  }

  // MARK: - Passages

  private func addPassages(_ ranges: ContiguousArray<Range<Int>>) {
    for range in ranges {
      let lineEnd = bytes.find(0x0A, from: range.lowerBound, to: range.upperBound) ?? range.upperBound
      let header = TweeHeader(bytes, line: range.lowerBound..<lineEnd)
      var end = range.upperBound
      while end > lineEnd + 1, TweeBytes.isSpace(bytes[end - 1]) { end -= 1 }
      let body = bytes.range(min(lineEnd + 1, range.upperBound), end)
      let name = slice(header.name, header.isNameEscaped ? .backslashes : .none)
      let hash = StoryIDTable.hash(table.text.bytes(name))
      passages.append(TweePassage(start: range.lowerBound, name: name, nameHash: hash, body: body))
    }
    replaceEarlier()
  }

  /// Removes the passages that a later one of the same name replaces, as compilers do.
  private func replaceEarlier() {
    let text = table.text
    let repeated = DuplicateIDs.find(count: passages.count) {
      passages[$0].nameHash
    } bytes: {
      text.bytes(passages[$0].name)
    }
    guard !repeated.isEmpty else { return }
    var names = StoryIDTable(capacity: passages.count)
    var replaced = Set<Int>()
    for index in passages.indices.reversed() {
      guard let later = names.insert(index, table.text.bytes(passages[index].name)) else { continue }
      replaced.insert(index)
      table.replaced.append(
        StoryTable.Replaced(
          name: passages[index].name, later: UInt32(truncatingIfNeeded: passages[later].start)))
      table.faults.append(
        StoryFault(
          code: .duplicateSegment, offset: UInt32(truncatingIfNeeded: passages[index].start),
          detail: Int32(truncatingIfNeeded: table.replaced.count - 1), isDowngraded: true))
    }
    passages = ContiguousArray(
      passages.indices.lazy.filter { !replaced.contains($0) }.map { [passages] in passages[$0] })
  }

  /// Returns the slice of a string, decoded, and without space around it.
  func slice(_ range: Range<Int>, _ encoding: TweeEncoding) -> StorySlice {
    let text: String
    switch encoding {
    case .none: return bytes.slice(range)
    case .backslashes: text = TweeEscape.resolved(bytes.raw(range))
    case .entities: text = TwineEntity.resolved(bytes, range)
    }
    return table.text.keep(TweeEscape.trimmed(text), from: range.lowerBound)
  }

  private func first(_ name: StaticString) -> TweePassage? {
    passages.first {
      !$0.name.isInArena && bytes.equals(Int($0.name.start)..<Int($0.name.start + $0.name.count), name)
    }
  }

  // MARK: - Special passages

  private func readTitle() {
    guard let title = first("StoryTitle") else { return }
    let body = bytes.trimmed(title.body)
    if !body.isEmpty { table.header[.title] = StoryTable.Value(slice: bytes.slice(body), isEscaped: false) }
  }

  private func readData() {
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
      ? table.text.keep(TweeEscape.trimmed(JSONEscape.resolved(bytes.raw(range))), from: range.lowerBound)
      : bytes.slice(bytes.trimmed(range))
    startName = (name, range.lowerBound)
  }

  private func absolute(_ slice: JSONSlice, _ passage: TweePassage) -> Range<Int> {
    bytes.range(passage.body.lowerBound + slice.start, passage.body.lowerBound + slice.end)
  }

  private func classify() {
    for index in passages.indices { passages[index].classify(by: header(passages[index]), in: bytes, format) }
  }

  func header(_ passage: TweePassage) -> TweeHeader { header(at: passage.start) }

  /// Returns the header whose "::" is at an offset.
  func header(at start: Int) -> TweeHeader {
    TweeHeader(bytes, line: bytes.range(start, bytes.find(0x0A, from: start, to: bytes.count) ?? bytes.count))
  }

  /// Returns the passage that the story starts with; the first one of the file when no passage has the
  /// start's name.
  func startPassage() -> Int? {
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

  func note(
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
