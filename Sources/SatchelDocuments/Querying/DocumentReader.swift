import SatchelJSON

/// Finds values in the bytes of a document without parsing the rest.
///
/// The document was scanned strictly when it was written, so it is not validated again; in a damaged file the
/// reader still stays within the bytes.
struct DocumentReader {
  let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The location of a value in the bytes; of a string, without its quotes.
  struct Location {
    var kind: JSONKind
    var start: Int
    var end: Int
    var isEscaped: Bool

    /// The range of the value's JSON text, including a string's quotes.
    var rawRange: Range<Int> { kind == .string ? start - 1..<end + 1 : start..<end }
  }

  /// Returns the location of the value at a path; nil when it does not exist.
  ///
  /// - Parameter start: where the value begins that the path leads into; the document itself begins at 0
  func find(_ path: DocumentPath, from start: Int = 0) -> Location? {
    var position = skipSpace(start)
    for key in path.keys {
      guard position < bytes.count else { return nil }
      let next: Int?
      switch bytes[position] {
      case UInt8(ascii: "{"): next = member(key, of: position)
      case UInt8(ascii: "[") where path.reachesArrays: next = element(key, of: position)
      default: next = nil
      }
      guard let next else { return nil }
      position = next
    }
    return location(at: position)
  }

  /// Visits the elements of an array.
  func elements(of array: Location, _ visit: (Location) throws -> Void) rethrows {
    var position = skipSpace(array.start + 1)
    while position < array.end, bytes[position] != UInt8(ascii: "]") {
      guard let element = location(at: position) else { return }
      try visit(element)
      position = skipSpace(element.rawRange.upperBound)
      if position < array.end, bytes[position] == UInt8(ascii: ",") { position = skipSpace(position + 1) }
    }
  }

  /// Returns the bytes of a string between its quotes, escapes unresolved; of another value its JSON text.
  func slice(_ location: Location) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[location.start..<location.end])
  }

  /// Returns the text of a string, escapes resolved.
  func text(_ location: Location) -> String {
    location.isEscaped
      ? JSONEscape.resolved(slice(location)) : String(decoding: slice(location), as: UTF8.self)
  }

  /// Returns a parsed copy of any value.
  func value(_ location: Location) throws -> JSONValue {
    try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[location.rawRange]))
  }

  /// Returns the number of members of an object.
  func memberCount(of object: Location) -> Int64 {
    var count: Int64 = 0
    var position = skipSpace(object.start + 1)
    while position < object.end, bytes[position] == UInt8(ascii: "\"") {
      position = skipSpace(stringEnd(position).end + 1)
      guard position < object.end, bytes[position] == UInt8(ascii: ":") else { return count }
      position = skipSpace(valueEnd(skipSpace(position + 1)))
      count += 1
      guard position < object.end, bytes[position] == UInt8(ascii: ",") else { return count }
      position = skipSpace(position + 1)
    }
    return count
  }

  // MARK: Stepping

  private func member(_ key: [UInt8], of object: Int) -> Int? {
    var position = skipSpace(object + 1)
    while position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      let (end, isEscaped) = stringEnd(position)
      let isKey = matches(position + 1, end, isEscaped: isEscaped, key: key)
      position = skipSpace(end + 1)
      guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { return nil }
      position = skipSpace(position + 1)
      if isKey { return position }
      position = skipSpace(valueEnd(position))
      guard position < bytes.count, bytes[position] == UInt8(ascii: ",") else { return nil }
      position = skipSpace(position + 1)
    }
    return nil
  }

  private func element(_ key: [UInt8], of array: Int) -> Int? {
    let isIndex =
      !key.isEmpty && key.count < 10 && (key.count == 1 || key[0] != UInt8(ascii: "0"))
      && key.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isIndex else { return nil }
    var left = key.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    var position = skipSpace(array + 1)
    while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
      if left == 0 { return position }
      left -= 1
      position = skipSpace(valueEnd(position))
      guard position < bytes.count, bytes[position] == UInt8(ascii: ",") else { return nil }
      position = skipSpace(position + 1)
    }
    return nil
  }

  private func matches(_ start: Int, _ end: Int, isEscaped: Bool, key: [UInt8]) -> Bool {
    guard start <= end, end <= bytes.count else { return false }
    if isEscaped {
      return JSONEscape.resolved(UnsafeRawBufferPointer(rebasing: bytes[start..<end])).utf8.elementsEqual(key)
    }
    guard end - start == key.count else { return false }
    return key.withUnsafeBytes { key in
      for offset in 0..<key.count where bytes[start + offset] != key[offset] { return false }
      return true
    }
  }

  /// Returns the location of the value that begins at a position; nil when none does.
  func location(at position: Int) -> Location? {
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "\""):
      let (end, isEscaped) = stringEnd(position)
      guard end < bytes.count else { return nil }
      return Location(kind: .string, start: position + 1, end: end, isEscaped: isEscaped)
    case UInt8(ascii: "{"): return plain(.object, position)
    case UInt8(ascii: "["): return plain(.array, position)
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return plain(.bool, position)
    case UInt8(ascii: "n"): return plain(.null, position)
    default:
      let end = valueEnd(position)
      guard end > position else { return nil }
      for offset in position..<end where bytes[offset] == UInt8(ascii: ".") || bytes[offset] | 0x20 == 0x65 {
        return Location(kind: .double, start: position, end: end, isEscaped: false)
      }
      return Location(kind: .integer, start: position, end: end, isEscaped: false)
    }
  }

  private func plain(_ kind: JSONKind, _ position: Int) -> Location {
    Location(kind: kind, start: position, end: valueEnd(position), isEscaped: false)
  }

  /// Returns the position after the value that begins at a position.
  private func valueEnd(_ start: Int) -> Int {
    guard start < bytes.count else { return bytes.count }
    var position = start
    switch bytes[position] {
    case UInt8(ascii: "\""): return min(stringEnd(position).end + 1, bytes.count)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      var level = 0
      while position < bytes.count {
        switch bytes[position] {
        case UInt8(ascii: "\""): position = stringEnd(position).end
        case UInt8(ascii: "{"), UInt8(ascii: "["): level += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          level -= 1
          if level == 0 { return position + 1 }
        default: break
        }
        position += 1
      }
      return bytes.count
    default:
      while position < bytes.count {
        switch bytes[position] {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: return position
        default: position += 1
        }
      }
      return position
    }
  }

  /// Returns the position of the closing quote of the string that begins at a position.
  private func stringEnd(_ start: Int) -> (end: Int, isEscaped: Bool) {
    var position = start + 1
    var isEscaped = false
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") { return (position, isEscaped) }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        position += 1
      }
      position += 1
    }
    return (bytes.count, isEscaped)
  }

  private func skipSpace(_ start: Int) -> Int {
    var position = start
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return position
      }
    }
    return position
  }
}

