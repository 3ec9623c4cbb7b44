/// The numbers of a row, in every spelling that is understood.
enum ShardNumber {
  /// Digits only, within Int64; nil for anything else.
  static func whole(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    return magnitude(bytes).flatMap { Int64(exactly: $0) }
  }

  /// Unix seconds: a sign, digits, and a fraction that is rounded down (-1.5 is -2); nil for anything else.
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
    // The lowest number has no positive counterpart.
    return magnitude == Int64.min.magnitude ? .min : Int64(exactly: magnitude).map { -$0 }
  }

  /// Appends a number's digits.
  static func write(_ value: Int64, into bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = value.magnitude
    repeat {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Nil when a byte is no digit, or when the number is far beyond Int64.
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
