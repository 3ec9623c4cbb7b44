/// A start tag of HTML, and its attributes.
struct TwineTag {
  let start: Int
  /// The offset after its ">".
  let end: Int
  private let file: TweeBytes
  private var attributes: [(name: Range<Int>, value: Range<Int>)] = []

  /// Returns nil for a tag that is not closed.
  init?(_ file: TweeBytes, at start: Int, to limit: Int) {
    (self.file, self.start) = (file, start)
    var index = start + 1
    while index < limit, file[index] != UInt8(ascii: ">"), !TweeBytes.isSpace(file[index]) { index += 1 }
    while true {
      index = file.skipSpace(from: index, to: limit)
      guard index < limit else { return nil }
      if file[index] == UInt8(ascii: ">") { break }
      let name = index
      while index < limit, file[index] != UInt8(ascii: "="), file[index] != UInt8(ascii: ">"),
        !TweeBytes.isSpace(file[index])
      { index += 1 }
      let nameEnd = index
      index = file.skipSpace(from: index, to: limit)
      var value = index..<index
      if file[index] == UInt8(ascii: "=") {
        index = file.skipSpace(from: index + 1, to: limit)
        let quote = file[index]
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
          guard let close = file.find(quote, from: index + 1, to: limit) else { return nil }
          (value, index) = (index + 1..<close, close + 1)
        } else {
          let first = index
          while index < limit, file[index] != UInt8(ascii: ">"), !TweeBytes.isSpace(file[index]) {
            index += 1
          }
          value = first..<index
        }
      } else if nameEnd == name {
        index += 1
      }
      attributes.append((name..<nameEnd, value))
    }
    end = index + 1
  }

  /// The value of an attribute, with its entities.
  subscript(_ name: StaticString) -> Range<Int>? {
    attributes.first {
      $0.name.count == name.utf8CodeUnitCount
        && file.matches(name, at: $0.name.lowerBound, to: $0.name.upperBound)
    }?.value
  }
}

/// An entity of HTML: one of those that Twine writes, or a number.
struct TwineEntity {
  let bytes: [UInt8]
  let length: Int

  private static let named: [(name: StaticString, byte: UInt8)] = [
    ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
    ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
  ]

  /// Returns nil where no entity starts.
  init?(_ text: TweeBytes, at start: Int, to end: Int) {
    if let found = Self.named.first(where: { text.matches($0.name, at: start, to: end) }) {
      (bytes, length) = ([found.byte], found.name.utf8CodeUnitCount)
      return
    }
    if text.matches("&nbsp;", at: start, to: end) {
      (bytes, length) = (Array("\u{A0}".utf8), 6)
      return
    }
    guard text[start + 1] == UInt8(ascii: "#") else { return nil }
    let isHexadecimal = TweeBytes.lower(text[start + 2]) == UInt8(ascii: "x")
    var index = start + (isHexadecimal ? 3 : 2)
    var value: UInt32 = 0
    let first = index
    while index < end, index - first < 8, text[index] != UInt8(ascii: ";") {
      guard let digit = Character(UnicodeScalar(text[index])).hexDigitValue, isHexadecimal || digit < 10
      else { return nil }
      value = value &* (isHexadecimal ? 16 : 10) &+ UInt32(digit)
      index += 1
    }
    guard index > first, text[index] == UInt8(ascii: ";"), index < end, value > 0,
      let scalar = UnicodeScalar(value)
    else { return nil }
    (bytes, length) = (Array(String(Character(scalar)).utf8), index + 1 - start)
  }

  /// Returns a text without its entities.
  static func resolved(_ text: TweeBytes, _ range: Range<Int>) -> String {
    var units: [UInt8] = []
    var index = range.lowerBound
    while index < range.upperBound {
      if text[index] == UInt8(ascii: "&"), let entity = TwineEntity(text, at: index, to: range.upperBound) {
        units += entity.bytes
        index += entity.length
      } else {
        units.append(text[index])
        index += 1
      }
    }
    return String(decoding: units, as: UTF8.self)
  }
}
