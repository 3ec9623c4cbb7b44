#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of a Twee text, read without ever leaving them: beyond both ends lie NULs, which no Twee text holds.
struct TweeBytes {
  let source: UnsafeRawBufferPointer

  var count: Int { source.count }

  @inline(__always)
  subscript(_ index: Int) -> UInt8 {
    index >= 0 && index < source.count ? source[index] : 0
  }

  /// A range that is never upside down, nor beyond the text.
  func range(_ start: Int, _ end: Int) -> Range<Int> {
    let start = min(max(start, 0), count)
    return start..<min(max(end, start), count)
  }

  func raw(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: source[self.range(range.lowerBound, range.upperBound)])
  }

  func slice(_ range: Range<Int>) -> StorySlice {
    StorySlice(
      start: UInt32(truncatingIfNeeded: range.lowerBound), count: UInt32(truncatingIfNeeded: range.count))
  }

  func string(_ range: Range<Int>) -> String { String(decoding: raw(range), as: UTF8.self) }

  /// Where a byte stands first.
  @inline(__always)
  func find(_ byte: UInt8, from start: Int, to end: Int) -> Int? {
    let range = range(start, end)
    guard let base = source.baseAddress, !range.isEmpty,
      let found = memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Where a text stands first, whatever the case of its letters; its first byte is no letter.
  func find(_ text: StaticString, from start: Int, to end: Int) -> Int? {
    guard text.utf8CodeUnitCount > 0 else { return nil }
    var start = start
    while let found = find(text.utf8Start[0], from: start, to: end) {
      if spells(text, at: found, to: end) { return found }
      start = found + 1
    }
    return nil
  }

  /// Whether a text stands at a place, whatever the case of its letters; the text itself is in lower case.
  func spells(_ text: StaticString, at start: Int, to end: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard start >= 0, start + length <= min(end, count) else { return false }
    for index in 0..<length where Self.lower(source[start + index]) != text.utf8Start[index] { return false }
    return true
  }

  /// Whether a range holds exactly these bytes.
  func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
    let bytes = raw(range)
    guard bytes.count == text.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
    return memcmp(base, text.utf8Start, bytes.count) == 0
  }

  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, Self.isSpace(self[start]) { start += 1 }
    while end > start, Self.isSpace(self[end - 1]) { end -= 1 }
    return start..<end
  }

  /// The first place that holds no white space.
  func skipSpace(from start: Int, to end: Int) -> Int {
    var index = start
    while index < end, Self.isSpace(self[index]) { index += 1 }
    return index
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

  @inline(__always)
  static func lower(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  @inline(__always)
  static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  /// What the names of variables and macros are made of.
  @inline(__always)
  static func isWord(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
  }
}
