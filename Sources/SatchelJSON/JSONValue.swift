/// One JSON value: what a text says, without its white space and spelling.
///
/// Integers and doubles are different values (`1` and `1.0` are not equal), so that a number comes back as it
/// was sent. Strings and keys are compared by their bytes, as RFC 8259 wants it, not by Unicode equivalence.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// How many containers may stand inside each other; the outermost is level 1.
  public static let maximumDepth = 512
}

extension JSONValue {
  /// Whether it is null.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// The truth value; nil when it is something else.
  public var boolValue: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// The integer; nil when it is something else, doubles included.
  public var intValue: Int64? {
    if case .int(let value) = self { return value }
    return nil
  }

  /// The number, an integer rounded to the nearest double; nil when it is no number.
  public var doubleValue: Double? {
    switch self {
    case .int(let value): return Double(value)
    case .double(let value): return value
    default: return nil
    }
  }

  /// The text; nil when it is something else.
  public var stringValue: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  /// The elements; nil when it is no array.
  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { return value }
    return nil
  }

  /// The members; nil when it is no object.
  public var objectValue: JSONObject? {
    if case .object(let value) = self { return value }
    return nil
  }

  /// The member of that name; nil when there is none, or when this is no object.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// What kind of value it is, for messages: "an object", "a number".
  package var kind: String {
    switch self {
    case .null: return "null"
    case .bool: return "a boolean"
    case .int, .double: return "a number"
    case .string: return "a string"
    case .array: return "an array"
    case .object: return "an object"
    }
  }
}
