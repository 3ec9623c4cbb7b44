/// Reads and writes scalars as UTF-8.
enum UTF8Scalars {
  /// Returns the scalar at an index and its number of bytes; -1 and 1 for a byte that does not begin a valid sequence.
  static func decode(_ text: UnsafeRawBufferPointer, at index: Int) -> (scalar: Int32, length: Int) {
    let lead = text[index]
    if lead < 0x80 { return (Int32(lead), 1) }
    let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
    guard lead >= 0xC2, lead < 0xF5, index + length <= text.count else { return (-1, 1) }
    var scalar = Int32(lead) & (0xFF >> Int32(length + 1))
    for offset in 1..<length {
      let byte = text[index + offset]
      guard byte & 0xC0 == 0x80 else { return (-1, 1) }
      scalar = scalar << 6 | Int32(byte & 0x3F)
    }
    // Overlong forms, surrogates, and what is beyond Unicode.
    let isValid =
      switch length {
      case 2: true
      case 3: scalar >= 0x800 && !(0xD800...0xDFFF).contains(scalar)
      default: scalar >= 0x10000 && scalar <= 0x10FFFF
      }
    return isValid ? (scalar, length) : (-1, 1)
  }

  /// Appends a valid scalar.
  static func append(_ scalar: Int32, to bytes: inout [UInt8]) {
    let value = UInt32(bitPattern: scalar)
    func rest(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift & 0x3F | 0x80) }
    if value < 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else if value < 0x800 {
      bytes.append(UInt8(truncatingIfNeeded: value >> 6 | 0xC0))
      bytes.append(rest(0))
    } else if value < 0x10000 {
      bytes.append(UInt8(truncatingIfNeeded: value >> 12 | 0xE0))
      bytes.append(rest(6))
      bytes.append(rest(0))
    } else {
      bytes.append(UInt8(truncatingIfNeeded: value >> 18 | 0xF0))
      bytes.append(rest(12))
      bytes.append(rest(6))
      bytes.append(rest(0))
    }
  }

  /// Whether a text has only scalars below U+0300, none of which changes in NFC.
  static func isLatin(_ text: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < text.count {
      let lead = text[index]
      if lead < 0x80 {
        index += 1
      } else {
        guard (0xC2...0xCB).contains(lead), index + 1 < text.count, text[index + 1] & 0xC0 == 0x80 else {
          return false
        }
        index += 2
      }
    }
    return true
  }
}
