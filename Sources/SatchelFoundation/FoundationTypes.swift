import Foundation
import SatchelJSON

extension JSONConversions {
  /// Registers JSON forms for types of Foundation, which Python and other languages write and read alike: `Date` as
  /// ISO 8601 in UTC with six digits of the second, so that it sorts as text, `UUID`, `Decimal` and `URL` as text,
  /// `Data` as base64. Call it once, when the app starts.
  public static func registerFoundationTypes() {
    register(Date.self, encode: { .string(try DateText.text(of: $0)) }) { try DateText.date(of: text($0)) }
    register(UUID.self, encode: { .string($0.uuidString.lowercased()) }) {
      try made(UUID(uuidString: text($0)), "not a UUID")
    }
    register(URL.self, encode: { .string($0.absoluteString) }) {
      try made(URL(string: text($0)), "not a URL")
    }
    register(Data.self, encode: { .string($0.base64EncodedString()) }) {
      try made(Data(base64Encoded: text($0)), "not base64")
    }
    register(Decimal.self, encode: encoded(decimal:), decode: decimal(of:))
  }

  private static func text(_ json: JSONValue) throws -> String { try made(json.stringValue, "not a string") }

  private static func made<Value>(_ value: Value?, _ reason: String) throws -> Value {
    guard let value else { throw FormError(reason) }
    return value
  }

  private static func encoded(decimal: Decimal) throws -> JSONValue {
    guard decimal.isFinite else { throw FormError("\(decimal) is not finite") }
    return .string(decimal.description)
  }

  private static func decimal(of json: JSONValue) throws -> Decimal {
    // A number as well: an integer is exact.
    if case .int(let integer) = json { return Decimal(integer) }
    if case .bigNumber(let number) = json, number.isInteger, number.text.utf8.count <= 38 {
      return try made(Decimal(string: number.text), "not a decimal")
    }
    let text = try text(json)
    // Foundation would read the beginning of "12 euro".
    let isNumber = text.wholeMatchesDecimal
    return try made(
      isNumber ? Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) : nil, "not a decimal")
  }
}

/// The reason why a value has no JSON form, or a JSON form has no value.
struct FormError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension String {
  /// Whether it is a decimal number: a sign, digits, a fraction and an exponent.
  fileprivate var wholeMatchesDecimal: Bool {
    var rest = self[...]
    func digits() -> Int {
      let found = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(found.count)
      return found.count
    }
    func skip(_ characters: String) -> Bool {
      guard let first = rest.first, characters.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = skip("+-")
    var count = digits()
    if skip(".") { count += digits() }
    guard count > 0 else { return false }
    if skip("eE") {
      _ = skip("+-")
      guard digits() > 0 else { return false }
    }
    return rest.isEmpty
  }
}

/// Dates as ISO 8601 in UTC: "2027-03-05T09:30:00.000000Z".
enum DateText {
  /// The microseconds since 1970 of the years 1 to 9999.
  private static let range: ClosedRange<Double> = -62_135_596_800_000_000...253_402_300_799_000_000

  static func text(of date: Date) throws -> String {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    guard range.contains(microseconds) else { throw FormError("the date has no year from 1 to 9999") }
    let (seconds, fraction) = ISODateTime.floored(Int64(microseconds), by: 1_000_000)
    return ISODateTime.text(seconds: seconds, fraction: "." + ISODateTime.padded(fraction, 6))
  }

  /// Reads any offset, and any number of digits of the second.
  static func date(of text: String) throws -> Date {
    guard let time = ISODateTime(text, years: 1...9999),
      let fraction = Double("0." + String(decoding: time.fraction + [0x30], as: UTF8.self))
    else { throw FormError("not a date and time with an offset, as in “2027-03-05T09:30:00Z”") }
    return Date(timeIntervalSince1970: Double(time.seconds) + fraction)
  }
}
