/// The fast path: a row in canonical form without quotes, as nearly all rows are.
extension ShardReader {
  /// Reads the row at the position and advances past it; returns nil without advancing for any other row.
  mutating func commonRow() -> ShardRow? {
    let start = position
    guard let md5 = MD5(digitsOf: bytes, at: start, lowerOnly: true), md5.shard == shard else { return nil }
    var cursor = start + 32
    guard cursor < bytes.count, bytes[cursor] == UInt8(ascii: ",") else { return nil }
    cursor += 1
    guard let filename = commonText(&cursor, upTo: UInt8(ascii: ",")) else { return nil }
    cursor += 1
    guard let size = commonNumber(&cursor, isSigned: false),
      let photodate = commonNumber(&cursor, isSigned: true),
      let modified = commonNumber(&cursor, isSigned: true),
      let width = commonPixels(&cursor), let height = commonPixels(&cursor),
      let identifier = commonText(&cursor, upTo: UInt8(ascii: "\n"))
    else { return nil }
    var next = cursor
    if cursor < bytes.count {
      if bytes[cursor] == UInt8(ascii: "\r") { next += 1 }
      guard next < bytes.count, bytes[next] == UInt8(ascii: "\n") else { return nil }
      next += 1
    }
    let row = ShardRow(
      md5: md5, start: start, end: cursor, line: line, filename: filename, size: size, photodate: photodate,
      modified: modified, width: width < 0 ? nil : width, height: height < 0 ? nil : height,
      applePhotoID: identifier, isCanonical: true)
    advance(to: next)
    return row
  }

  /// Reads an unquoted string; leaves the cursor at its end: `stop`, a carriage return, or (when `stop` is a
  /// line feed) the end of the bytes.
  @inline(__always)
  private func commonText(_ cursor: inout Int, upTo stop: UInt8) -> ShardRow.Field? {
    let start = cursor
    var mixed: UInt8 = 0
    var mixedWords: UInt64 = 0
    while bytes.count - cursor >= 8 {
      let word = bytes.loadUnaligned(fromByteOffset: cursor, as: UInt64.self)
      guard ShardWriter.isPlain(word) else { break }
      mixedWords |= word
      cursor += 8
    }
    while cursor < bytes.count {
      let byte = bytes[cursor]
      if byte < UInt8(ascii: "-") {
        if byte == stop { break }
        if byte == UInt8(ascii: "\r"), stop == UInt8(ascii: "\n") { break }
        if ShardWriter.needsQuotes(byte) { return nil }
      }
      mixed |= byte
      cursor += 1
    }
    if cursor == bytes.count, stop != UInt8(ascii: "\n") { return nil }
    let isASCII = mixed < 0x80 && mixedWords & 0x8080_8080_8080_8080 == 0
    if !isASCII, !isText(start..<cursor) { return nil }
    return ShardRow.Field(start: start, end: cursor)
  }

  /// Reads a canonical number of at most 18 digits, and the comma after it.
  @inline(__always)
  private func commonNumber(_ cursor: inout Int, isSigned: Bool) -> Int64? {
    var first = cursor
    let isNegative = isSigned && first < bytes.count && bytes[first] == UInt8(ascii: "-")
    if isNegative { first += 1 }
    cursor = first
    var value: Int64 = 0
    while cursor < bytes.count {
      let digit = bytes[cursor] &- 0x30
      guard digit < 10 else { break }
      value = value &* 10 &+ Int64(digit)
      cursor += 1
    }
    let count = cursor - first
    guard count > 0, count <= 18, cursor < bytes.count, bytes[cursor] == UInt8(ascii: ",") else { return nil }
    if bytes[first] == 0x30, count > 1 || isNegative { return nil }
    cursor += 1
    return isNegative ? -value : value
  }

  /// Reads a number of pixels; -1 for an empty field.
  @inline(__always)
  private func commonPixels(_ cursor: inout Int) -> Int64? {
    if cursor < bytes.count, bytes[cursor] == UInt8(ascii: ",") {
      cursor += 1
      return -1
    }
    return commonNumber(&cursor, isSigned: false)
  }

  /// Whether the bytes are UTF-8.
  func isText(_ range: Range<Int>) -> Bool {
    let content = bytes[within: range]
    return content.allSatisfy { $0 < 0x80 } || String(validating: content, as: UTF8.self) != nil
  }
}
