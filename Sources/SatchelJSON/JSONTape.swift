/// An index of the values of one JSON text: one token of 16 bytes for each value and key, in text order.
///
/// A tape does not own the text, and is valid only as long as the bytes.
package struct JSONTape {
  /// A value or a key.
  package struct Token {
    /// The offset of the first byte: of a string after its opening quote, of a container at its opening
    /// bracket.
    package var start: UInt32
    /// The offset of the end: of a string at its closing quote, of a container after its closing bracket.
    package var end: UInt32
    /// The index of the token after this one and all of its descendants.
    package var next: UInt32
    package var kind: JSONKind
    package var isKey: Bool
    package var isEscaped: Bool
  }

  /// The maximum size of a text in bytes.
  package static let maximumSize = Int(UInt32.max) - 1

  package let bytes: UnsafeRawBufferPointer
  package private(set) var tokens: ContiguousArray<Token> = []
  private var open: ContiguousArray<Int> = []

  /// Scans a text and builds its tape.
  package init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
    guard bytes.count <= Self.maximumSize else { throw JSONError("the text is larger than 4 GiB") }
    self.bytes = bytes
    tokens.reserveCapacity(bytes.count / 24 + 8)
    try JSONScanner.scan(bytes, into: &self)
  }

  /// The index of the root value.
  package var root: Int { 0 }

  package subscript(index: Int) -> Token {
    @inline(__always) get { tokens[index] }
  }

  /// Returns the indices of an array's elements, or of an object's values (each value's key precedes it by
  /// one).
  package func children(of index: Int) -> Children { Children(tape: self, parent: index) }

  /// Returns the index of the value of a member of the object at `index`; nil when it is absent.
  @_optimize(speed)
  package func member(_ name: StaticString, of index: Int) -> Int? {
    let object = tokens[index]
    guard object.kind == .object, !object.isKey else { return nil }
    var child = index + 2
    while child < Int(object.next) {
      if keyEquals(child, name) { return child }
      child = Int(tokens[child].next) + 1
    }
    return nil
  }

  /// Whether the key of the object's value at `child` is `name`.
  @_optimize(speed)
  package func keyEquals(_ child: Int, _ name: StaticString) -> Bool {
    let key = tokens[child - 1]
    if key.isEscaped { return text(child - 1).hasSameBytes(as: "\(name)") }
    let length = name.utf8CodeUnitCount
    guard Int(key.end - key.start) == length else { return false }
    return UnsafeRawBufferPointer(rebasing: bytes[Int(key.start)..<Int(key.end)]).hasSameBytes(
      as: UnsafeRawBufferPointer(start: name.utf8Start, count: length))
  }

  /// Returns the decoded text of a string or key, or the raw text of another scalar.
  package func text(_ index: Int) -> String {
    let token = tokens[index]
    let slice = UnsafeRawBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    return token.isEscaped ? JSONEscape.resolved(slice) : String(decoding: slice, as: UTF8.self)
  }

  /// Returns the range of the value's raw bytes, including a string's quotes.
  package func rawRange(_ index: Int) -> Range<Int> {
    let token = tokens[index]
    let quote = token.kind == .string ? 1 : 0
    return Int(token.start) - quote..<Int(token.end) + quote
  }

  /// Appends the raw bytes of a value or key, including quotes.
  package func copy(_ index: Int, to target: inout [UInt8]) {
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[rawRange(index)]))
  }

  /// Appends the raw bytes of an object without one of its members.
  package func copy(_ object: Int, without member: Int, to target: inout [UInt8]) {
    let whole = rawRange(object)
    let key = rawRange(member - 1)
    let following = Int(tokens[member].next)
    let hasNext = following < Int(tokens[object].next)
    // The comma after the member is omitted too; for the last member, the comma before it.
    var end = key.lowerBound
    if !hasNext {
      while end > whole.lowerBound, bytes[end - 1] != UInt8(ascii: ","), bytes[end - 1] != UInt8(ascii: "{") {
        end -= 1
      }
      if bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
    }
    let rest = hasNext ? rawRange(following).lowerBound : rawRange(member).upperBound
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[whole.lowerBound..<end]))
    target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[rest..<whole.upperBound]))
  }

  /// Returns the value as a `JSONValue`.
  package func value(_ index: Int) throws -> JSONValue {
    try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[rawRange(index)]))
  }

  /// Returns the position of the value in the text.
  package func position(_ index: Int) -> JSONPosition {
    JSONPosition(offset: rawRange(index).lowerBound, in: bytes)
  }

  /// Iterates over the direct children of a container.
  package struct Children: Sequence, IteratorProtocol {
    let tape: JSONTape
    var index: Int
    let end: Int
    let step: Int

    init(tape: JSONTape, parent: Int) {
      self.tape = tape
      let token = tape.tokens[parent]
      let isContainer = token.kind == .object || token.kind == .array
      step = token.kind == .object ? 1 : 0
      index = parent + 1
      end = isContainer && !token.isKey ? Int(token.next) : index
    }

    package mutating func next() -> Int? {
      guard index + step < end else { return nil }
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

  @inline(__always)
  private mutating func append(_ kind: JSONKind, _ slice: JSONSlice, isKey: Bool, isEscaped: Bool) {
    tokens.append(
      Token(
        start: UInt32(truncatingIfNeeded: slice.start), end: UInt32(truncatingIfNeeded: slice.end),
        next: UInt32(truncatingIfNeeded: tokens.count + 1), kind: kind, isKey: isKey, isEscaped: isEscaped))
  }
}
