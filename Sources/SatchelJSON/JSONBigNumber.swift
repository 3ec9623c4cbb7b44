/// A number that is neither an `Int64` nor within the range of a `Double`, as it was written: an integer such
/// as 18446744073709551615, or a number such as 1e400.
///
/// Big numbers are compared by their exact value; the exponent is compared as such, so that 1e999999999 costs
/// no more than its text.
public struct JSONBigNumber: Sendable {
  /// The number as JSON.
  public let text: String

  /// Creates a big number from its JSON text.
  ///
  /// - Returns: nil for text that is not a JSON number, for a number that is an `Int64` or within the range of
  ///   a `Double`, and for an exponent beyond `Int64`
  public init?(_ text: String) {
    let isBig = Array(text.utf8).withUnsafeBytes { bytes in
      guard var scanner = JSONScanner(tokensOf: bytes), let kind = try? scanner.number() else { return false }
      return kind == .bigNumber && scanner.position == bytes.count
    }
    guard isBig else { return nil }
    self.text = text
  }

  /// Creates the number of a text that a scanner has reported as one.
  package init(scanned text: String) { self.text = text }

  /// Whether the number is written without fraction and exponent, so that as a value it is an integer.
  public var isInteger: Bool {
    text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 }
  }

  public var isNegative: Bool { text.utf8.first == UInt8(ascii: "-") }

  /// The text for messages.
  package var shortened: String {
    text.utf8.count <= 60 ? text : "\(text.prefix(40))… of \(text.utf8.count) characters"
  }

  /// The exact value.
  package var expansion: JSONExpansion {
    var text = text
    // A scanned text has an expansion.
    return text.withUTF8 { JSONExpansion(UnsafeRawBufferPointer($0)) } ?? .zero
  }

  /// The number in the one form that equal numbers of its kind have: an integer as it is, any other with one
  /// digit before the decimal point.
  package var canonical: JSONBigNumber {
    guard !isInteger else { return self }
    let exact = expansion
    var text = exact.isNegative ? "-" : ""
    for (index, digit) in exact.digits.enumerated() {
      if index == 1 { text += "." }
      text += String(digit)
    }
    return JSONBigNumber(scanned: text + "e\(exact.magnitude - 1)")
  }
}

extension JSONBigNumber: Equatable {
  /// Returns whether both have the same kind, integer or not, and the same value: 1e400 and 10e399 are equal.
  public static func == (left: JSONBigNumber, right: JSONBigNumber) -> Bool {
    left.isInteger == right.isInteger && left.order(right) == 0
  }

  /// Returns the order of the exact values: negative when this one is less.
  package func order(_ other: JSONBigNumber) -> Int {
    text == other.text ? 0 : expansion.order(other.expansion)
  }

  /// Returns the order relative to an integer, which the sign decides.
  package func order(_ other: Int64) -> Int { isNegative ? -1 : 1 }

  /// Returns the order relative to the exact value of a double; nil for NaN.
  package func order(_ other: Double) -> Int? {
    guard !other.isNaN else { return nil }
    let exact = expansion
    let nearest = exact.nearest
    return nearest < other ? -1 : nearest > other ? 1 : exact.side(of: nearest)
  }
}

extension JSONValue {
  /// Creates an integer of any width.
  package init(integer: some BinaryInteger) {
    self = Int64(exactly: integer).map { .int($0) } ?? .bigNumber(JSONBigNumber(scanned: String(integer)))
  }
}

