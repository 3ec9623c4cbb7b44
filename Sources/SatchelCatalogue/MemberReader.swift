import SatchelJSON

/// Reads the members of a JSON object; null is equivalent to a missing member.
struct MemberReader {
  private let object: JSONObject

  /// - Parameter name: the object's name for the message
  /// - Throws: `JSONError` when the value is not an object
  init(_ name: String, _ json: JSONValue) throws {
    guard case .object(let object) = json else {
      throw JSONError("\(name) must be an object, not \(json.kind)", pointer: "")
    }
    self.object = object
  }

  subscript(key: String) -> JSONValue? { object[key] }

  func string(_ key: String) throws -> String? { try read(key, as: "a string") { $0.stringValue } }
  func number(_ key: String) throws -> Double? { try read(key, as: "a number") { $0.doubleValue } }

  /// Returns an integer; other encoders may have written it as a double.
  func integer(_ key: String) throws -> Int64? {
    try read(key, as: "an integer") { $0.intValue ?? $0.doubleValue.flatMap { Int64(exactly: $0) } }
  }

  /// Returns the strings of an array; empty when it is missing.
  func strings(_ key: String) throws -> [String] {
    try read(key, as: "an array of strings") { value in
      guard let elements = value.arrayValue else { return nil }
      let strings = elements.compactMap(\.stringValue)
      return strings.count == elements.count ? strings : nil
    } ?? []
  }

  func value<Value: JSONCodable>(_ key: String, as type: Value.Type) throws -> Value? {
    guard let value = object[key], !value.isNull else { return nil }
    do {
      return try Value(json: value)
    } catch let error as JSONError {
      throw JSONError(error.reason, pointer: JSONPath.pointer([key]) + (error.pointer ?? ""))
    }
  }

  func required<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw JSONError("there is no \"\(key)\"", pointer: "") }
    return value
  }

  private func read<Value>(
    _ key: String, as kind: String, _ convert: (JSONValue) -> Value?
  ) throws -> Value? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let result = convert(value) else {
      throw JSONError("\"\(key)\" is \(value.kind), not \(kind)", pointer: JSONPath.pointer([key]))
    }
    return result
  }
}
