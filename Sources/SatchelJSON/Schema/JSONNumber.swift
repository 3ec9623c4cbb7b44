/// A number of a document or a schema that is not a big number: an integer stays exact.
enum JSONNumber: Sendable {
  case int(Int64)
  case double(Double)

  /// - Returns: nil for a big number, and for a value that is not a number
  init?(_ value: JSONValue) {
    switch value {
    case .int(let number): self = .int(number)
    case .double(let number): self = .double(number)
    default: return nil
    }
  }

  var isInteger: Bool {
    switch self {
    case .int: true
    case .double(let number): number.isFinite && number.rounded(.towardZero) == number
    }
  }

  /// The number in messages.
  var text: String {
    let value: JSONValue =
      switch self {
      case .int(let number): .int(number)
      case .double(let number): .double(number)
      }
    return (try? value.text) ?? value.kind
  }

  /// Compares exactly, without rounding an integer to a double. Returns nil when one is NaN.
  func order(_ other: JSONNumber) -> Int? {
    switch (self, other) {
    case (.int(let one), .int(let other)): Self.sign(one, other)
    case (.double(let one), .double(let other)): one.isNaN || other.isNaN ? nil : Self.sign(one, other)
    case (.int(let one), .double(let other)): Self.order(one, other)
    case (.double(let one), .int(let other)): Self.order(other, one).map { -$0 }
    }
  }

  private static func order(_ integer: Int64, _ number: Double) -> Int? {
    guard !number.isNaN else { return nil }
    if number >= 0x1p63 { return -1 }
    guard number >= -0x1p63, let whole = Int64(exactly: number.rounded(.down)) else { return 1 }
    return integer == whole && number > number.rounded(.down) ? -1 : sign(integer, whole)
  }

  private static func sign<Number: Comparable>(_ one: Number, _ other: Number) -> Int {
    one < other ? -1 : one > other ? 1 : 0
  }
}

extension JSONBigNumber {
  func order(_ other: JSONNumber) -> Int? {
    switch other {
    case .int(let number): order(number)
    case .double(let number): order(number)
    }
  }
}
