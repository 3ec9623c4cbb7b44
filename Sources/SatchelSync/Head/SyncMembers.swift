import SatchelCore
import SatchelJSON

/// The members of an untrusted JSON object: each value is validated and located by its bytes, and copied only
/// when it is read.
struct SyncMembers {
  struct Member {
    var name: String
    /// The bytes of the name, with its quotes.
    var key: Range<Int>
    var value: Range<Int>
  }

  let bytes: UnsafeRawBufferPointer
  /// The prefix of error messages.
  let source: String
  private(set) var members: [Member] = []

  /// Reads an object.
  ///
  /// - Parameter limit: the maximum number of members
  /// - Throws: `SatchelError` (`damaged`) for anything else
  init(_ bytes: UnsafeRawBufferPointer, of source: String, limit: Int) throws {
    self.bytes = bytes
    self.source = source
    var cursor = try SyncCursor(bytes, source)
    try cursor.open("{")
    while try cursor.hasNext("}", isFirst: members.isEmpty) {
      guard members.count < limit else { throw failure("", "has more than \(limit) members") }
      let (name, key) = try cursor.key()
      guard !members.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
        throw failure("", "has a member twice")
      }
      members.append(Member(name: name, key: key, value: try cursor.value()))
    }
    try cursor.end()
  }

  func failure(_ name: String, _ reason: String) -> SatchelError {
    SatchelError(.damaged, "\(source): \(name.isEmpty ? "" : "/\(name) ")\(reason)")
      .at(pointer: name.isEmpty ? "" : "/\(name)")
  }

  func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }

  /// The bytes of a member's value; nil when it is absent.
  func raw(_ name: String) -> UnsafeRawBufferPointer? {
    members.first { $0.name == name }.map { slice($0.value) }
  }

  private func value(_ name: String) throws -> UnsafeRawBufferPointer {
    guard let value = raw(name) else { throw failure(name, "is missing") }
    return value
  }

  // MARK: Values

  func integer(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64 {
    guard let number = Int64(String(decoding: try value(name), as: UTF8.self)), range.contains(number) else {
      throw failure(name, "is not an integer in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }

  func integerIfAny(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    raw(name) == nil ? nil : try integer(name, range)
  }

  func flag(_ name: String) throws -> Bool {
    let value = try value(name)
    if value.elementsEqual("true".utf8) { return true }
    guard value.elementsEqual("false".utf8) else { throw failure(name, "is neither true nor false") }
    return false
  }

  /// A string of a certain length in bytes.
  func text(_ name: String, _ length: ClosedRange<Int>) throws -> String {
    let value = try value(name)
    // Of an escaped character the encoding has at most six bytes.
    guard value.first == UInt8(ascii: "\""), value.count <= length.upperBound * 6 + 2 else {
      throw failure(name, "is not a string of \(length.lowerBound) to \(length.upperBound) bytes")
    }
    let text = Self.decoded(value)
    guard length.contains(text.utf8.count) else {
      throw failure(name, "is not a string of \(length.lowerBound) to \(length.upperBound) bytes")
    }
    return text
  }

  /// A string of `count` lower-case hexadecimal digits.
  func digits(_ name: String, count: Int) throws -> String {
    let text = try text(name, count...count)
    guard HexadecimalName.isName(text, digits: count) else {
      throw failure(name, "is not \(count) hexadecimal digits")
    }
    return text
  }

  func object(_ name: String, limit: Int) throws -> SyncMembers {
    try SyncMembers(value(name), of: "\(source): /\(name)", limit: limit)
  }

  /// The bytes of an array's elements.
  func elements(_ name: String, limit: Int) throws -> [UnsafeRawBufferPointer] {
    let value = try value(name)
    var (cursor, elements) = (try SyncCursor(value, "\(source): /\(name)"), [UnsafeRawBufferPointer]())
    try cursor.open("[")
    while try cursor.hasNext("]", isFirst: elements.isEmpty) {
      guard elements.count < limit else { throw failure(name, "has more than \(limit) elements") }
      elements.append(UnsafeRawBufferPointer(rebasing: value[try cursor.value()]))
    }
    try cursor.end()
    return elements
  }

  /// The members other than `known`, as they are written: a comma before each.
  func others(than known: [String]) -> [UInt8] {
    var others: [UInt8] = []
    for member in members where !known.contains(member.name) {
      others.append(UInt8(ascii: ","))
      others.append(contentsOf: slice(member.key))
      others.append(UInt8(ascii: ":"))
      others.append(contentsOf: slice(member.value))
    }
    return others
  }

  /// The text of a string with its quotes.
  static func decoded(_ value: UnsafeRawBufferPointer) -> String {
    guard value.count >= 2 else { return "" }
    return JSONEscape.resolved(UnsafeRawBufferPointer(rebasing: value[1..<(value.count - 1)]))
  }
}

/// Reads the tokens of one container.
private struct SyncCursor {
  let bytes: UnsafeRawBufferPointer
  let source: String
  var scanner: JSONScanner

  init(_ bytes: UnsafeRawBufferPointer, _ source: String) throws {
    guard let scanner = JSONScanner(tokensOf: bytes) else {
      throw SatchelError(.damaged, "\(source): is empty")
    }
    self.bytes = bytes
    self.source = source
    self.scanner = scanner
  }

  private func failure(_ reason: String) -> SatchelError {
    SatchelError(.damaged, "\(source): \(reason) at byte \(scanner.position)")
  }

  private var next: UInt8? { scanner.position < bytes.count ? bytes[scanner.position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      scanner.position += 1
    }
  }

  private mutating func skip(_ byte: UInt8) throws {
    skipSpace()
    guard next == byte else { throw failure("\"\(Unicode.Scalar(byte))\" is missing") }
    scanner.position += 1
  }

  mutating func open(_ bracket: Unicode.Scalar) throws { try skip(UInt8(ascii: bracket)) }

  /// Whether another member follows; else the closing bracket was read.
  mutating func hasNext(_ bracket: Unicode.Scalar, isFirst: Bool) throws -> Bool {
    skipSpace()
    if next == UInt8(ascii: bracket) {
      scanner.position += 1
      return false
    }
    if !isFirst { try skip(UInt8(ascii: ",")) }
    skipSpace()
    return true
  }

  mutating func key() throws -> (name: String, range: Range<Int>) {
    guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
    let start = scanner.position
    try reading { scanner throws(JSONError) in _ = try scanner.string() }
    let range = start..<scanner.position
    try skip(UInt8(ascii: ":"))
    return (SyncMembers.decoded(UnsafeRawBufferPointer(rebasing: bytes[range])), range)
  }

  mutating func value() throws -> Range<Int> {
    skipSpace()
    let start = scanner.position
    try reading { scanner throws(JSONError) in try scanner.skipValue(level: 0) }
    return start..<scanner.position
  }

  private mutating func reading(_ body: (inout JSONScanner) throws(JSONError) -> Void) throws {
    do throws(JSONError) {
      try body(&scanner)
    } catch {
      throw SatchelError(.damaged, "\(source): \(error)", underlying: error)
    }
  }

  mutating func end() throws {
    skipSpace()
    guard next == nil else { throw failure("unexpected bytes") }
  }
}
