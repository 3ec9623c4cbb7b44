/// A location in a schema document: its value, its path, and the base URI of its references.
struct JSONSchemaLocation {
  let value: JSONValue
  /// The path from the document's root.
  let path: [String]
  /// The base URI of relative references; empty when none is given.
  let base: String

  /// The keywords whose value is a schema.
  static let single = [
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
  ]
  /// The keywords whose value is an array of schemas.
  static let lists = ["allOf", "anyOf", "oneOf", "prefixItems"]
  /// The keywords whose value is an object of schemas.
  static let maps = ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"]

  /// Returns the location of a member or element; nil when it is absent.
  func step(_ component: String) -> JSONSchemaLocation? {
    let part: JSONValue?
    switch value {
    case .object(let members): part = members[component]
    case .array(let elements):
      part = JSONPath.arrayIndex(component).flatMap { $0 < elements.count ? elements[$0] : nil }
    default: part = nil
    }
    return part.map { JSONSchemaLocation(value: $0, path: path + [component], base: base) }
  }

  /// Returns the location with the base URI of its own "$id", if any.
  func rebased() throws -> JSONSchemaLocation {
    guard let id = value["$id"] else { return self }
    guard case .string(let text) = id else { throw failure("$id", "\(id.kind), not a string") }
    let parts = JSONURI.split(text)
    guard parts.fragment.isEmpty else { throw failure("$id", "an \"$id\" must not have a fragment") }
    return JSONSchemaLocation(value: value, path: path, base: JSONURI.resolve(parts.uri, against: base))
  }

  /// Returns the direct subschemas.
  func subschemas() -> [JSONSchemaLocation] {
    var found = Self.single.compactMap { step($0) }
    for keyword in Self.lists {
      guard let list = step(keyword), let elements = list.value.arrayValue else { continue }
      found += elements.indices.compactMap { list.step(String($0)) }
    }
    for keyword in Self.maps {
      guard let map = step(keyword), let members = map.value.objectValue else { continue }
      found += members.keys.compactMap { map.step($0) }
    }
    return found
  }

  func failure(_ keyword: String, _ reason: String) -> JSONError {
    JSONError(reason, pointer: JSONPath.pointer(path + [keyword]))
  }
}
