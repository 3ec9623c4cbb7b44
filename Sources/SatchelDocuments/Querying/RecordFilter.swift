import SatchelJSON

/// The filter of a query.
public indirect enum RecordFilter: Sendable {
  /// A test of a field: "a.b" or a JSON Pointer, or "@id", "@created", "@modified", "@revision",
  /// "@sync_status".
  case field(String, RecordTest)
  /// All filters must match; an empty list always matches.
  case all([RecordFilter])
  /// At least one filter must match; an empty list never matches.
  case any([RecordFilter])
  case not(RecordFilter)
}

/// The test of a field. Ranges compare numbers with numbers, and strings with strings by their UTF-8 bytes. A
/// missing field satisfies only `notEquals` and `exists(false)`.
public enum RecordTest: Sendable {
  /// 1 equals 1.0.
  case equals(JSONValue)
  case notEquals(JSONValue)
  case less(JSONValue)
  case lessOrEqual(JSONValue)
  case greater(JSONValue)
  case greaterOrEqual(JSONValue)
  case oneOf([JSONValue])
  /// A string with this prefix.
  case prefix(String)
  /// An array with this element, or a string with this substring.
  case contains(JSONValue)
  /// Whether the field exists; null counts as existing.
  case exists(Bool)
}

extension RecordFilter {
  /// Reads the JSON form of the public interfaces: an object whose members must all hold, `{"path": value}`
  /// or `{"path": {"gte": 1, "lt": 5}}`, with "any", "all" and "not" to combine.
  ///
  /// - Throws: `JSONError` with the pointer
  package init(json: JSONValue) throws { try self.init(json, at: "") }

  init(_ json: JSONValue, at pointer: String) throws {
    guard case .object(let members) = json else {
      throw JSONError("a condition must be an object", pointer: pointer)
    }
    var parts: [RecordFilter] = []
    for (key, value) in members {
      let location = pointer + "/" + JSONPointer.escaped(key)
      switch key {
      case "any": parts.append(.any(try Self.list(value, at: location)))
      case "all": parts.append(.all(try Self.list(value, at: location)))
      case "not": parts.append(.not(try RecordFilter(value, at: location)))
      default: parts += try RecordTest.read(value, at: location).map { .field(key, $0) }
      }
    }
    self = parts.count == 1 ? parts[0] : .all(parts)
  }

  private static func list(_ json: JSONValue, at pointer: String) throws -> [RecordFilter] {
    guard case .array(let elements) = json else {
      throw JSONError("must be an array of conditions", pointer: pointer)
    }
    return try elements.enumerated().map { try RecordFilter($1, at: "\(pointer)/\($0)") }
  }
}

extension RecordTest {
  /// Reads a member of a condition: an object holds operators, any other value means equality.
  fileprivate static func read(_ json: JSONValue, at pointer: String) throws -> [RecordTest] {
    switch json {
    case .object(let operators):
      guard !operators.isEmpty else {
        throw JSONError("no operator; to compare with an object, use \"eq\"", pointer: pointer)
      }
      return try operators.map { try read($0.key, $0.value, at: "\(pointer)/\(JSONPointer.escaped($0.key))") }
    case .array:
      throw JSONError("to compare with an array, use \"eq\", \"in\" or \"contains\"", pointer: pointer)
    default: return [.equals(json)]
    }
  }

  private static func read(_ name: String, _ value: JSONValue, at pointer: String) throws -> RecordTest {
    switch name {
    case "eq": return .equals(value)
    case "ne": return .notEquals(value)
    case "lt": return .less(value)
    case "lte": return .lessOrEqual(value)
    case "gt": return .greater(value)
    case "gte": return .greaterOrEqual(value)
    case "contains": return .contains(value)
    case "in":
      guard case .array(let values) = value else { throw JSONError("must be an array", pointer: pointer) }
      return .oneOf(values)
    case "prefix":
      guard case .string(let text) = value else { throw JSONError("must be a string", pointer: pointer) }
      return .prefix(text)
    case "exists":
      guard case .bool(let wanted) = value else { throw JSONError("must be true or false", pointer: pointer) }
      return .exists(wanted)
    default:
      throw JSONError(
        "unknown operator; the operators are eq, ne, lt, lte, gt, gte, in, prefix, contains and exists",
        pointer: pointer)
    }
  }
}
