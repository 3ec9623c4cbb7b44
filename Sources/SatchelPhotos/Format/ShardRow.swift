import SatchelCore

/// A photo's row in the shard's bytes: numbers parsed, strings as ranges.
struct ShardRow {
  /// The range of a string's bytes, without the quotes around it.
  struct Field {
    var start: Int
    var end: Int
    /// Whether quotes inside the string are doubled.
    var hasDoubledQuotes = false

    static let none = Field(start: 0, end: 0)
  }

  var md5: MD5
  /// The range of the row's bytes, without line end.
  var start: Int
  var end: Int
  /// The line's number, counted from 1.
  var line: Int
  var filename: Field
  var size: Int64
  var photodate: Int64
  var modified: Int64
  var width: Int64?
  var height: Int64?
  var applePhotoID: Field
  /// Whether the bytes are exactly what the writer writes for this photo.
  var isCanonical: Bool

  /// Returns the photo, with copies of its strings.
  ///
  /// - Parameter bytes: the bytes that the reader was given
  func photo(in bytes: UnsafeRawBufferPointer) -> Photo {
    let identifier = ShardRow.text(applePhotoID, in: bytes)
    return Photo(
      md5: md5, filename: ShardRow.text(filename, in: bytes), size: size, photodate: photodate,
      modified: modified, width: width, height: height, applePhotoID: identifier.isEmpty ? nil : identifier)
  }

  static func text(_ field: Field, in bytes: UnsafeRawBufferPointer) -> String {
    let content = bytes[within: field.start..<field.end]
    guard field.hasDoubledQuotes else { return String(decoding: content, as: UTF8.self) }
    var single: [UInt8] = []
    single.reserveCapacity(content.count)
    var skip = false
    for byte in content {
      // The first quote of each pair is kept.
      skip = byte == UInt8(ascii: "\"") && !skip
      if byte != UInt8(ascii: "\"") || skip { single.append(byte) }
    }
    return String(decoding: single, as: UTF8.self)
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the bytes of a range, clamped to the buffer.
  subscript(within range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range.clamped(to: 0..<count)])
  }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes; faster than `elementsEqual`.
  func elementsEqualInMemory(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}

/// Parses the numbers of a row in every accepted encoding.
enum ShardNumber {
  /// Parses digits only, within Int64; nil for anything else.
  static func whole(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    return magnitude(bytes).flatMap { Int64(exactly: $0) }
  }

  /// Parses Unix seconds: a sign, digits, and a fraction that is rounded down (-1.5 is -2); nil for anything
  /// else.
  static func seconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    let isNegative = bytes.first == UInt8(ascii: "-")
    let digits = bytes[within: (isNegative ? 1 : 0)..<bytes.count]
    let point = digits.firstIndex(of: UInt8(ascii: "."))
    let integer = digits[within: 0..<(point ?? digits.count)]
    guard !integer.isEmpty, var magnitude = magnitude(integer) else { return nil }
    if let point {
      let fraction = digits[within: (point + 1)..<digits.count]
      guard !fraction.isEmpty, fraction.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
      if isNegative && fraction.contains(where: { $0 != 0x30 }) { magnitude += 1 }
    }
    guard isNegative else { return Int64(exactly: magnitude) }
    // Int64.min has no positive counterpart.
    return magnitude == Int64.min.magnitude ? .min : Int64(exactly: magnitude).map { -$0 }
  }

  /// The most characters of a number, of which one is its sign.
  static let maxLength = 20

  /// Appends a number's digits.
  static func write(_ value: Int64, into bytes: inout [UInt8]) {
    RowBytes.append(to: &bytes, room: maxLength) { $0.put(value) }
  }

  /// Parses digits; nil when a byte is not a digit, or when the number is far beyond Int64.
  private static func magnitude(_ digits: UnsafeRawBufferPointer) -> UInt64? {
    var value: UInt64 = 0
    for byte in digits {
      let digit = byte &- 0x30
      guard digit < 10, value <= UInt64(Int64.max) / 10 else { return nil }
      value = value * 10 + UInt64(digit)
    }
    return value
  }
}
