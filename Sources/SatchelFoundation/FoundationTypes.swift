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
    let text = try text(json)
    // Foundation would read the beginning of "12 euro".
    let isNumber = text.wholeMatchesDecimal
    return try made(
      isNumber ? Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) : nil, "not a decimal")
  }
}

/// Why a value has no form, or a form no value.
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
