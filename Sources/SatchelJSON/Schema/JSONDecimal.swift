/// A number as decimal digits and an exponent, so that 19.99 is a multiple of 0.01, which a division of
/// doubles does not find.
struct JSONDecimal: Sendable {
  /// The digits as an integer, without a sign.
  let digits: UInt64
  /// The exponent of the power of ten.
  let exponent: Int

  /// - Returns: nil for a number that is not finite
  init?(_ number: JSONNumber) {
    switch number {
    case .int(let number): (digits, exponent) = (number.magnitude, 0)
    case .double(let number):
      guard number.isFinite else { return nil }
      var (digits, exponent) = (UInt64(0), 0)
      var isFraction = false
      var bytes = number.magnitude.description.utf8[...]
      while let byte = bytes.popFirst() {
        if byte == UInt8(ascii: ".") {
          isFraction = true
        } else if byte == UInt8(ascii: "e") {
          exponent += Int(Substring(bytes)) ?? 0
          break
        } else {
          // A double has at most 17 significant digits, and Swift appends only zeros to them.
          let (shifted, isOver) = digits.multipliedReportingOverflow(by: 10)
          let (sum, isBeyond) = shifted.addingReportingOverflow(UInt64(byte & 0xF))
          guard !isOver, !isBeyond else { return nil }
          digits = sum
          if isFraction { exponent -= 1 }
        }
      }
      (self.digits, self.exponent) = (digits, exponent)
    }
  }

  /// - Returns: nil for more than 19 digits, or an exponent beyond Int
  init?(_ number: JSONExpansion) {
    let (exponent, isBeyond) = number.magnitude.subtractingReportingOverflow(Int64(number.digits.count))
    guard number.digits.count <= 19, !isBeyond, let exponent = Int(exactly: exponent) else { return nil }
    digits = number.digits.reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1) }
    self.exponent = exponent
  }

  /// Whether a number is an integer multiple of this one.
  func divides(_ number: JSONExpansion) -> Bool {
    let shift = Int128(number.magnitude) - Int128(number.digits.count) - Int128(exponent)
    // The last digit is not 0, so that the digits are no multiple of a power of ten.
    guard shift >= 0, digits != 0 else { return false }
    let modulus = UInt128(digits)
    let rest = number.digits.reduce(UInt128(0)) { ($0 * 10 + UInt128($1)) % modulus }
    return rest * Self.power(of: shift, modulo: modulus) % modulus == 0
  }

  /// Returns the power of ten modulo a number below 2^64, by repeated squaring.
  private static func power(of exponent: Int128, modulo modulus: UInt128) -> UInt128 {
    var (exponent, result, power) = (exponent, 1 % modulus, UInt128(10) % modulus)
    while exponent > 0 {
      if exponent & 1 == 1 { result = result * power % modulus }
      power = power * power % modulus
      exponent >>= 1
    }
    return result
  }

  /// Whether this is an integer multiple of another number.
  func isMultiple(of other: JSONDecimal) -> Bool {
    guard digits != 0 else { return true }
    guard other.digits != 0 else { return false }
    let shift = Int128(exponent) - Int128(other.exponent)
    if shift >= 0 {
      let modulus = UInt128(other.digits)
      return UInt128(digits) % modulus * Self.power(of: shift, modulo: modulus) % modulus == 0
    }
    // The other number is larger than any digits.
    guard shift >= -19 else { return false }
    let divisor = (0..<Int(-shift)).reduce(UInt128(other.digits)) { power, _ in power * 10 }
    return UInt128(digits) % divisor == 0
  }
}
