/// A JSON Patch (RFC 6902): operations that are applied in order, atomically.
public struct JSONPatch: Sendable {
  /// The maximum amount that one patch may copy with "copy", in values plus bytes of text. Without a limit,
  /// 40 operations that copy the whole value into itself would exhaust any memory.
  public static let copyLimit = 16 << 20

  /// One operation of a patch.
  enum Operation: Sendable {
    case add(JSONPath, JSONValue)
    case remove(JSONPath)
    case replace(JSONPath, JSONValue)
    case move(from: JSONPath, to: JSONPath)
    case copy(from: JSONPath, to: JSONPath)
    case test(JSONPath, JSONValue)
  }

  private let operations: [Operation]

  /// Parses a patch.
  ///
  /// - Parameter json: an array of operations; unknown members of an operation are ignored
  /// - Throws: `JSONError` with the index of the operation, and a pointer into the patch
  public init(json: JSONValue) throws {
    guard case .array(let items) = json else {
      throw JSONError("a JSON Patch is an array of operations, not \(json.kind)", pointer: "")
    }
    operations = try items.enumerated().map { index, item in
      do {
        return try JSONPatch.operation(item)
      } catch let error as JSONError {
        throw JSONError("operation \(index): \(error.reason)", pointer: "/\(index)" + (error.pointer ?? ""))
      }
    }
  }

  /// Returns the value with all operations applied.
  ///
  /// - Throws: `JSONError` with the index of the operation and a pointer into the value, for the first
  ///   operation that cannot be applied, or the first test that fails
  public func apply(to value: JSONValue) throws -> JSONValue {
    var value = value
    var budget = JSONPatch.copyLimit
    for (index, operation) in operations.enumerated() {
      do {
        try operation.apply(to: &value, budget: &budget)
      } catch let error as JSONError {
        throw JSONError(
          "operation \(index) (\(operation.name)): \(error.reason)",
          pointer: error.pointer ?? operation.path.pointer)
      }
    }
    return value
  }

  private static func operation(_ item: JSONValue) throws -> Operation {
    guard case .object(let object) = item else { throw JSONError("\(item.kind), not an object") }
    let name = try text("op", of: object)
    switch name {
    case "add": return .add(try path("path", of: object), try value(of: object))
    case "remove": return .remove(try path("path", of: object))
    case "replace": return .replace(try path("path", of: object), try value(of: object))
    case "move": return .move(from: try path("from", of: object), to: try path("path", of: object))
    case "copy": return .copy(from: try path("from", of: object), to: try path("path", of: object))
    case "test": return .test(try path("path", of: object), try value(of: object))
    default: throw JSONError("unknown JSON Patch operation \"\(name)\"", pointer: "/op")
    }
  }

  private static func text(_ key: String, of object: JSONObject) throws -> String {
    guard let member = object[key] else { throw JSONError("\"\(key)\" is missing") }
    guard case .string(let text) = member else {
      throw JSONError("\"\(key)\" is \(member.kind), not a string", pointer: "/\(key)")
    }
    return text
  }

  private static func path(_ key: String, of object: JSONObject) throws -> JSONPath {
    let text = try text(key, of: object)
    do {
      return try JSONPath(pointer: text)
    } catch let error as JSONError {
      throw JSONError(error.reason, pointer: "/\(key)")
    }
  }

  private static func value(of object: JSONObject) throws -> JSONValue {
    guard let value = object["value"] else { throw JSONError("\"value\" is missing") }
    return value
  }
}
