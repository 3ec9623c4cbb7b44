#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The kinds of JSON values: an integer is an Int64, a number with a fraction or exponent that is within the
/// range of a double is one, any other number is a big number.
package enum JSONKind: UInt8, Sendable {
  case null, bool, integer, double, bigNumber, string, array, object
}

/// A range of bytes in a text.
package struct JSONSlice: Equatable, Sendable {
  package var start: Int
  package var end: Int

  @inlinable @inline(__always) package init(_ start: Int, _ end: Int) {
    self.start = start
    self.end = end
  }

  @inlinable package var count: Int { @inline(__always) get { end &- start } }
}

/// Receives the events of a `JSONScanner` in text order.
package protocol JSONSink {
  /// Called at the start of an array or object; `start` is the offset of its opening bracket.
  mutating func begin(_ kind: JSONKind, at start: Int)
  /// Called at the end of the innermost container; `end` is the offset after its closing bracket.
  mutating func end(_ kind: JSONKind, at end: Int)
  /// Called for the key of a member; the slice excludes the quotes.
  mutating func key(_ slice: JSONSlice, isEscaped: Bool)
  /// Called for a scalar; the slice of a string excludes the quotes.
  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool)
}

/// Ignores all events but large strings; used to validate a text.
package struct JSONNullSink: JSONSink {
  /// Whether there was a string of more than `LargeStrings.max` bytes.
  package private(set) var hasLargeString = false

  package init() {}
  package mutating func begin(_ kind: JSONKind, at start: Int) {}
  package mutating func end(_ kind: JSONKind, at end: Int) {}
  package mutating func key(_ slice: JSONSlice, isEscaped: Bool) {}
  package mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {
    if slice.count > LargeStrings.max, kind == .string { hasLargeString = true }
  }
}

