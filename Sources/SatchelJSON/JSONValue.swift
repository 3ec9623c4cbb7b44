/// A JSON value.
///
/// Integers and doubles are different values (`1` and `1.0` are not equal), so that numbers round-trip; a
/// number that neither holds is kept as it was written.
/// Strings and keys are compared by their bytes, as RFC 8259 specifies, not by Unicode equivalence.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case bigNumber(JSONBigNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The maximum nesting depth of containers; the outermost is level 1.
  public static let maximumDepth = 512
}

extension JSONValue {
  /// Whether the value is null.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// The Boolean; nil for any other value.
  public var boolValue: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// The integer; nil for any other value, including doubles and big numbers.
  public var intValue: Int64? {
    if case .int(let value) = self { return value }
    return nil
  }

  /// The number; an integer is rounded to the nearest double. Nil for a big number, and when the
  /// value is not a number.
  public var doubleValue: Double? {
    switch self {
    case .int(let value): return Double(value)
    case .double(let value): return value
    default: return nil
    }
  }

  /// The string; nil for any other value.
  public var stringValue: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  /// The elements; nil when the value is not an array.
  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { return value }
    return nil
  }

  /// The members; nil when the value is not an object.
  public var objectValue: JSONObject? {
    if case .object(let value) = self { return value }
    return nil
  }

  /// The value of a member; nil when it is absent, or this value is not an object.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// The kind of the value for messages, such as "an object" or "a number".
  package var kind: String {
    switch self {
    case .null: return "null"
    case .bool: return "a boolean"
    case .int, .double: return "a number"
    case .bigNumber: return "a number beyond the range of 64 bits"
    case .string: return "a string"
    case .array: return "an array"
    case .object: return "an object"
    }
  }
}

/// Literals of every kind except `nil`, which must keep meaning "no value" for a `JSONValue?`; null is
/// `.null`.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  public init(integerLiteral value: Int64) { self = .int(value) }

  public init(floatLiteral value: Double) { self = .double(value) }

  public init(stringLiteral value: String) { self = .string(value) }

  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Creates an object; a repeated key has its last value.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements))
  }
}

/// Moves without copies. Swift modifies a container in place only while it has one owner, otherwise it copies
/// the whole container. A pattern such as `case .object(var object) = self` creates a second owner
/// (measured); these functions do not.
extension JSONValue {
  /// Returns the value and leaves null.
  mutating func moved() -> JSONValue {
    var value = JSONValue.null
    swap(&self, &value)
    return value
  }

  /// Returns the members and leaves null; when the value is not an object, returns nil and leaves it
  /// unchanged.
  @inline(never)
  mutating func movedObject() -> JSONObject? {
    guard case .object(let object) = self else { return nil }
    self = .null
    return object
  }

  /// Returns the elements and leaves null; when the value is not an array, returns nil and leaves it
  /// unchanged.
  @inline(never)
  mutating func movedArray() -> [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    self = .null
    return elements
  }
}
