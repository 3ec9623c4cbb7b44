import SatchelStorage

extension MD5 {
  /// Hands out the 16 bytes, to be bound.
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

  /// The first and the last that a shard can hold.
  static func bounds(of shard: Shard.Index) -> ClosedRange<MD5> {
    let first = UInt64(truncatingIfNeeded: shard.number) << 60
    return MD5(high: first, low: 0)...MD5(high: first | UInt64.max >> 4, low: .max)
  }

  /// The next one; nil for the very last.
  var next: MD5? {
    if low < .max { return MD5(high: high, low: low + 1) }
    return high < .max ? MD5(high: high + 1, low: 0) : nil
  }

  /// The one before; nil for the very first.
  var previous: MD5? {
    if low > 0 { return MD5(high: high, low: low - 1) }
    return high > 0 ? MD5(high: high - 1, low: .max) : nil
  }
}
