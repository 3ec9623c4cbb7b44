import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads the members of a JSON object given by the caller; every error names the member.
struct JSONReading {
  /// The name of the object, for errors.
  let name: String
  let object: JSONObject

  /// - Throws: `.invalid` when it is not an object, or has unknown members; null counts as absent
  init(_ name: String, _ json: JSONValue, keys: Set<String>) throws {
    self.name = name
    guard let object = json.objectValue else {
      throw SatchelError(.invalid, "\(name): must be an object, is \(json.kind)")
        .at(subject: Change.Subject.photos.rawValue, pointer: Self.pointer(name))
    }
    self.object = object
    for (key, _) in object where !keys.contains(key) { throw fault(key, "is not a known key") }
  }

  func has(_ key: String) -> Bool { object[key] != nil }

  func isNumber(_ key: String) -> Bool { object[key]?.doubleValue != nil }

  func string(_ key: String) throws -> String? { try read(key, as: "a string") { $0.stringValue } }
  func integer(_ key: String) throws -> Int64? { try read(key, as: "an integer") { $0.intValue } }
  func real(_ key: String) throws -> Double? { try read(key, as: "a number") { $0.doubleValue } }
  func boolean(_ key: String) throws -> Bool? { try read(key, as: "true or false") { $0.boolValue } }

  func required<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw fault(key, "is required") }
    return value
  }

  func fault(_ key: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "\(name): \"\(key.prefix(64))\" \(reason)").at(
      subject: Change.Subject.photos.rawValue, id: object["md5"]?.stringValue,
      pointer: Self.pointer(name) + "/" + JSONPointer.escaped(key))
  }

  /// The pointer in the name of a part of an argument, such as "rows: /3".
  private static func pointer(_ name: String) -> String {
    name.firstIndex(of: "/").map { String(name[$0...]) } ?? ""
  }

  private func read<Value>(_ key: String, as what: String, _ convert: (JSONValue) -> Value?) throws -> Value?
  {
    guard let value = object[key], !value.isNull else { return nil }
    guard let result = convert(value) else { throw fault(key, "must be \(what), is \(value.kind)") }
    return result
  }
}
