/// Random names of lower-case hexadecimal digits; those of 32 digits are unique in practice.
package enum HexadecimalName {
  /// - Parameter digits: an even number
  package static func random(digits: Int) -> String {
    (0..<digits / 2).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
  }

  package static func isName(_ text: String, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
  }
}