/// A strict streaming scanner for JSON, which reports the positions of all values to a sink.
///
/// It accepts RFC 8259 with the restrictions of `satchel.h`: valid UTF-8, no byte-order mark, at most
/// `JSONScanner.maximumDepth` levels, no duplicate keys, no lone surrogates, no NUL in a key, exponents within
/// Int64. It neither copies bytes nor creates values.
package struct JSONScanner {
  /// The maximum nesting depth of arrays and objects.
  package static let maximumDepth = 512

  let base: UnsafePointer<UInt8>
  let count: Int
  /// The offset of the next byte.
  package var position = 0
  /// The number of containers around the scanned value, which count towards the depth.
  private var level = 0
  /// The innermost open container. Outside of all containers its members are of no use.
  private(set) var frame = Frame(kind: .null, firstKey: 0)
  /// The value of `frame` when each open container began, outermost first.
  private(set) var outerFrames: ContiguousArray<Frame> = []
  var keys: JSONKeyStack

  /// An open container, and the scanner's state in it.
  struct Frame {
    var kind: JSONKind
    /// The number of members or elements that have begun.
    var members = 0
    /// The position of the object's first key in the key stack.
    var firstKey: Int
    var hasEscapedKey = false
  }

  private init(_ base: UnsafePointer<UInt8>, count: Int) {
    self.base = base
    self.count = count
    keys = JSONKeyStack(base)
    outerFrames.reserveCapacity(16)
  }

  /// Scans a text: one value, optionally surrounded by white space.
  package static func scan(
    _ bytes: UnsafeRawBufferPointer, into sink: inout some JSONSink
  ) throws(JSONError) {
    guard let start = bytes.baseAddress, bytes.count > 0 else {
      throw JSONError("the text is empty", position: JSONPosition(offset: 0, line: 1, column: 1))
    }
    var scanner = JSONScanner(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    try scanner.document(&sink)
  }

  /// Validates a text.
  package static func check(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
    _ = try checkForLargeStrings(bytes)
  }

  /// Validates a text.
  ///
  /// - Returns: whether it has strings for which there are `LargeStrings.warnings(in:)`
  package static func checkForLargeStrings(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> Bool {
    var sink = JSONNullSink()
    try scan(bytes, into: &sink)
    return sink.hasLargeString
  }

  /// Creates a scanner for a reader that requests the tokens one by one.
  ///
  /// Its errors have no pointer, because the scanner does not know the context of a token.
  package init?(tokensOf bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return nil }
    self.init(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }

  /// Skips a whole value.
  ///
  /// - Parameter level: the number of open containers around it
  package mutating func skipValue(level: Int) throws(JSONError) {
    self.level = level
    var sink = JSONNullSink()
    try value(&sink)
    while !outerFrames.isEmpty { try nextMember(&sink) }
  }

  private mutating func document(_ sink: inout some JSONSink) throws(JSONError) {
    if count >= 3, base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF {
      throw failure("a byte-order mark is not allowed")
    }
    skipSpace()
    try value(&sink)
    while !outerFrames.isEmpty { try nextMember(&sink) }
    skipSpace()
    if position < count { throw failure("unexpected text after the value") }
  }

  /// Scans the start of a value: a scalar is scanned completely, a container is opened.
  @_optimize(speed)
  private mutating func value(_ sink: inout some JSONSink) throws(JSONError) {
    guard position < count else { throw failure("the text ends where a value is expected") }
    let start = position
    switch base[position] {
    case UInt8(ascii: "\""):
      let isEscaped = try string()
      sink.scalar(.string, JSONSlice(start + 1, position - 1), isEscaped: isEscaped)
    case UInt8(ascii: "{"): try open(.object, &sink)
    case UInt8(ascii: "["): try open(.array, &sink)
    case UInt8(ascii: "t"): try literal("true", .bool, into: &sink)
    case UInt8(ascii: "f"): try literal("false", .bool, into: &sink)
    case UInt8(ascii: "n"): try literal("null", .null, into: &sink)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let kind = try number()
      sink.scalar(kind, JSONSlice(start, position), isEscaped: false)
    default: throw failure("unexpected \(printable(base[position])) where a value is expected")
    }
  }

  private mutating func open(_ kind: JSONKind, _ sink: inout some JSONSink) throws(JSONError) {
    guard outerFrames.count + level < Self.maximumDepth else {
      var error = failure("more than \(Self.maximumDepth) levels")
      error.limit = Self.maximumDepth
      throw error
    }
    sink.begin(kind, at: position)
    position += 1
    outerFrames.append(frame)
    frame = Frame(kind: kind, firstKey: keys.count)
  }

  /// Scans the next member of the innermost container, or its end.
  @_optimize(speed)
  private mutating func nextMember(_ sink: inout some JSONSink) throws(JSONError) {
    let isObject = frame.kind == .object
    let closing = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    skipSpace()
    guard position < count else {
      throw failure("the text ends inside \(isObject ? "an object" : "an array")")
    }
    if base[position] == closing {
      if isObject { try checkKeys() }
      position += 1
      sink.end(frame.kind, at: position)
      keys.truncate(to: frame.firstKey)
      frame = outerFrames.removeLast()
      return
    }
    if frame.members > 0 {
      guard base[position] == UInt8(ascii: ",") else {
        throw failure(
          "unexpected \(printable(base[position])) where a comma or \(printable(closing)) is expected")
      }
      position += 1
      skipSpace()
      if position < count, base[position] == closing { throw failure("a trailing comma") }
    }
    frame.members += 1
    if isObject { try key(&sink) }
    try value(&sink)
  }

  @inline(__always)
  private mutating func key(_ sink: inout some JSONSink) throws(JSONError) {
    guard position < count, base[position] == UInt8(ascii: "\"") else {
      throw failure("a key is expected")
    }
    let start = position
    let isEscaped = try string()
    let slice = JSONSlice(start + 1, position - 1)
    if isEscaped {
      frame.hasEscapedKey = true
      if keys.containsNUL(slice) { throw failure("NUL in a key", at: start) }
    }
    if keys.append(slice, frame: frame.firstKey) { throw duplicate(slice, at: start) }
    sink.key(slice, isEscaped: isEscaped)
    skipSpace()
    guard position < count, base[position] == UInt8(ascii: ":") else {
      throw failure("a colon is expected after the key")
    }
    position += 1
    skipSpace()
  }

  /// Checks for duplicates that `append` could not detect: among many keys, or with escapes.
  private func checkKeys() throws(JSONError) {
    guard let slice = keys.duplicate(from: frame.firstKey, hasEscapedKey: frame.hasEscapedKey) else { return }
    throw duplicate(slice, at: slice.start - 1)
  }

  private func duplicate(_ slice: JSONSlice, at offset: Int) -> JSONError {
    failure("duplicate key \"\(keys.text(slice))\"", at: offset, key: slice)
  }

  private mutating func literal(
    _ word: StaticString, _ kind: JSONKind, into sink: inout some JSONSink
  ) throws(JSONError) {
    let start = position
    let length = word.utf8CodeUnitCount
    guard position + length <= count else { throw failure("an unknown literal") }
    for index in 0..<length where base[position + index] != word.utf8Start[index] {
      throw failure("an unknown literal")
    }
    position += length
    sink.scalar(kind, JSONSlice(start, position), isEscaped: false)
  }

  @inline(__always)
  mutating func skipSpace() {
    while position < count {
      let byte = base[position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      position += 1
    }
  }
}

/// The keys of all open objects, innermost last, for the detection of duplicate keys without a hash table.
///
/// The first `linearSearchLimit` keys of an object are compared when they are added. With more keys, all are
/// sorted once at the end of the object, which limits the cost to O(n log n) for any keys.
struct JSONKeyStack {
  private static let linearSearchLimit = 12
  private let base: UnsafePointer<UInt8>
  /// Places for keys. Those from `count` on are free: a place is never removed.
  private var slices: ContiguousArray<JSONSlice> = []
  private(set) var count = 0

  init(_ base: UnsafePointer<UInt8>) {
    self.base = base
    slices.reserveCapacity(64)
  }

  func last(before index: Int) -> JSONSlice? { index > 0 && index <= count ? slices[index - 1] : nil }

  mutating func truncate(to count: Int) { self.count = count }

  /// Adds a key to the object whose keys begin at `first`.
  ///
  /// - Returns: whether one of the object's first keys has the same bytes
  @inline(__always)
  mutating func append(_ slice: JSONSlice, frame first: Int) -> Bool {
    var isDuplicate = false
    if count - first <= Self.linearSearchLimit {
      for index in first..<count where isEqual(slices[index], slice) { isDuplicate = true }
    }
    if count < slices.count { slices[count] = slice } else { slices.append(slice) }
    count += 1
    return isDuplicate
  }

  /// Returns the object's first duplicate key that `append` could not detect: among many keys, or with
  /// escapes.
  func duplicate(from first: Int, hasEscapedKey: Bool) -> JSONSlice? {
    if hasEscapedKey {
      var seen: Set<JSONKey> = []
      return slices[first..<count].first { !seen.insert(JSONKey(text: text($0))).inserted }
    }
    guard count - first > Self.linearSearchLimit else { return nil }
    let sorted = slices[first..<count].sorted { isOrdered($0, $1) }
    var earliest: JSONSlice?
    for (one, other) in zip(sorted, sorted.dropFirst()) where isEqual(one, other) {
      if other.start < earliest?.start ?? Int.max { earliest = other }
    }
    return earliest
  }

  /// Decodes a key.
  func text(_ slice: JSONSlice) -> String {
    JSONEscape.resolved(UnsafeRawBufferPointer(start: base + slice.start, count: slice.count))
  }

  func containsNUL(_ slice: JSONSlice) -> Bool { text(slice).utf8.contains(0) }

  private func isEqual(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    one.count == other.count && base[one.start] == base[other.start]
      && memcmp(base + one.start, base + other.start, one.count) == 0
  }

  private func isOrdered(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    if one.count != other.count { return one.count < other.count }
    let order = memcmp(base + one.start, base + other.start, one.count)
    return order == 0 ? one.start < other.start : order < 0
  }
}

extension UnsafeRawBufferPointer {
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
