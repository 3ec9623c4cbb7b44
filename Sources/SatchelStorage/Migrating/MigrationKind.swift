import SatchelJSON

/// The kind of value that a migration converts to. Null stays null, and a value of the kind is unchanged.
///
/// - string: numbers as JSON writes them (12 → "12", 0.5 → "0.5"), true → "true"
/// - integer: "12" → 12, 12.0 → 12; nothing else, 12.5 neither
/// - number: "12" → 12, "0.5" → 0.5: a JSON number
/// - boolean: "true" → true, "false" → false; nothing else
/// - array: any value becomes the only element, 1 → [1]; migrating back, the only element becomes the value
public enum MigrationKind: String, Sendable, CaseIterable {
  case string, integer, number, boolean, array

  /// Creates the kind of a value; nil for null and objects, to which nothing can be converted.
  init?(of value: JSONValue) {
    switch value {
    case .string: self = .string
    case .int: self = .integer
    case .double: self = .number
    case .bigNumber(let number): self = number.isInteger ? .integer : .number
    case .bool: self = .boolean
    case .array: self = .array
    case .null, .object: return nil
    }
  }

  /// Converts a value to this kind.
  ///
  /// - Throws: `JSONError` without a pointer when it cannot be converted.
  func convert(_ value: JSONValue) throws -> JSONValue {
    switch (self, value) {
    case (_, .null), (.string, .string), (.integer, .int), (.number, .int), (.number, .double),
      (.number, .bigNumber),
      (.boolean, .bool), (.array, .array):
      return value
    case (.array, _): return [value]
    case (.integer, .bigNumber(let number)) where number.isInteger: return value
    case (.string, .int), (.string, .double), (.string, .bigNumber), (.string, .bool):
      return .string(try value.text)
    case (.integer, .double(let number)):
      if let integer = Int64(exactly: number) { return .int(integer) }
    case (.integer, .string(let text)):
      if let integer = scalar(text), MigrationKind(of: integer) == .integer { return integer }
    case (.number, .string(let text)):
      if let number = scalar(text), [.integer, .number].contains(MigrationKind(of: number)) { return number }
    case (.boolean, .string(let text)):
      if let boolean = scalar(text)?.boolValue { return .bool(boolean) }
    default: break
    }
    throw failure(value)
  }

  /// Converts a value of this kind back to its previous kind; nil means that it was neither a scalar nor an
  /// array.
  func revert(_ value: JSONValue, to kind: MigrationKind?) throws -> JSONValue {
    var value = value
    if self == .array, kind != .array, case .array(let elements) = value {
      guard elements.count == 1, let only = elements.first else {
        throw JSONError("an array of \(elements.count) elements cannot be converted back to one value")
      }
      value = only
    }
    return try kind?.convert(value) ?? value
  }

  /// Returns the JSON scalar that a string represents; nil for any other string.
  private func scalar(_ text: String) -> JSONValue? {
    let isPlain = text.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
    return isPlain ? try? JSONValue(parsing: text) : nil
  }

  private func failure(_ value: JSONValue) -> JSONError {
    let found: String
    switch value {
    case .array: found = "an array"
    case .object: found = "an object"
    default:
      let text = (try? value.text) ?? ""
      found = text.utf8.count <= 60 ? text : "a string of \(text.utf8.count) bytes"
    }
    let wanted: String
    switch self {
    case .integer, .array: wanted = "an \(rawValue)"
    default: wanted = "a \(rawValue)"
    }
    return JSONError("\(found) cannot be converted to \(wanted)")
  }
}