/// The value at a path, borrowed from the record's bytes.
enum FieldValue {
  case missing
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case bigNumber(JSONBigNumber)
  /// UTF-8, escapes resolved.
  case string(UnsafeRawBufferPointer)
  /// A string with escapes, resolved.
  case ownedString([UInt8])
  /// A value whose path has a type that compares it otherwise.
  case typed(TypedValue)
  case array(DocumentReader.Location)
  case object(DocumentReader.Location)
}

extension DocumentReader {
  /// Returns the value at a path.
  func field(_ path: DocumentPath) -> FieldValue {
    guard let location = find(path) else { return .missing }
    let field = field(location)
    return path.type?.value(field, in: self, at: location) ?? field
  }

  func field(_ location: Location) -> FieldValue {
    switch location.kind {
    case .null: return .null
    case .bool: return .bool(bytes[location.start] == UInt8(ascii: "t"))
    case .integer: return integer(location)
    case .double, .bigNumber: return number(location)
    case .string:
      return location.isEscaped ? .ownedString(Array(text(location).utf8)) : .string(slice(location))
    case .array: return .array(location)
    case .object: return .object(location)
    }
  }

  /// Returns a number that is not an Int64.
  private func number(_ location: Location) -> FieldValue {
    let text = text(location)
    let isDouble = location.kind == .double && Double(text)?.isFinite == true
    return isDouble ? .double(Double(text) ?? 0) : JSONBigNumber(text).map { .bigNumber($0) } ?? .double(0)
  }

  private func integer(_ location: Location) -> FieldValue {
    let digits = slice(location)
    let isNegative = digits.first == UInt8(ascii: "-")
    // Up to 18 digits cannot overflow.
    guard digits.count <= 18 else { return Int64(text(location)).map { .int($0) } ?? number(location) }
    var value: Int64 = 0
    for digit in digits.dropFirst(isNegative ? 1 : 0) {
      value = value &* 10 &+ Int64(digit &- UInt8(ascii: "0"))
    }
    return .int(isNegative ? 0 &- value : value)
  }
}
