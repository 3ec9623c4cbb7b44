import SatchelCore
import SatchelJSON
import SatchelStorage

/// Fills a `StoryTable` from a story's JSON, and notes missing fields and wrong types.
///
/// It is a parser for the schema of a story that consumes the scanner's tokens and compares each key once. It
/// is as strict as `JSONScanner`, which reports location and cause when a text is not JSON.
package struct StoryReader: ~Copyable {
  /// The container that is being read.
  enum Container { case story, tags, segments, segment, choices, choice }

  /// The value of a member or an element.
  struct Value {
    var kind: JSONKind
    /// The range of the value: of a string without its quotes, of a container only its bracket.
    var slice: JSONSlice
    var isEscaped = false
  }

  var table: StoryTable
  let source: UnsafeRawBufferPointer
  let base: UnsafePointer<UInt8>
  /// The number of bytes of `source`, which a buffer computes from two pointers.
  let size: Int
  var scanner: JSONScanner
  let hash = StoryHash.process
  private(set) var container = Container.story
  /// The segment and the choice that are being read.
  var segment = StoryTable.Segment(start: 0, firstChoice: 0)
  var choice = StoryTable.Choice(start: 0)

  private init?(_ source: UnsafeRawBufferPointer) {
    guard let scanner = JSONScanner(tokensOf: source), let start = source.baseAddress else { return nil }
    self.scanner = scanner
    self.source = source
    base = start.assumingMemoryBound(to: UInt8.self)
    size = source.count
    table = StoryTable(text: StoryText(source))
    // An estimate, from the typical length of segments, that avoids growing the largest arrays.
    table.segments.reserveCapacity(source.count / 400)
    table.choices.reserveCapacity(source.count / 200)
  }

  /// Parses a story's text in one pass.
  ///
  /// - Throws: `SatchelError` `.invalid`, with an underlying `JSONError`, when the text is not JSON or not an
  ///   object
  static func read(_ source: UnsafeRawBufferPointer) throws -> StoryTable {
    guard source.count <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "the story is larger than 2 GiB")
    }
    if var reader = StoryReader(source) {
      do {
        if try reader.document() { return reader.releaseTable() }
      } catch {
        // `failure` below determines the cause.
      }
    }
    throw failure(source)
  }

  /// Returns the table and gives up its ownership, so that the graph can change it without a copy.
  private consuming func releaseTable() -> StoryTable { table }

  private static let notJSON = "not JSON: "

  /// Whether a text that was refused with this error is JSON, or of another format than JSON.
  package static func isJSON(_ error: any Error) -> Bool {
    !((error as? SatchelError)?.message.hasPrefix(notJSON) ?? false)
  }

  /// Returns the error for a text that is not a story.
  private static func failure(_ source: UnsafeRawBufferPointer) -> SatchelError {
    do {
      try JSONScanner.check(source)
    } catch {
      return SatchelError(.invalid, "\(notJSON)\(error)", underlying: error)
    }
    let start = source.firstIndex { $0 > 0x20 } ?? 0
    let error = JSONError(
      "a story must be an object", pointer: "", position: JSONPosition(offset: start, in: source))
    return SatchelError(.invalid, "not a story: \(error)", underlying: error)
  }

  // MARK: - Grammar

  /// - Returns: whether the text is an object
  private mutating func document() throws(JSONError) -> Bool {
    skipSpace()
    guard isNext("{") else { return false }
    table.start = scanner.position
    scanner.position += 1
    var keys = Keys()
    while try nextKey(&keys, of: .story) {
      if keys.field == .segments, isNext("[") {
        try segments()
      } else if keys.field == .tags, isNext("[") {
        try tags()
      } else {
        let value = try value(level: 1)
        if let field = keys.field { store(value, story: field) }
        if let key = keys.extra { keepExtra(key, value) }
      }
    }
    noteMissing(.requiredOfStory, keys.known, of: StoryField.ofStory, at: UInt32(table.start))
    skipSpace()
    guard scanner.position == size else { throw unexpected }
    return true
  }

  @_optimize(speed)
  private mutating func segments() throws(JSONError) {
    table.segmentsStart = scanner.position
    scanner.position += 1
    container = .segments
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
    container = .story
  }

  @_optimize(speed)
  private mutating func segmentObject() throws(JSONError) {
    scanner.position += 1
    container = .segment
    var keys = Keys()
    while try nextKey(&keys, of: .segment) {
      if keys.field == .choices, isNext("[") {
        segment.flags.insert(.hasChoices)
        try choices()
      } else {
        let value = try value(level: 3)
        if let field = keys.field { store(value, segment: field) }
        if let key = keys.extra { keepExtra(key, value) }
      }
    }
    noteMissing(.requiredOfSegment, keys.known, of: StoryField.ofSegment, at: segment.start)
    container = .segments
  }

  @_optimize(speed)
  private mutating func choices() throws(JSONError) {
    scanner.position += 1
    container = .choices
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
    container = .segment
  }

  @_optimize(speed)
  private mutating func choiceObject() throws(JSONError) {
    scanner.position += 1
    container = .choice
    var keys = Keys()
    while try nextKey(&keys, of: .choice) {
      let value = try value(level: 5)
      if let field = keys.field { store(value, choice: field) }
      if let key = keys.extra { keepExtra(key, value) }
    }
    if choice.flags.rawValue & StoryTable.ChoiceFlags.isDynamic.rawValue == 0 {
      noteMissing(.requiredOfChoice, keys.known, of: StoryField.ofChoice, at: choice.start)
    } else {
      endDynamicChoice(keys.known)
    }
    container = .choices
  }

  private mutating func tags() throws(JSONError) {
    scanner.position += 1
    container = .tags
    var isFirst = true
    var index: Int32 = 0
    while try nextElement(&isFirst) {
      let value = try value(level: 2)
      if value.kind == .string {
        table.tags.append(resolvedSlice(value))
      } else {
        table.faults.append(StoryFault(code: .wrongType, offset: offset(value), field: .tags, detail: index))
      }
      index += 1
    }
    container = .story
  }
}
