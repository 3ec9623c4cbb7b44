#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SatchelJSON

/// Reads the tokens of a story's JSON.
extension StoryReader {
  /// The keys of one object.
  struct Keys {
    var isFirst = true
    /// The last key, when it is a known field of its object.
    var field: StoryField?
    /// The last key, when its member is the app's.
    var extra: JSONSlice?
    var known: StoryFields = []
    var unknown: Set<[UInt8]>?
  }

  var unexpected: JSONError { JSONError("") }

  @inline(__always)
  func isNext(_ byte: Unicode.Scalar) -> Bool {
    scanner.position < size && base[scanner.position] == UInt8(truncatingIfNeeded: byte.value)
  }

  @inline(__always)
  mutating func skipSpace() {
    while scanner.position < size {
      let byte = base[scanner.position]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      scanner.position &+= 1
    }
  }

  /// Moves to the value of the next member; false after the last one.
  ///
  /// - Parameter container: the innermost object, a constant, so that only its keys are compared
  @inline(__always)
  mutating func nextKey(_ keys: inout Keys, of container: Container) throws(JSONError) -> Bool {
    guard try next("}", isFirst: &keys.isFirst) else { return false }
    keys.extra = nil
    keys.field = readCommonKey(of: container)
    if keys.field == nil { try readKey(&keys) }
    if let field = keys.field {
      let known = StoryFields(field)
      guard keys.known.rawValue & known.rawValue == 0 else { throw unexpected }
      keys.known.rawValue |= known.rawValue
    }
    // Most writers put no space around a colon, or one after it.
    if !isNext(":") { skipSpace() }
    guard isNext(":") else { throw unexpected }
    scanner.position &+= 1
    skipSpace()
    return true
  }

  /// Skips a known key of a segment or choice that is written without escapes, and returns its field.
  @inline(__always)
  private mutating func readCommonKey(of container: Container) -> StoryField? {
    switch container {
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

  /// Skips a literal of 4 to 24 bytes, if it is next. It is compared as words, of which the last one overlaps; all
  /// of it is constant.
  @inline(__always)
  private mutating func isNext(literal: StaticString) -> Bool {
    let count = literal.utf8CodeUnitCount
    guard scanner.position &+ count <= size else { return false }
    let (text, word) = (UnsafeRawPointer(base + scanner.position), UnsafeRawPointer(literal.utf8Start))
    func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at offset: Int) -> Bool {
      text.loadUnaligned(fromByteOffset: offset, as: type)
        == word.loadUnaligned(fromByteOffset: offset, as: type)
    }
    let isEqual =
      count < 8
      ? isEqual(UInt32.self, at: 0) && isEqual(UInt32.self, at: count &- 4)
      : isEqual(UInt64.self, at: 0) && isEqual(UInt64.self, at: count &- 8)
        && (count <= 16 || isEqual(UInt64.self, at: 8))
    if isEqual { scanner.position &+= count }
    return isEqual
  }

  /// Skips any key.
  private mutating func readKey(_ keys: inout Keys) throws(JSONError) {
    guard isNext("\"") else { throw unexpected }
    let start = scanner.position + 1
    let isEscaped = try scanner.string()
    let slice = JSONSlice(start, scanner.position - 1)
    let key = isEscaped ? Array(JSONEscape.resolved(bytes(slice)).utf8) : Array(bytes(slice))
    keys.field = field(key)
    if keys.field == nil || keys.field?.shape == .media { keys.extra = slice }
    guard keys.field == nil else { return }
    if key.contains(0) || !(keys.unknown?.insert(key).inserted ?? true) { throw unexpected }
    if keys.unknown == nil { keys.unknown = [key] }
  }

  /// Moves to the next element; false after the last one.
  @inline(__always)
  mutating func nextElement(_ isFirst: inout Bool) throws(JSONError) -> Bool {
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
  mutating func value(level: Int) throws(JSONError) -> Value {
    if isNext("\"") {
      let start = scanner.position &+ 1
      let isEscaped = try scanner.string()
      return Value(kind: .string, slice: JSONSlice(start, scanner.position &- 1), isEscaped: isEscaped)
    }
    return try otherValue(level: level)
  }

  private mutating func otherValue(level: Int) throws(JSONError) -> Value {
    let start = scanner.position
    guard start < size else { throw unexpected }
    switch base[start] {
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

  /// Returns the raw bytes of a slice.
  @inline(__always)
  func bytes(_ slice: JSONSlice) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + slice.start, count: slice.count)
  }

  /// Returns the field of the innermost object with a key.
  private func field(_ key: [UInt8]) -> StoryField? {
    let fields =
      switch container {
      case .story: StoryField.ofStory
      case .segment: StoryField.ofSegment
      case .choice: StoryField.ofChoice
      default: [StoryField]()
      }
    return key.withUnsafeBytes { key in fields.first { $0.matches(key) } }
  }
}
