/// A natural number of any size, with addition digit by digit.
struct CountNumber {
  /// Nine decimal digits each, lowest first.
  private var digits: [UInt32]
  private static let base: UInt32 = 1_000_000_000

  init(_ value: UInt32) { digits = [value % Self.base, value / Self.base] }

  static func += (one: inout CountNumber, other: CountNumber) {
    var carry: UInt32 = 0
    for index in 0..<max(one.digits.count, other.digits.count) {
      if index == one.digits.count { one.digits.append(0) }
      var sum = one.digits[index] + carry
      if index < other.digits.count { sum += other.digits[index] }
      carry = sum >= base ? 1 : 0
      one.digits[index] = sum % base
    }
    if carry > 0 { one.digits.append(carry) }
  }

  var decimal: String {
    var text = ""
    for digit in digits.reversed() {
      let nine = String(digit)
      text += String(repeating: "0", count: 9 - nine.count) + nine
    }
    let trimmed = text.drop { $0 == "0" }
    return trimmed.isEmpty ? "0" : String(trimmed)
  }
}
