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

  /// Whether this is an integer multiple of another number.
  func isMultiple(of other: JSONDecimal) -> Bool {
    guard digits != 0 else { return true }
    guard other.digits != 0 else { return false }
    var shift = exponent - other.exponent
    if shift >= 0 {
      // digits * 10^shift modulo the other's digits, by repeated squaring.
      let modulus = UInt128(other.digits)
      var (result, power) = (UInt128(digits) % modulus, UInt128(10) % modulus)
      while shift > 0 {
        if shift & 1 == 1 { result = result * power % modulus }
        power = power * power % modulus
        shift >>= 1
      }
      return result == 0
    }
    // The other number is larger than any digits.
    guard shift >= -19 else { return false }
    let divisor = (0..<(-shift)).reduce(UInt128(other.digits)) { power, _ in power * 10 }
    return UInt128(digits) % divisor == 0
  }
}
