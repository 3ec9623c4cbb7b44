/// Reads a JSON text once, strictly, and tells a sink where everything stands.
///
/// Strict means RFC 8259 and the rules of `satchel.h`: valid UTF-8, no byte-order mark, at most
/// `JSONScanner.maximumDepth` levels, no duplicate keys, no lone surrogates, no NUL in a key, integers within
/// Int64, numbers within the range of a double. Nothing is copied and no value is made.
package struct JSONScanner {
  /// Levels of arrays and objects that a text may nest.
  package static let maximumDepth = 512

  let base: UnsafePointer<UInt8>
  let count: Int
  /// Offset of the byte that is read next.
  package var position = 0
  /// Containers around the value that is scanned, which count for the depth.
  private var level = 0
  var frames: ContiguousArray<Frame> = []
  var keys: JSONKeyStack

  /// An open container, and where the scanner is inside it.
  struct Frame {
    var kind: JSONKind
    /// Keys met (object) or elements begun (array).
    var members = 0
    /// Where this object's keys begin in the key stack.
    var firstKey: Int
    var hasEscapedKey = false
  }

  private init(_ base: UnsafePointer<UInt8>, count: Int) {
    self.base = base
    self.count = count
    keys = JSONKeyStack(base)
    frames.reserveCapacity(16)
  }

  /// Scans one value and the white space around it.
  package static func scan(
    _ bytes: UnsafeRawBufferPointer, into sink: inout some JSONSink
  ) throws(JSONError) {
    guard let start = bytes.baseAddress, bytes.count > 0 else {
      throw JSONError("the text is empty", position: JSONPosition(offset: 0, line: 1, column: 1))
    }
    var scanner = JSONScanner(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    try scanner.document(&sink)
  }

  /// Whether a text is JSON; throws the place and cause where it is not.
  package static func check(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
    var sink = JSONNullSink()
    try scan(bytes, into: &sink)
  }

  /// A scanner for a reader that knows what it reads, and takes tokens one by one.
  ///
  /// Its errors name no pointer, since it does not know what is around the token.
  package init?(tokensOf bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return nil }
    self.init(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }

  /// Steps over a whole value.
  ///
  /// - Parameter level: how many containers are open around it
  package mutating func skipValue(level: Int) throws(JSONError) {
    self.level = level
    var sink = JSONNullSink()
    try value(&sink)
    while !frames.isEmpty { try nextMember(&sink) }
  }

  private mutating func document(_ sink: inout some JSONSink) throws(JSONError) {
    if count >= 3, base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF {
      throw failure("a byte-order mark is not allowed")
    }
    skipSpace()
    try value(&sink)
    while !frames.isEmpty { try nextMember(&sink) }
    skipSpace()
    if position < count { throw failure("something follows the value") }
  }

  /// Begins a value: a scalar is read whole, a container is opened.
  private mutating func value(_ sink: inout some JSONSink) throws(JSONError) {
    guard position < count else { throw failure("the text ends where a value should stand") }
    let start = position
    switch base[position] {
    case UInt8(ascii: "\""):
      let isEscaped = try string()
      sink.scalar(.string, JSONSlice(start + 1, position - 1), isEscaped: isEscaped)
    case UInt8(ascii: "{"): try open(.object, &sink)
    case UInt8(ascii: "["): try open(.array, &sink)
    case UInt8(ascii: "t"): try literal("true", .bool, &sink)
    case UInt8(ascii: "f"): try literal("false", .bool, &sink)
    case UInt8(ascii: "n"): try literal("null", .null, &sink)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let kind = try number()
      sink.scalar(kind, JSONSlice(start, position), isEscaped: false)
    default: throw failure("unexpected \(printable(base[position])) where a value should stand")
    }
  }

  private mutating func open(_ kind: JSONKind, _ sink: inout some JSONSink) throws(JSONError) {
    guard frames.count + level < Self.maximumDepth else {
      throw failure("more than \(Self.maximumDepth) levels")
    }
    sink.begin(kind, at: position)
    position += 1
    frames.append(Frame(kind: kind, firstKey: keys.count))
  }

  /// Reads the next member of the innermost container, or its end.
  private mutating func nextMember(_ sink: inout some JSONSink) throws(JSONError) {
    let top = frames.count - 1
    let kind = frames[top].kind
    let closing = kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
    skipSpace()
    guard position < count else {
      throw failure("the text ends inside \(kind == .object ? "an object" : "an array")")
    }
    if base[position] == closing {
      if kind == .object { try checkKeys(of: frames[top]) }
      keys.truncate(to: frames[top].firstKey)
      frames.removeLast()
      position += 1
      sink.end(kind, at: position)
      return
    }
    if frames[top].members > 0 {
      guard base[position] == UInt8(ascii: ",") else {
        throw failure("unexpected \(printable(base[position])) where a comma or the end should stand")
      }
      position += 1
      skipSpace()
      if position < count, base[position] == closing { throw failure("a comma before the end") }
    }
    frames[top].members += 1
    if kind == .object { try key(&sink, frame: top) }
    try value(&sink)
  }

  private mutating func key(_ sink: inout some JSONSink, frame top: Int) throws(JSONError) {
    guard position < count, base[position] == UInt8(ascii: "\"") else {
      throw failure("a key should stand here")
    }
    let start = position
    let isEscaped = try string()
    let slice = JSONSlice(start + 1, position - 1)
    if isEscaped {
      frames[top].hasEscapedKey = true
      if keys.holdsNul(slice) { throw failure("a NUL in a key", at: start) }
    }
    if keys.append(slice, frame: frames[top].firstKey) { throw duplicate(slice, at: start) }
    sink.key(slice, isEscaped: isEscaped)
    skipSpace()
    guard position < count, base[position] == UInt8(ascii: ":") else {
      throw failure("a colon should stand behind the key")
    }
    position += 1
    skipSpace()
  }

  /// What `append` could not see on the way: duplicates among many keys, or behind escapes.
  private func checkKeys(of frame: Frame) throws(JSONError) {
    guard let slice = keys.duplicate(from: frame.firstKey, hasEscapedKey: frame.hasEscapedKey) else { return }
    throw duplicate(slice, at: slice.start - 1)
  }

  private func duplicate(_ slice: JSONSlice, at offset: Int) -> JSONError {
    failure("the key \"\(keys.text(slice))\" stands here for the second time", at: offset, key: slice)
  }

  private mutating func literal(
    _ word: StaticString, _ kind: JSONKind, _ sink: inout some JSONSink
  ) throws(JSONError) {
    let start = position
    let length = word.utf8CodeUnitCount
    guard position + length <= count else { throw failure("an unknown word") }
    for index in 0..<length where base[position + index] != word.utf8Start[index] {
      throw failure("an unknown word")
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
