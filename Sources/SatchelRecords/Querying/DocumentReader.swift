import SatchelJSON

/// Finds values in the bytes of a document, without making a value of the rest.
///
/// The document was scanned strictly when it was written, so that this need not check it again; whatever a damaged
/// file holds, it stays inside of the bytes.
struct DocumentReader {
  let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// A value's place: of a string between its quotes.
  struct Place {
    var kind: JSONKind
    var start: Int
    var end: Int
    var isEscaped: Bool

    /// The bytes that spell it, a string's quotes included.
    var spelling: Range<Int> { kind == .string ? start - 1..<end + 1 : start..<end }
  }

  /// The value at a path; nil when the path leads to nothing.
  func find(_ path: DocumentPath) -> Place? {
    var position = skipSpace(0)
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
    return place(at: position)
  }

  /// Visits the elements of the array at a place.
  func elements(of array: Place, _ visit: (Place) throws -> Void) rethrows {
    var position = skipSpace(array.start + 1)
    while position < array.end, bytes[position] != UInt8(ascii: "]") {
      guard let element = place(at: position) else { return }
      try visit(element)
      position = skipSpace(element.spelling.upperBound)
      if position < array.end, bytes[position] == UInt8(ascii: ",") { position = skipSpace(position + 1) }
    }
  }

  /// The bytes of a string between its quotes, escapes as they stand; of another value its spelling.
  func slice(_ place: Place) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.end])
  }

  /// A string's text.
  func text(_ place: Place) -> String {
    place.isEscaped ? JSONEscape.resolved(slice(place)) : String(decoding: slice(place), as: UTF8.self)
  }

  /// Any value, as a value of its own.
  func value(_ place: Place) throws -> JSONValue {
    try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[place.spelling]))
  }

  // MARK: Stepping

  private func member(_ key: [UInt8], of object: Int) -> Int? {
    var position = skipSpace(object + 1)
    while position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      let (end, isEscaped) = stringEnd(position)
      let isKey = matches(position + 1, end, isEscaped, key)
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

  private func matches(_ start: Int, _ end: Int, _ isEscaped: Bool, _ key: [UInt8]) -> Bool {
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

  /// The value that begins at a position; nil where none does.
  func place(at position: Int) -> Place? {
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "\""):
      let (end, isEscaped) = stringEnd(position)
      guard end < bytes.count else { return nil }
      return Place(kind: .string, start: position + 1, end: end, isEscaped: isEscaped)
    case UInt8(ascii: "{"): return plain(.object, position)
    case UInt8(ascii: "["): return plain(.array, position)
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return plain(.bool, position)
    case UInt8(ascii: "n"): return plain(.null, position)
    default:
      let end = valueEnd(position)
      guard end > position else { return nil }
      for offset in position..<end where bytes[offset] == UInt8(ascii: ".") || bytes[offset] | 0x20 == 0x65 {
        return Place(kind: .double, start: position, end: end, isEscaped: false)
      }
      return Place(kind: .integer, start: position, end: end, isEscaped: false)
    }
  }

  private func plain(_ kind: JSONKind, _ position: Int) -> Place {
    Place(kind: kind, start: position, end: valueEnd(position), isEscaped: false)
  }

  /// Behind the value that begins at a position.
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

  /// Where the closing quote of the string stands whose opening quote is at a position.
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
