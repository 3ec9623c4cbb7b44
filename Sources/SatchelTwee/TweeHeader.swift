/// The first line of a passage: `:: Name [tags] {metadata}`.
struct TweeHeader {
  /// The name, without surrounding white space and with unresolved escapes.
  private(set) var name: Range<Int>
  private(set) var isNameEscaped = false
  /// The tags, without the brackets.
  private(set) var tags: Range<Int>
  /// The metadata, with its braces; empty in a header without metadata.
  private(set) var metadata: Range<Int>

  /// Parses a header.
  ///
  /// - Parameter line: the range from the "::" to the line break
  init(_ bytes: TweeBytes, line: Range<Int>) {
    let end = line.upperBound
    let nameEnd = Self.skip(bytes, from: line.lowerBound + 2, to: end, until: "[", or: "{", &isNameEscaped)
    name = bytes.trimmed(bytes.range(line.lowerBound + 2, nameEnd))
    name = Self.withoutPosition(bytes, name)
    // The last space may be escaped.
    let backslashes = bytes.raw(name).reversed().prefix { $0 == UInt8(ascii: "\\") }.count
    if backslashes % 2 == 1, name.upperBound < nameEnd { name = name.lowerBound..<name.upperBound + 1 }
    tags = nameEnd..<nameEnd
    var index = nameEnd
    if bytes[index] == UInt8(ascii: "["), index < end {
      var isEscaped = false
      let tagsEnd = Self.skip(bytes, from: index + 1, to: end, until: "]", or: "]", &isEscaped)
      tags = bytes.range(index + 1, tagsEnd)
      index = min(tagsEnd + 1, end)
    }
    let rest = bytes.trimmed(bytes.range(index, end))
    metadata = bytes[rest.lowerBound] == UInt8(ascii: "{") && !rest.isEmpty ? rest : end..<end
  }

  /// Returns a name without the position that Twee2 writes after it, such as "<10,20>".
  private static func withoutPosition(_ bytes: TweeBytes, _ name: Range<Int>) -> Range<Int> {
    guard name.count > 4, bytes[name.upperBound - 1] == UInt8(ascii: ">"),
      let open = bytes.raw(name).lastIndex(of: UInt8(ascii: "<")).map({ name.lowerBound + $0 }),
      bytes.raw(open + 1..<name.upperBound - 1).allSatisfy({
        (0x30...0x39).contains($0) || $0 == 0x2C || $0 == 0x20
      }),
      bytes.find(0x2C, from: open, to: name.upperBound) != nil
    else { return name }
    return bytes.trimmed(name.lowerBound..<open)
  }

  /// Returns the offset of the first of two bytes without a backslash before it, or the end.
  private static func skip(
    _ bytes: TweeBytes, from start: Int, to end: Int, until one: Unicode.Scalar, or other: Unicode.Scalar,
    _ isEscaped: inout Bool
  ) -> Int {
    var index = min(start, end)
    while index < end {
      let byte = bytes[index]
      if byte == UInt8(ascii: one) || byte == UInt8(ascii: other) { return index }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        index += 1
      }
      index += 1
    }
    return end
  }

  func forEachTag(_ bytes: TweeBytes, _ body: (Range<Int>) -> Void) {
    var start = bytes.skipSpace(from: tags.lowerBound, to: tags.upperBound)
    while start < tags.upperBound {
      var end = start
      while end < tags.upperBound, !TweeBytes.isSpace(bytes[end]) { end += 1 }
      body(start..<end)
      start = bytes.skipSpace(from: end, to: tags.upperBound)
    }
  }
}

/// How a string in a game is encoded.
enum TweeEncoding: UInt8 {
  case none
  /// A backslash before a character stands for this.
  case backslashes
  /// The value of an attribute of HTML.
  case entities
}

/// Resolves the backslash escapes of headers and quoted strings.
enum TweeEscape {
  /// Returns a string without space around it.
  static func trimmed(_ text: String) -> String {
    guard let first = text.utf8.first, let last = text.utf8.last,
      TweeBytes.isSpace(first) || TweeBytes.isSpace(last)
    else { return text }
    let rest = text.utf8.drop { TweeBytes.isSpace($0) }
    let end = rest.lastIndex { !TweeBytes.isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex
    return String(Substring(rest[..<end]))
  }

  /// Returns the string without its escaping backslashes.
  static func resolved(_ bytes: UnsafeRawBufferPointer) -> String {
    var units: [UInt8] = []
    units.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
      units.append(bytes[index])
      index += 1
    }
    return String(decoding: units, as: UTF8.self)
  }
}
