import SatchelJSON
import SatchelStorage

/// Fills a `StoryTable` from what a `JSONScanner` meets, and notes what is missing or of the wrong type.
struct StoryReader: JSONSink {
  /// Which container the scanner is in.
  private enum Place { case root, story, tags, segments, segment, choices, choice }

  private(set) var table: StoryTable
  /// The text is JSON, but its root is no object.
  private(set) var isNoStory = false
  private var place = Place.root
  /// Containers open that are not looked at.
  private var skipped = 0
  /// The key read last, when it is one that its object knows.
  private var field: StoryField?
  private var storyFields: StoryFields = []
  private var segmentFields: StoryFields = []
  private var choiceFields: StoryFields = []
  private var tagCount: Int32 = 0

  init(_ source: UnsafeRawBufferPointer) {
    table = StoryTable(text: StoryText(source))
    // A guess that spares the growing of the largest arrays: prose makes segments long.
    table.segments.reserveCapacity(source.count / 400)
    table.choices.reserveCapacity(source.count / 250)
  }

  /// Reads a story's text in one pass.
  ///
  /// - Throws: `SatchelError` `.invalid` with an underlying `JSONError` where the text is no JSON or no object.
  static func read(_ source: UnsafeRawBufferPointer) throws -> StoryTable {
    guard source.count <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "the story is larger than 2 GiB")
    }
    var reader = StoryReader(source)
    do {
      try JSONScanner.scan(source, into: &reader)
    } catch {
      throw SatchelError(.invalid, "not JSON: \(error)", underlying: error)
    }
    if reader.isNoStory {
      let error = JSONError(
        "a story is an object", pointer: "", position: JSONPosition(offset: reader.table.start, in: source))
      throw SatchelError(.invalid, "not a story: \(error)", underlying: error)
    }
    return reader.table
  }

  mutating func begin(_ kind: JSONKind, at start: Int) {
    if skipped > 0 {
      skipped += 1
      return
    }
    switch place {
    case .root:
      table.start = start
      isNoStory = kind != .object
      if isNoStory { skipped = 1 } else { place = .story }
    case .story:
      if kind == .array, field == .segments {
        storyFields.insert(StoryFields(.segments))
        table.segmentsStart = start
        place = .segments
      } else if kind == .array, field == .tags {
        storyFields.insert(StoryFields(.tags))
        place = .tags
      } else {
        skip(start)
      }
    case .segments:
      addSegment(at: start)
      if kind == .object {
        segmentFields = []
        place = .segment
      } else {
        skip(start)
      }
    case .segment:
      if kind == .array, field == .choices {
        segmentFields.insert(StoryFields(.choices))
        table.segments[table.segments.count - 1].flags.insert(.hasChoices)
        place = .choices
      } else {
        skip(start)
      }
    case .choices:
      addChoice(at: start)
      if kind == .object {
        choiceFields = []
        place = .choice
      } else {
        skip(start)
      }
    case .choice: skip(start)
    case .tags: skip(start)
    }
  }

  mutating func end(_ kind: JSONKind, at end: Int) {
    if skipped > 0 {
      skipped -= 1
      if skipped == 0, place == .tags { tagCount += 1 }
      return
    }
    switch place {
    case .root: break
    case .story:
      missing(.requiredOfStory, storyFields, of: StoryField.ofStory, at: UInt32(table.start))
      place = .root
    case .tags, .segments: place = .story
    case .segment:
      missing(
        .requiredOfSegment, segmentFields, of: StoryField.ofSegment,
        at: table.segments[table.segments.count - 1].start)
      place = .segments
    case .choices: place = .segment
    case .choice:
      missing(
        .requiredOfChoice, choiceFields, of: StoryField.ofChoice,
        at: table.choices[table.choices.count - 1].start)
      place = .choices
    }
  }

  mutating func key(_ slice: JSONSlice, isEscaped: Bool) {
    guard skipped == 0 else { return }
    field = recognized(slice, isEscaped: isEscaped)
  }

  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {
    guard skipped == 0 else { return }
    switch place {
    case .root: isNoStory = true
    case .story: storyScalar(kind, slice, isEscaped)
    case .segment: segmentScalar(kind, slice, isEscaped)
    case .choice: choiceScalar(kind, slice, isEscaped)
    case .tags:
      if kind == .string {
        table.tags.append(kept(slice, isEscaped))
      } else {
        table.faults.append(StoryFault(code: .wrongType, offset: offset(slice, kind), field: .tags, detail: tagCount))
      }
      tagCount += 1
    case .segments:
      addSegment(at: Int(offset(slice, kind)))
      wrongType(.segments, at: offset(slice, kind))
    case .choices:
      addChoice(at: Int(offset(slice, kind)))
      wrongType(.choices, at: offset(slice, kind))
    }
  }

  // MARK: - Records

  private mutating func addSegment(at start: Int) {
    table.segments.append(
      StoryTable.Segment(
        start: UInt32(truncatingIfNeeded: start), firstChoice: Int32(truncatingIfNeeded: table.choices.count)))
  }

  private mutating func addChoice(at start: Int) {
    table.choices.append(StoryTable.Choice(start: UInt32(truncatingIfNeeded: start)))
    table.segments[table.segments.count - 1].choiceCount += 1
  }

  private mutating func storyScalar(_ kind: JSONKind, _ slice: JSONSlice, _ isEscaped: Bool) {
    guard let field, fits(kind, field, slice) else { return }
    storyFields.insert(StoryFields(field))
    guard kind != .null else { return }
    let value = StorySlice(start: UInt32(slice.start), count: UInt32(slice.count))
    table.header[field] = StoryTable.Value(slice: value, isEscaped: isEscaped)
    switch field {
    case .title, .author, .synopsis: checkText(slice, isEscaped, field)
    case .id: checkID(kept(slice, isEscaped), of: field)
    default: break
    }
  }

  private mutating func segmentScalar(_ kind: JSONKind, _ slice: JSONSlice, _ isEscaped: Bool) {
    guard let field, fits(kind, field, slice) else { return }
    segmentFields.insert(StoryFields(field))
    let last = table.segments.count - 1
    switch field {
    case .id:
      let id = kept(slice, isEscaped)
      table.segments[last].id = id
      table.segments[last].flags.insert(.hasID)
      checkID(id, of: field)
    case .text:
      table.segments[last].text = StorySlice(start: UInt32(slice.start), count: UInt32(slice.count))
      if isEscaped { table.segments[last].flags.insert(.isTextEscaped) }
      table.segments[last].words = checkText(slice, isEscaped, field)
    case .isAuthenticPath: if slice.count == 4 { table.segments[last].flags.insert(.isAuthentic) }
    case .isEnding: if slice.count == 4, kind == .bool { table.segments[last].flags.insert(.isMarkedEnding) }
    default: break
    }
  }

  private mutating func choiceScalar(_ kind: JSONKind, _ slice: JSONSlice, _ isEscaped: Bool) {
    guard let field, fits(kind, field, slice) else { return }
    choiceFields.insert(StoryFields(field))
    let last = table.choices.count - 1
    let text = kept(slice, isEscaped)
    switch field {
    case .id:
      table.choices[last].id = text
      table.choices[last].flags.insert(.hasID)
      checkID(text, of: field)
    case .text:
      table.choices[last].text = text
      table.choices[last].flags.insert(.hasText)
      checkText(slice, isEscaped, field)
    case .nextSegmentId:
      table.choices[last].target = text
      table.choices[last].flags.insert(.hasTarget)
    default: break
    }
  }

  /// A slice whose bytes are the text: escapes resolved.
  private mutating func kept(_ slice: JSONSlice, _ isEscaped: Bool) -> StorySlice {
    let raw = StorySlice(
      start: UInt32(truncatingIfNeeded: slice.start), count: UInt32(truncatingIfNeeded: slice.count))
    guard isEscaped else { return raw }
    return table.text.keep(JSONEscape.resolved(table.text.bytes(raw)), from: slice.start)
  }

  // MARK: - What is wrong

  /// Whether a scalar is what its field takes; notes it when it is not.
  private mutating func fits(_ kind: JSONKind, _ field: StoryField, _ slice: JSONSlice) -> Bool {
    let isRight =
      switch field.shape {
      case .text: kind == .string
      case .integer: kind == .integer
      case .flag: kind == .bool
      case .list: false
      }
    if isRight || (kind == .null && field.isOptional) { return true }
    wrongType(field, at: offset(slice, kind))
    return false
  }

  /// Where a value begins, its quote included.
  private func offset(_ slice: JSONSlice, _ kind: JSONKind) -> UInt32 {
    UInt32(truncatingIfNeeded: kind == .string ? slice.start - 1 : slice.start)
  }

  /// Passes over a container that is not what should stand here.
  private mutating func skip(_ start: Int) {
    skipped = 1
    let offset = UInt32(truncatingIfNeeded: start)
    switch place {
    case .segments: wrongType(.segments, at: offset)
    case .choices: wrongType(.choices, at: offset)
    case .tags:
      table.faults.append(StoryFault(code: .wrongType, offset: offset, field: .tags, detail: tagCount))
    default: if let field { wrongType(field, at: offset) }
    }
  }

  private mutating func wrongType(_ field: StoryField, at offset: UInt32) {
    switch place {
    case .story: storyFields.insert(StoryFields(field))
    case .segment: segmentFields.insert(StoryFields(field))
    case .choice: choiceFields.insert(StoryFields(field))
    default: break
    }
    note(.wrongType, at: offset, field)
  }

  private mutating func missing(
    _ required: StoryFields, _ present: StoryFields, of fields: [StoryField], at offset: UInt32
  ) {
    guard !present.isSuperset(of: required) else { return }
    for field in fields where required.subtracting(present).contains(StoryFields(field)) {
      // A story without the key has no segment, which has a code of its own.
      if field != .segments { note(.missingField, at: offset, field) }
    }
  }

  /// Notes a text without a word.
  ///
  /// - Returns: how many words it has.
  @discardableResult
  private mutating func checkText(_ slice: JSONSlice, _ isEscaped: Bool, _ field: StoryField) -> UInt32 {
    let raw = StorySlice(start: UInt32(slice.start), count: UInt32(slice.count))
    let words = WordCount.count(table.text.bytes(raw), isEscaped: isEscaped)
    if words == 0 { note(.emptyText, at: UInt32(slice.start - 1), field) }
    return UInt32(truncatingIfNeeded: words)
  }

  /// Notes an id that names nothing, or a story's that could be taken for a path.
  private mutating func checkID(_ id: StorySlice, of field: StoryField) {
    let isBad = place == .story ? !StoryID.isName(table.text.string(id)) : id.count == 0
    if isBad { note(.invalidID, at: UInt32(table.text.origin(of: id) - 1), field) }
  }

  private mutating func note(_ code: StoryFinding.Code, at offset: UInt32, _ field: StoryField) {
    var fault = StoryFault(code: code, offset: offset, field: field)
    switch place {
    case .segments, .segment: fault.segment = Int32(truncatingIfNeeded: table.segments.count - 1)
    case .choices, .choice:
      fault.segment = Int32(truncatingIfNeeded: table.segments.count - 1)
      fault.choice = Int32(truncatingIfNeeded: table.choices.count - 1)
    default: break
    }
    table.faults.append(fault)
  }

  /// The field of the innermost object that a key names.
  private func recognized(_ slice: JSONSlice, isEscaped: Bool) -> StoryField? {
    let raw = table.text.bytes(StorySlice(start: UInt32(slice.start), count: UInt32(slice.count)))
    if isEscaped {
      var key = JSONEscape.resolved(raw)
      return key.withUTF8 { spelled(UnsafeRawBufferPointer($0)) }
    }
    return spelled(raw)
  }

  private func spelled(_ key: UnsafeRawBufferPointer) -> StoryField? {
    let candidate: StoryField
    // The lengths of the keys of a segment, and of a choice, all differ.
    switch (place, key.count) {
    case (.segment, 2), (.choice, 2): candidate = .id
    case (.segment, 4), (.choice, 4): candidate = .text
    case (.choice, 13): candidate = .nextSegmentId
    case (.segment, 7): candidate = .choices
    case (.segment, 8): candidate = .isEnding
    case (.segment, 15): candidate = .isAuthenticPath
    case (.story, _): return StoryField.ofStory.first { $0.isSpelled(key) }
    default: return nil
    }
    return candidate.isSpelled(key) ? candidate : nil
  }
}
