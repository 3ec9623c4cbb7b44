import CNettle
import SatchelCore
import SatchelStorage

/// The MD5 of a photo's bytes, which identifies the photo in a catalogue.
public struct MD5: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Bytes 0 to 7, big-endian.
  let high: UInt64
  /// Bytes 8 to 15, big-endian.
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads 32 hexadecimal digits, in either case; nil for anything else.
  public init?(_ text: String) {
    var text = text
    let read = text.withUTF8 { digits in
      digits.count == 32 ? MD5(digitsOf: UnsafeRawBufferPointer(digits), at: 0, lowerOnly: false) : nil
    }
    guard let read else { return nil }
    self = read
  }

  /// Makes an MD5 from 16 bytes; nil for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads 32 digits at `start`; nil when they are not hexadecimal, or fewer.
  @inline(__always)
  init?(digitsOf bytes: UnsafeRawBufferPointer, at start: Int, lowerOnly: Bool) {
    guard start >= 0, bytes.count - start >= 32,
      let high = MD5.word(bytes, at: start, lowerOnly: lowerOnly),
      let low = MD5.word(bytes, at: start + 16, lowerOnly: lowerOnly)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - $0 % 8 * 8)) }
  }

  /// 32 hexadecimal digits in lower case.
  public var description: String { withUnsafeBytes(of: digits) { String(decoding: $0, as: UTF8.self) } }

  /// The shard that the photo belongs to.
  public var shard: Shard.Index { Shard.Index(firstDigitOf: self) }

  public static func < (left: MD5, right: MD5) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }

  /// Appends the 32 digits.
  func write(into bytes: inout [UInt8]) {
    withUnsafeBytes(of: digits) { bytes.append(contentsOf: $0) }
  }

  /// The 32 digits as they lie in memory.
  typealias Digits = (UInt64, UInt64, UInt64, UInt64)

  var digits: Digits {
    (
      MD5.digits(high >> 32), MD5.digits(high & 0xFFFF_FFFF), MD5.digits(low >> 32),
      MD5.digits(low & 0xFFFF_FFFF)
    )
  }

  /// Reads sixteen digits.
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, at start: Int, lowerOnly: Bool) -> UInt64? {
    if lowerOnly {
      guard let high = eight(bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
        let low = eight(bytes.loadUnaligned(fromByteOffset: start &+ 8, as: UInt64.self))
      else { return nil }
      return high << 32 | low
    }
    var value: UInt64 = 0
    for position in start..<start &+ 16 {
      let digit = bytes[position] &- 0x30
      let letter = (bytes[position] | 0x20) &- 0x61
      guard digit < 10 || letter < 6 else { return nil }
      value = value << 4 | UInt64(digit < 10 ? digit : letter + 10)
    }
    return value
  }

  /// Reads eight lower-case digits at once, as they lie in memory: every row that is read begins with this.
  @inline(__always)
  private static func eight(_ loaded: UInt64) -> UInt64? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let text = UInt64(bigEndian: loaded)
    // Letters have bit 6. A byte that is not a digit gives more than 15, or is not the digit that its value
    // is written as.
    var value = (text & (ones * 15)) &+ ((text >> 6) & ones) &* 9
    let letters = ((value &+ ones * 6) >> 4) & ones
    guard value & (ones * 16) == 0, value &+ ones * 0x30 &+ letters * 0x27 == text else { return nil }
    value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
    value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
    return (value | value >> 16) & 0xFFFF_FFFF
  }

  /// Returns the eight lower-case digits of 32 bits, as they lie in memory: the inverse of `eight`.
  @inline(__always)
  private static func digits(_ value: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var spread = (value | value << 16) & 0x0000_FFFF_0000_FFFF
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
    spread = (spread | spread << 4) & (ones * 15)
    let letters = ((spread &+ ones * 6) >> 4) & ones
    return (spread &+ ones * 0x30 &+ letters * 0x27).bigEndian
  }
}

extension MD5 {
  /// Passes the 16 bytes to `body`, to be bound to a statement.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    var words = (high.bigEndian, low.bigEndian)
    return try withUnsafeBytes(of: &words) { try body($0) }
  }

  /// Reads 16 bytes of a row.
  init?(row bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// The first and the last MD5 that a shard can hold.
  static func bounds(of shard: Shard.Index) -> ClosedRange<MD5> {
    let first = UInt64(truncatingIfNeeded: shard.number) << 60
    return MD5(high: first, low: 0)...MD5(high: first | UInt64.max >> 4, low: .max)
  }

  /// The next MD5; nil for the very last.
  var next: MD5? {
    if low < .max { return MD5(high: high, low: low + 1) }
    return high < .max ? MD5(high: high + 1, low: 0) : nil
  }
}

extension MD5 {
  /// Computes the MD5 of a file's bytes.
  init(of bytes: [UInt8]) {
    var hash = MD5Hash()
    bytes.withUnsafeBytes { hash.update($0) }
    self = hash.digest()
  }
}

/// Computes the MD5 of bytes that arrive in parts.
struct MD5Hash {
  private var context = md5_ctx()

  init() { nettle_md5_init(&context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_md5_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// Returns the MD5, and resets the hash.
  mutating func digest() -> MD5 {
    var bytes = [UInt8](repeating: 0, count: Int(MD5_DIGEST_SIZE))
    nettle_md5_digest(&context, bytes.count, &bytes)
    func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    return MD5(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
  }
}
