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

/// Resolves the backslash escapes of headers and quoted strings.
enum TweeEscape {
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
