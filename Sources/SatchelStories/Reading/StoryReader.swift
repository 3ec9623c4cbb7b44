#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
  private let source: UnsafeRawBufferPointer
  private let base: UnsafePointer<UInt8>
  private var scanner: JSONScanner
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

  // MARK: - Tokens

  /// The keys of one object.
  private struct Keys {
    var isFirst = true
    /// The key read last, when it is one that its object knows.
    var field: StoryField?
    var known: StoryFields = []
    var unknown: Set<[UInt8]> = []
  }

  private var unexpected: JSONError { JSONError("") }

  @inline(__always)
  private func isNext(_ byte: Unicode.Scalar) -> Bool {
    scanner.position < source.count && base[scanner.position] == UInt8(truncatingIfNeeded: byte.value)
  }

  @inline(__always)
  private mutating func skipSpace() {
    while scanner.position < source.count {
      let byte = base[scanner.position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      scanner.position += 1
    }
  }

  /// Goes to the value of the next member; false behind the last one.
  @inline(__always)
  private mutating func nextKey(_ keys: inout Keys) throws(JSONError) -> Bool {
    guard try next("}", isFirst: &keys.isFirst) else { return false }
    keys.field = knownKey()
    if keys.field == nil { try anyKey(&keys) }
    if let field = keys.field {
      guard !keys.known.contains(StoryFields(field)) else { throw unexpected }
      keys.known.insert(StoryFields(field))
    }
    skipSpace()
    guard isNext(":") else { throw unexpected }
    scanner.position += 1
    skipSpace()
    return true
  }

  /// Steps over a key of a segment or choice that is spelled as everyone does.
  @inline(__always)
  private mutating func knownKey() -> StoryField? {
    switch place {
    case .choice:
      if isNext(literal: "\"id\"") { return .id }
      if isNext(literal: "\"text\"") { return .text }
      if isNext(literal: "\"nextSegmentId\"") { return .nextSegmentId }
    case .segment:
      if isNext(literal: "\"id\"") { return .id }
      if isNext(literal: "\"text\"") { return .text }
      if isNext(literal: "\"choices\"") { return .choices }
      if isNext(literal: "\"isAuthenticPath\"") { return .isAuthenticPath }
      if isNext(literal: "\"isEnding\"") { return .isEnding }
    default: break
    }
    return nil
  }

  /// Steps over a literal, if it is next. Its length is known, so that comparing is a word or two.
  @inline(__always)
  private mutating func isNext(literal: StaticString) -> Bool {
    let count = literal.utf8CodeUnitCount
    guard scanner.position + count <= source.count,
      memcmp(base + scanner.position, literal.utf8Start, count) == 0
    else { return false }
    scanner.position += count
    return true
  }

  /// Steps over a key, whatever it is.
  private mutating func anyKey(_ keys: inout Keys) throws(JSONError) {
    guard isNext("\"") else { throw unexpected }
    let start = scanner.position + 1
    let isEscaped = try scanner.string()
    let slice = JSONSlice(start, scanner.position - 1)
    let key = isEscaped ? Array(JSONEscape.resolved(bytes(slice)).utf8) : Array(bytes(slice))
    keys.field = field(key)
    if keys.field == nil, key.contains(0) || !keys.unknown.insert(key).inserted { throw unexpected }
  }

  /// Goes to the next element; false behind the last one.
  @inline(__always)
  private mutating func nextElement(_ isFirst: inout Bool) throws(JSONError) -> Bool {
    try next("]", isFirst: &isFirst)
  }

  @inline(__always)
  private mutating func next(_ closing: Unicode.Scalar, isFirst: inout Bool) throws(JSONError) -> Bool {
    skipSpace()
    if isNext(closing) {
      scanner.position += 1
      return false
    }
    if !isFirst {
      guard isNext(",") else { throw unexpected }
      scanner.position += 1
      skipSpace()
    }
    isFirst = false
    return true
  }

  @inline(__always)
  private mutating func value(level: Int) throws(JSONError) -> Value {
    let start = scanner.position
    guard start < source.count else { throw unexpected }
    switch base[start] {
    case UInt8(ascii: "\""):
      let isEscaped = try scanner.string()
      return Value(
        kind: .string, slice: JSONSlice(start + 1, scanner.position - 1), isEscaped: isEscaped)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let kind = try scanner.number()
      return Value(kind: kind, slice: JSONSlice(start, scanner.position))
    case UInt8(ascii: "t") where isNext(literal: "true"), UInt8(ascii: "f") where isNext(literal: "false"):
      return Value(kind: .bool, slice: JSONSlice(start, scanner.position))
    case let byte:
      try scanner.skipValue(level: level)
      let kind: JSONKind =
        switch byte {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "n"): .null
        default: .bool
        }
      return Value(kind: kind, slice: JSONSlice(start, scanner.position))
    }
  }

  // MARK: - Bytes

  /// The bytes of a slice, as they stand.
  @inline(__always)
  func bytes(_ slice: JSONSlice) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + slice.start, count: slice.count)
  }

  /// The field of the innermost object that a key names.
  private func field(_ key: [UInt8]) -> StoryField? {
    let fields =
      switch place {
      case .story: StoryField.ofStory
      case .segment: StoryField.ofSegment
      case .choice: StoryField.ofChoice
      default: [StoryField]()
      }
    return key.withUnsafeBytes { key in fields.first { $0.isSpelled(key) } }
  }
}
