/// A schema inside the whole document, and how references in it are read.
struct JSONSchemaPlace {
  let value: JSONValue
  /// From the document's root.
  let path: [String]
  /// The URI that references are relative to; empty when none is given.
  let base: String

  /// Keywords whose value is a schema, a list of schemas, and an object of schemas.
  static let single = [
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
  ]
  static let lists = ["allOf", "anyOf", "oneOf", "prefixItems"]
  static let maps = ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"]

  /// The part that a key or index leads to; nil when there is none.
  func step(_ component: String) -> JSONSchemaPlace? {
    let part: JSONValue?
    switch value {
    case .object(let members): part = members[component]
    case .array(let elements):
      part = JSONPath.arrayIndex(component).flatMap { $0 < elements.count ? elements[$0] : nil }
    default: part = nil
    }
    return part.map { JSONSchemaPlace(value: $0, path: path + [component], base: base) }
  }

  /// The same place with the base that its own "$id" gives.
  func rebased() throws -> JSONSchemaPlace {
    guard let id = value["$id"] else { return self }
    guard case .string(let text) = id else { throw failure("$id", "\(id.kind), not a string") }
    let parts = JSONURI.split(text)
    guard parts.fragment.isEmpty else { throw failure("$id", "an \"$id\" has no fragment") }
    return JSONSchemaPlace(value: value, path: path, base: JSONURI.resolve(parts.uri, against: base))
  }

  /// The schemas directly inside.
  func subschemas() -> [JSONSchemaPlace] {
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
