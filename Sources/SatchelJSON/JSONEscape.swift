/// Resolves the escape sequences of JSON strings.
package enum JSONEscape {
  /// Decodes the bytes of a string (without quotes) that the scanner has validated.
  package static func resolved(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var units: [UInt8] = []
    units.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        units.append(bytes[index])
        index += 1
        continue
      }
      switch bytes[index + 1] {
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        let (scalar, length) = scalar(bytes, at: index)
        units.append(contentsOf: String(scalar).utf8)
        index += length
        continue
      default: units.append(bytes[index + 1])
      }
      index += 2
    }
    return String(decoding: units, as: UTF8.self)
  }

  private static func scalar(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (Unicode.Scalar, Int) {
    let replacement: Unicode.Scalar = "\u{FFFD}"
    guard let high = unit(bytes, at: index) else { return (replacement, 2) }
    if high & 0xFC00 == 0xD800, let low = unit(bytes, at: index + 6), low & 0xFC00 == 0xDC00 {
      return (Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF)) ?? replacement, 12)
    }
    return (Unicode.Scalar(high) ?? replacement, 6)
  }

  private static func unit(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
    guard index + 6 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    for byte in bytes[index + 2..<index + 6] {
      guard let digit = JSONScanner.hexDigit(byte) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }
}
