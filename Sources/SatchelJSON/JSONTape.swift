/// The values of one JSON text in the order of the text, 16 bytes each: what `JSONScanner` met, to walk over.
///
/// A tape does not own the text; it is only useful while the bytes it was made from live.
package struct JSONTape {
  /// A value or a key.
  package struct Token {
    /// First byte: of a string behind its quote, of a container its bracket.
    package var start: UInt32
    /// Behind the last byte: of a string its closing quote, of a container behind its bracket.
    package var end: UInt32
    /// Index of the token behind this one and all that it holds.
    package var next: UInt32
    package var kind: JSONKind
    package var isKey: Bool
    package var isEscaped: Bool
  }

  /// The largest text a tape can address.
  package static let maximumSize = Int(UInt32.max) - 1

  package let bytes: UnsafeRawBufferPointer
  package private(set) var tokens: ContiguousArray<Token> = []
  private var open: ContiguousArray<Int> = []

  /// Scans a text.
  package init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
    guard bytes.count <= Self.maximumSize else { throw JSONError("the text is larger than 4 GiB") }
    self.bytes = bytes
    tokens.reserveCapacity(bytes.count / 24 + 8)
    try JSONScanner.scan(bytes, into: &self)
  }

  /// The root value's index.
  package var root: Int { 0 }

  package subscript(index: Int) -> Token { tokens[index] }

  /// Indices of an array's elements, or of an object's values (the key stands one before each).
  package func children(of index: Int) -> Children { Children(tape: self, parent: index) }

  /// The value of a member of the object at `index`.
  package func member(_ name: StaticString, of index: Int) -> Int? {
    guard tokens[index].kind == .object else { return nil }
    for child in children(of: index) where keyEquals(child, name) { return child }
    return nil
  }

  /// Whether the value at `child` of an object stands under the key `name`.
  package func keyEquals(_ child: Int, _ name: StaticString) -> Bool {
    let key = tokens[child - 1]
    if key.isEscaped { return text(child - 1).hasSameBytes(as: "\(name)") }
    let length = Int(key.end - key.start)
    guard length == name.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
    let start = base + Int(key.start)
    for offset in 0..<length
    where start.load(fromByteOffset: offset, as: UInt8.self) != name.utf8Start[offset] {
      return false
    }
    return true
  }

  /// A string's or key's text, escapes resolved; a scalar's spelling otherwise.
  package func text(_ index: Int) -> String {
    let token = tokens[index]
    let slice = UnsafeRawBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    return token.isEscaped ? JSONEscape.resolved(slice) : String(decoding: slice, as: UTF8.self)
  }

  /// The bytes that spell the value, a string's quotes included.
  package func spelling(_ index: Int) -> Range<Int> {
    let token = tokens[index]
    let quote = token.kind == .string ? 1 : 0
    return Int(token.start) - quote..<Int(token.end) + quote
  }

  /// Adds the bytes that spell a value or key (quotes included) to others.
  package func copy(_ index: Int, to target: inout [UInt8]) {
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[spelling(index)]))
  }

  /// Adds the bytes that spell an object, less one of its members, to others.
  package func copy(_ object: Int, without member: Int, to target: inout [UInt8]) {
    let whole = spelling(object)
    let key = spelling(member - 1)
    let behind = Int(tokens[member].next)
    let hasNext = behind < Int(tokens[object].next)
    // The comma behind the member goes with it; that of the last member stands before it.
    var end = key.lowerBound
    if !hasNext {
      while end > whole.lowerBound, bytes[end - 1] != UInt8(ascii: ","), bytes[end - 1] != UInt8(ascii: "{") {
        end -= 1
      }
      if bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
    }
    let rest = hasNext ? spelling(behind).lowerBound : spelling(member).upperBound
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[whole.lowerBound..<end]))
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[rest..<whole.upperBound]))
  }

  /// The value as a `JSONValue`.
  package func value(_ index: Int) throws -> JSONValue {
    try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[spelling(index)]))
  }

  /// Where the value stands in the text.
  package func position(_ index: Int) -> JSONPosition {
    JSONPosition(offset: spelling(index).lowerBound, in: bytes)
  }

  /// Walks the values directly inside one container.
  package struct Children: Sequence, IteratorProtocol {
    let tape: JSONTape
    var index: Int
    let behind: Int
    let step: Int

    init(tape: JSONTape, parent: Int) {
      self.tape = tape
      let token = tape.tokens[parent]
      let isContainer = token.kind == .object || token.kind == .array
      step = token.kind == .object ? 1 : 0
      index = parent + 1
      behind = isContainer && !token.isKey ? Int(token.next) : index
    }

    package mutating func next() -> Int? {
      guard index + step < behind else { return nil }
      let value = index + step
      index = Int(tape.tokens[value].next)
      return value
    }
  }
}

extension JSONTape: JSONSink {
  package mutating func begin(_ kind: JSONKind, at start: Int) {
    open.append(tokens.count)
    append(kind, JSONSlice(start, start), isKey: false, isEscaped: false)
  }

  package mutating func end(_ kind: JSONKind, at end: Int) {
    guard let index = open.popLast() else { return }
    tokens[index].end = UInt32(truncatingIfNeeded: end)
    tokens[index].next = UInt32(truncatingIfNeeded: tokens.count)
  }

  package mutating func key(_ slice: JSONSlice, isEscaped: Bool) {
    append(.string, slice, isKey: true, isEscaped: isEscaped)
  }

  package mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {
    append(kind, slice, isKey: false, isEscaped: isEscaped)
  }

  private mutating func append(_ kind: JSONKind, _ slice: JSONSlice, isKey: Bool, isEscaped: Bool) {
    tokens.append(
      Token(
        start: UInt32(truncatingIfNeeded: slice.start), end: UInt32(truncatingIfNeeded: slice.end),
        next: UInt32(truncatingIfNeeded: tokens.count + 1), kind: kind, isKey: isKey, isEscaped: isEscaped))
  }
}
