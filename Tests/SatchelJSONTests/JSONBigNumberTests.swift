import SatchelTesting
import Testing

@testable import SatchelJSON

@Suite("Big numbers")
struct JSONBigNumberTests {
  /// In ascending order; equal values in one row.
  private static let ordered = [
    ["-1e9223372036854775000"], ["-1e400", "-0.01E402"], ["-99999999999999999999"], ["-9223372036854775809"],
    ["9223372036854775808"], ["18446744073709551615"], ["18446744073709551616"], ["18446744073709551617"],
    ["1" + String(repeating: "0", count: 330), "1e330", "1000e+327", "0.001e00333"],
    ["1" + String(repeating: "0", count: 329) + "1"], ["1e400", "1.000e400"], ["1.001e400"],
    ["1e9223372036854775000"],
  ]

  private static func number(_ text: String) throws -> JSONBigNumber { try #require(JSONBigNumber(text)) }

  @Test("are ordered by their exact value, without building their digits")
  func order() throws {
    for (left, ones) in Self.ordered.enumerated() {
      for (right, others) in Self.ordered.enumerated() {
        for one in ones {
          for other in others {
            let order = try Self.number(one).order(Self.number(other))
            #expect(order.signum() == (left < right ? -1 : left > right ? 1 : 0), "\(one) and \(other)")
          }
        }
      }
    }
  }

  @Test("equal each other however they are written, within one kind, and no integer or double as JSON values")
  func equality() throws {
    #expect(big("1e400") == big("10E+399"))
    #expect(big("1e330") != big("1" + String(repeating: "0", count: 330)), "a number and an integer")
    #expect(big("18446744073709551616") != .double(0x1p64))
    #expect(JSONValue.equal(big("18446744073709551616"), .double(0x1p64), numerically: true))
    #expect(!JSONValue.equal(big("18446744073709551617"), .double(0x1p64), numerically: true))
    #expect(try Self.number("100.0e400").canonical.text == "1e402")
    #expect(try Self.number("-1.2500e400").canonical.text == "-1.25e400")
    #expect(
      try Self.number("123456789012345678901234567890").canonical.text == "123456789012345678901234567890")
  }

  @Test("compare with integers and doubles by their exact value", arguments: 1...20 as ClosedRange<UInt64>)
  func integersAndDoubles(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    for _ in 0..<50 {
      let shift = Int.random(in: 65...120, using: &generator)
      let magnitude =
        Int128(1) << shift + Int128(UInt64.random(in: 0...(.max), using: &generator)) << (shift - 65)
      let value = Bool.random(using: &generator) ? magnitude : -magnitude
      let exact = try Self.number("\(value)")
      // An Int128 has the exact value of each of them.
      for other in [Double(value), Double(value).nextUp, Double(value).nextDown, 0, -5] as [Double] {
        let wanted = (value - Int128(other)).signum()
        #expect(exact.order(other)?.signum() == Int(wanted), "\(value) and \(other)")
      }
      #expect(exact.order(Int64.max) == Int(value.signum()) && exact.order(Int64.min) == Int(value.signum()))
    }
    #expect(try Self.number("1e400").order(Double.nan) == nil)
    #expect(try Self.number("1e400").order(Double.infinity) == -1)
    #expect(try Self.number("-1e400").order(-Double.infinity) == 1)
    #expect(try Self.number("1e400").order(Double.greatestFiniteMagnitude) == 1)
  }

  @Test(
    "are nothing but JSON numbers that neither an Int64 nor a double holds",
    arguments: [
      "", "1", "-9223372036854775808", "1.5", "1e308", "1e-400", "01e400", "1e400 ", " 1e400", "+1e400", "1e",
      "nan", "[1e400]", "\"1e400\"", "1e9223372036854775807",
    ])
  func refused(text: String) { #expect(JSONBigNumber(text) == nil) }

  @Test("of a megabyte of digits are compared by all of them")
  func long() throws {
    let digits = String(repeating: "7", count: 1_000_000)
    #expect(try Self.number(digits + "1").order(Self.number(digits + "2")) < 0)
    #expect(try Self.number(digits + "1").order(Self.number("7." + digits + "e1000000")) < 0)
    #expect(try Self.number(digits).order(Self.number("1e999999")) > 0)
  }
}