/// An exact decimal value: ±0.d₁d₂… × 10^magnitude, where neither the first nor the last digit is 0.
package struct JSONExpansion: Sendable {
  package let isNegative: Bool
  package let magnitude: Int64
  /// From 0 to 9 each.
  package let digits: [UInt8]

  static let zero = JSONExpansion(isNegative: false, magnitude: 0, digits: [])

  private init(isNegative: Bool, magnitude: Int64, digits: [UInt8]) {
    (self.isNegative, self.magnitude, self.digits) = (isNegative, magnitude, digits)
  }

  /// Creates the value of a JSON number.
  ///
  /// - Returns: nil when the exponent is beyond Int64
  init?(_ text: UnsafeRawBufferPointer) {
    var digits: [UInt8] = []
    digits.reserveCapacity(text.count)
    var whole: Int?
    var exponent: Int64 = 0
    for (offset, byte) in text.enumerated() {
      if byte &- UInt8(ascii: "0") < 10 {
        digits.append(byte - UInt8(ascii: "0"))
      } else if byte == UInt8(ascii: ".") {
        whole = digits.count
      } else if byte | 0x20 == UInt8(ascii: "e") {
        guard let stated = Int64(String(decoding: text.dropFirst(offset + 1), as: UTF8.self)) else {
          return nil
        }
        exponent = stated
        break
      }
    }
    let leading = digits.prefix { $0 == 0 }.count
    let (magnitude, isBeyond) = exponent.addingReportingOverflow(Int64((whole ?? digits.count) - leading))
    guard !isBeyond else { return nil }
    digits.removeFirst(leading)
    while digits.last == 0 { digits.removeLast() }
    self.init(isNegative: text.first == UInt8(ascii: "-"), magnitude: magnitude, digits: digits)
  }

  /// Creates the value of a decimal number: digits with an optional sign, fraction and exponent.
  ///
  /// - Returns: nil for another text, and when the exponent is beyond Int64
  package init?(decimal text: UnsafeRawBufferPointer) {
    var rest = text[...]
    func skipDigits() -> Int {
      let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }.count
      rest = rest.dropFirst(digits)
      return digits
    }
    func skip(_ allowed: StaticString) -> Bool {
      guard let byte = rest.first, allowed.withUTF8Buffer({ $0.contains(byte) }) else { return false }
      rest = rest.dropFirst()
      return true
    }
    let hasPlus = rest.first == UInt8(ascii: "+")
    _ = skip("+-")
    var digits = skipDigits()
    if skip(".") { digits += skipDigits() }
    guard digits > 0 else { return nil }
    if skip("eE") {
      _ = skip("+-")
      guard skipDigits() > 0 else { return nil }
    }
    guard rest.isEmpty else { return nil }
    self.init(UnsafeRawBufferPointer(rebasing: hasPlus ? text.dropFirst() : text[...]))
  }

  /// Creates the value of a finite double without a fraction.
  private init(whole number: Double) {
    // The digits in groups of 18, the last ones first.
    let group = 1_000_000_000_000_000_000 as UInt128
    var groups = [number.significandBitPattern | 1 << 52]
    var shift = Int(number.exponent) - 52
    while shift > 0 {
      let step = min(shift, 32)
      var carry: UInt128 = 0
      for index in groups.indices {
        carry += UInt128(groups[index]) << UInt128(step)
        groups[index] = UInt64(truncatingIfNeeded: carry % group)
        carry /= group
      }
      if carry > 0 { groups.append(UInt64(truncatingIfNeeded: carry)) }
      shift -= step
    }
    var digits: [UInt8] = []
    for var rest in groups {
      for _ in 0..<18 {
        digits.append(UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      }
    }
    while digits.last == 0 { digits.removeLast() }
    let magnitude = Int64(digits.count)
    digits.removeFirst(digits.prefix { $0 == 0 }.count)
    self.init(isNegative: number < 0, magnitude: magnitude, digits: digits.reversed())
  }

  /// Whether the value has no fraction.
  var isWhole: Bool { magnitude >= Int64(digits.count) }

  /// Returns the order of the values: negative when this one is less.
  func order(_ other: JSONExpansion) -> Int {
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let sign = isNegative ? -1 : 1
    if magnitude != other.magnitude { return magnitude < other.magnitude ? -sign : sign }
    if digits == other.digits { return 0 }
    return digits.lexicographicallyPrecedes(other.digits) ? -sign : sign
  }

  /// The number of digits that decide which double is nearest, and that of the largest double.
  private static let (decisiveDigits, maxMagnitude) = (800, 309 as Int64)

  /// The nearest double; infinity beyond the largest.
  package var nearest: Double {
    let infinity = isNegative ? -Double.infinity : Double.infinity
    guard magnitude <= Self.maxMagnitude else { return infinity }
    var text = Array((isNegative ? "-0." : "0.").utf8)
    text += digits.prefix(Self.decisiveDigits).map { $0 + UInt8(ascii: "0") }
    // Digits after these only decide about a tie.
    if digits.count > Self.decisiveDigits { text.append(UInt8(ascii: "1")) }
    return Double(String(decoding: text, as: UTF8.self) + "e\(magnitude)") ?? infinity
  }

  /// Returns the sign of this value less its nearest double, which has no fraction.
  package func side(of nearest: Double) -> Int {
    nearest.isFinite ? order(JSONExpansion(whole: nearest)) : isNegative ? 1 : -1
  }
}
