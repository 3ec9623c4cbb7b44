/// Base64 (RFC 4648) with padding.
package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
      for position in 0..<4 {
        text.append(position > count ? padding : digits[Int(group >> UInt32(18 - 6 * position) & 63)])
      }
    }
  }

  /// Returns nil for anything that `append` does not write.
  package static func decoded(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    for start in stride(from: 0, to: text.count, by: 4) {
      var (group, count): (UInt32, Int) = (0, 0)
      for offset in 0..<4 {
        let byte = text[start + offset]
        group <<= 6
        if byte == padding, start + 4 == text.count, offset >= 2 { continue }
        guard let value = value(of: byte), count == offset else { return nil }
        group |= value
        count += 1
      }
      for position in 0..<count - 1 {
        bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position)))
      }
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
