import SatchelJSON
import SatchelStorage

/// Fills a `StoryTable` from a story's JSON, and notes what is missing or of the wrong type.
///
/// It knows the shape of a story, so that it can take the scanner's tokens one by one and look at each key once. It is as
/// strict as `JSONScanner`; where a text is not JSON, that one is asked for place and cause.
struct StoryReader {
  /// Which container is being read.
  enum Place { case story, tags, segments, segment, choices, choice }

  /// What stands under a key, or in an array.
  struct Value {
    var kind: JSONKind
    /// Of a string without its quotes, of a container only its bracket.
    var slice: JSONSlice
    var isEscaped = false
  }

  var table: StoryTable
  let source: UnsafeRawBufferPointer
  let base: UnsafePointer<UInt8>
  var scanner: JSONScanner
  private(set) var place = Place.story
  /// The segment and the choice that are being read.
  var segment = StoryTable.Segment(start: 0, firstChoice: 0)
  var choice = StoryTable.Choice(start: 0)

  private init?(_ source: UnsafeRawBufferPointer) {
    guard let scanner = JSONScanner(tokensOf: source), let start = source.baseAddress else { return nil }
    self.scanner = scanner
    self.source = source
    base = start.assumingMemoryBound(to: UInt8.self)
    table = StoryTable(text: StoryText(source))
    // A guess that spares the growing of the largest arrays: prose makes segments long.
    table.segments.reserveCapacity(source.count / 400)
    table.choices.reserveCapacity(source.count / 200)
  }

  /// Reads a story's text in one pass.
  ///
  /// - Throws: `SatchelError` `.invalid` with an underlying `JSONError` where the text is no JSON or no object.
  static func read(_ source: UnsafeRawBufferPointer) throws -> StoryTable {
    guard source.count <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "the story is larger than 2 GiB")
    }
    if var reader = StoryReader(source) {
      do {
        if try reader.document() { return reader.given() }
      } catch {
        // What is wrong is said below.
      }
    }
    throw failure(source)
  }

  /// The table, handed over: nothing else holds it, so that the graph can mark it without a copy.
  private consuming func given() -> StoryTable { table }

  /// Why a text is no story.
  private static func failure(_ source: UnsafeRawBufferPointer) -> SatchelError {
    do {
      try JSONScanner.check(source)
    } catch {
      return SatchelError(.invalid, "not JSON: \(error)", underlying: error)
    }
    let start = source.firstIndex { $0 > 0x20 } ?? 0
    let error = JSONError(
      "a story is an object", pointer: "", position: JSONPosition(offset: start, in: source))
    return SatchelError(.invalid, "not a story: \(error)", underlying: error)
  }

  // MARK: - Grammar

  /// - Returns: whether the text is an object.
  private mutating func document() throws(JSONError) -> Bool {
    skipSpace()
    guard isNext("{") else { return false }
    table.start = scanner.position
    scanner.position += 1
    var keys = Keys()
    while try nextKey(&keys) {
      if keys.field == .segments, isNext("[") {
        try segments()
      } else if keys.field == .tags, isNext("[") {
        try tags()
      } else {
        let value = try value(level: 1)
        if let field = keys.field { take(value, story: field) }
      }
    }
    missing(.requiredOfStory, keys.known, of: StoryField.ofStory, at: UInt32(table.start))
    skipSpace()
    guard scanner.position == source.count else { throw unexpected }
    return true
  }

  private mutating func segments() throws(JSONError) {
    table.segmentsStart = scanner.position
    scanner.position += 1
    place = .segments
    var isFirst = true
    while try nextElement(&isFirst) {
      segment = StoryTable.Segment(
        start: UInt32(truncatingIfNeeded: scanner.position),
        firstChoice: Int32(truncatingIfNeeded: table.choices.count))
      if isNext("{") {
        try segmentObject()
      } else {
        note(.wrongType, at: offset(try value(level: 2)), .segments)
      }
      table.segments.append(segment)
    }
    place = .story
  }

  private mutating func segmentObject() throws(JSONError) {
    scanner.position += 1
    place = .segment
    var keys = Keys()
    while try nextKey(&keys) {
      if keys.field == .choices, isNext("[") {
        segment.flags.insert(.hasChoices)
        try choices()
      } else {
        let value = try value(level: 3)
        if let field = keys.field { take(value, segment: field) }
      }
    }
    missing(.requiredOfSegment, keys.known, of: StoryField.ofSegment, at: segment.start)
    place = .segments
  }

  private mutating func choices() throws(JSONError) {
    scanner.position += 1
    place = .choices
    var isFirst = true
    while try nextElement(&isFirst) {
      choice = StoryTable.Choice(start: UInt32(truncatingIfNeeded: scanner.position))
      if isNext("{") {
        try choiceObject()
      } else {
        note(.wrongType, at: offset(try value(level: 4)), .choices)
      }
      table.choices.append(choice)
      segment.choiceCount += 1
    }
    place = .segment
  }

  private mutating func choiceObject() throws(JSONError) {
    scanner.position += 1
    place = .choice
    var keys = Keys()
    while try nextKey(&keys) {
      let value = try value(level: 5)
      if let field = keys.field { take(value, choice: field) }
    }
    missing(.requiredOfChoice, keys.known, of: StoryField.ofChoice, at: choice.start)
    place = .choices
  }

  private mutating func tags() throws(JSONError) {
    scanner.position += 1
    place = .tags
    var isFirst = true
    var index: Int32 = 0
    while try nextElement(&isFirst) {
      let value = try value(level: 2)
      if value.kind == .string {
        table.tags.append(kept(value))
      } else {
        table.faults.append(StoryFault(code: .wrongType, offset: offset(value), field: .tags, detail: index))
      }
      index += 1
    }
    place = .story
  }
}
