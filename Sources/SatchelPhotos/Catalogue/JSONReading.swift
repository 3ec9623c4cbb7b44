import SatchelJSON
import SatchelStorage

/// Reads the members of an object that comes from outside; every error names the member.
struct JSONReading {
  /// What the object is, for errors.
  let name: String
  let object: JSONObject

  /// - Throws: `.invalid` when it is no object, or has members of other names; null is as good as no member
  init(_ name: String, _ json: JSONValue, keys: Set<String>) throws {
    self.name = name
    guard let object = json.objectValue else {
      throw SatchelError(.invalid, "\(name): must be an object, is \(json.kind)")
    }
    self.object = object
    for (key, _) in object where !keys.contains(key) { throw fault(key, "is no key of it") }
  }

  func has(_ key: String) -> Bool { object[key] != nil }

  func text(_ key: String) throws -> String? { try read(key, "a text") { $0.stringValue } }
  func number(_ key: String) throws -> Int64? { try read(key, "a whole number") { $0.intValue } }
  func real(_ key: String) throws -> Double? { try read(key, "a number") { $0.doubleValue } }
  func truth(_ key: String) throws -> Bool? { try read(key, "true or false") { $0.boolValue } }

  func needed<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw fault(key, "is needed") }
    return value
  }

  func fault(_ key: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "\(name): \"\(key.prefix(64))\" \(reason)")
  }

  private func read<Value>(_ key: String, _ what: String, _ take: (JSONValue) -> Value?) throws -> Value? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let taken = take(value) else { throw fault(key, "must be \(what), is \(value.kind)") }
    return taken
  }
}
