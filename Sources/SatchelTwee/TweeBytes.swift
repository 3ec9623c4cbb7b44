#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import CUTF8Proc
import SatchelCore
import SatchelJSON
import SatchelStories

/// The bytes of a Twee text, with bounds-checked access: an index out of range reads a NUL, which a Twee text
/// cannot contain.
struct TweeBytes {
  let source: UnsafeRawBufferPointer

  var count: Int { source.count }

  @inline(__always)
  subscript(_ index: Int) -> UInt8 {
    index >= 0 && index < source.count ? source[index] : 0
  }

  /// Returns a range clamped to the text, which is never inverted.
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

  /// Returns the offset of the first occurrence of a byte.
  @inline(__always)
  func find(_ byte: UInt8, from start: Int, to end: Int) -> Int? {
    let range = range(start, end)
    guard let base = source.baseAddress, !range.isEmpty,
      let found = memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Returns the offset of the first occurrence of a string, ignoring case; its first byte must not be a
  /// letter.
  func find(_ text: StaticString, from start: Int, to end: Int) -> Int? {
    guard text.utf8CodeUnitCount > 0 else { return nil }
    var start = start
    while let found = find(text.utf8Start[0], from: start, to: end) {
      if matches(text, at: found, to: end) { return found }
      start = found + 1
    }
    return nil
  }

  /// Whether a string occurs at an offset, ignoring case; the string must be in lower case.
  func matches(_ text: StaticString, at start: Int, to end: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard start >= 0, start + length <= min(end, count) else { return false }
    for index in 0..<length where Self.lower(source[start + index]) != text.utf8Start[index] { return false }
    return true
  }

  /// Whether a range has exactly these bytes.
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

  /// Returns the first offset without white space.
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

  /// Whether a byte can be part of the name of a variable or macro.
  @inline(__always)
  static func isWord(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
  }
}

extension TweeBytes {
  /// Checks that the text is UTF-8 without NULs.
  ///
  /// - Throws: `SatchelError` `.invalid`, with the position of the first NUL or invalid sequence
  func checkText() throws {
    if let nul = find(0, from: 0, to: count) { throw failure("a NUL", at: nul) }
    guard let base = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    var index = 0
    while index < count {
      if index + 8 <= count,
        source.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      {
        index += 8
      } else if source[index] < 0x80 {
        index += 1
      } else {
        var scalar: utf8proc_int32_t = 0
        let length = utf8proc_iterate(base + index, utf8proc_ssize_t(count - index), &scalar)
        guard length > 0 else { throw failure("invalid UTF-8", at: index) }
        index += Int(length)
      }
    }
  }

  func failure(_ cause: String, at offset: Int) -> SatchelError {
    let error = JSONError(cause, position: JSONPosition(offset: offset, in: source))
    return SatchelError(.invalid, "not Twee: \(error)", underlying: error)
  }
}
