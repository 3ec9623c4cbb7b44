/// Random names of lower-case hexadecimal digits; those of 32 digits are unique in practice.
package enum HexadecimalName {
  /// - Parameter digits: an even number
  package static func random(digits: Int) -> String {
    (0..<digits / 2).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
  }

  /// Returns the bytes that a name has the digits of.
  package static func bytes(_ name: String) -> [UInt8] {
    var (bytes, high) = ([UInt8](), UInt8?.none)
    bytes.reserveCapacity(name.utf8.count / 2)
    for digit in name.utf8 {
      let value = digit < UInt8(ascii: "a") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
      if let first = high { bytes.append(first << 4 | value & 15) }
      high = high == nil ? value : nil
    }
    return bytes
  }

  /// Returns the digits of bytes, two each.
  static func text(of bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
      }
      for index in bytes.indices {
        text.initializeElement(at: index * 2, to: digit(bytes[index] >> 4))
        text.initializeElement(at: index * 2 + 1, to: digit(bytes[index] & 15))
      }
      return bytes.count * 2
    }
  }

  package static func isName(_ text: String, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
  }
}
