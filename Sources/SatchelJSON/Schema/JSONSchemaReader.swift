/// Reads the keywords of one schema object.
struct JSONSchemaReader {
  static let draft = "https://json-schema.org/draft/2020-12/schema"

  let location: JSONSchemaLocation
  let members: JSONObject
  let compiler: JSONSchemaCompiler

  /// Returns the schema's rules, inexpensive ones first.
  func rules() throws -> [JSONSchemaRule] {
    try checkKeywords()
    var rules = try scalarRules()
    rules += try arrayRules()
    rules += try objectRules()
    rules += try applicatorRules()
    let items = try schema("unevaluatedItems")
    let others = try schema("unevaluatedProperties")
    if items != nil || others != nil { rules.append(.unevaluated(items: items, members: others)) }
    return rules
  }

  private func checkKeywords() throws {
    if let draft = members["$schema"] {
      guard case .string(let uri) = draft, JSONURI.split(uri).uri == Self.draft else {
        throw location.failure("$schema", "only draft 2020-12 is supported (\"\(Self.draft)\")")
      }
    }
    for keyword in members.keys {
      if let reason = JSONSchemaKeywords.rejection(keyword) { throw location.failure(keyword, reason) }
      if !JSONSchemaKeywords.isKnown(keyword) { compiler.warn(keyword, at: location) }
    }
    // Annotations are not used, but their types are checked.
    for keyword in ["title", "description", "$comment", "format", "contentEncoding", "contentMediaType"] {
      guard let value = members[keyword], value.stringValue == nil else { continue }
      throw location.failure(keyword, "\(value.kind), not a string")
    }
    for keyword in ["deprecated", "readOnly", "writeOnly"] {
      guard let value = members[keyword], value.boolValue == nil else { continue }
      throw location.failure(keyword, "\(value.kind), not a boolean")
    }
    if let value = members["examples"], value.arrayValue == nil {
      throw location.failure("examples", "\(value.kind), not an array")
    }
    // Definitions are checked even if nothing refers to them.
    _ = try (map("$defs"), map("definitions"))
  }

  /// Returns the rules of "$ref" and the other in-place applicators.
  private func applicatorRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    if let reference = members["$ref"] {
      guard case .string(let text) = reference else {
        throw location.failure("$ref", "\(reference.kind), not a string")
      }
      rules.append(.reference(try compiler.node(of: text, from: location)))
    }
    if let schemas = try map("dependentSchemas") {
      compiler.program.dependentSchemas.append(schemas)
      rules.append(.dependentSchemas(compiler.program.dependentSchemas.count - 1))
    }
    if let schemas = try list("allOf") { rules.append(.all(compiler.program.add(schemas))) }
    if let schemas = try list("anyOf") { rules.append(.any(compiler.program.add(schemas))) }
    if let schemas = try list("oneOf") { rules.append(.one(compiler.program.add(schemas))) }
    if let schema = try schema("not") { rules.append(.not(schema)) }
    let (test, then, otherwise) = try (schema("if"), schema("then"), schema("else"))
    if let test { rules.append(.condition(test: test, then: then, otherwise: otherwise)) }
    return rules
  }

  /// Returns the node of a keyword whose value is a schema.
  func schema(_ keyword: String) throws -> Int? { try location.step(keyword).map { try subschema($0) } }

  /// Returns the nodes of a keyword whose value is a non-empty array of schemas.
  func list(_ keyword: String) throws -> [Int]? {
    guard let list = location.step(keyword) else { return nil }
    guard case .array(let elements) = list.value, !elements.isEmpty else {
      throw location.failure(keyword, "not a non-empty array of schemas")
    }
    return try elements.indices.compactMap { try list.step(String($0)).map { try subschema($0) } }
  }

  /// Returns the nodes of a keyword whose value is an object of schemas.
  func map(_ keyword: String) throws -> [(key: String, index: Int)]? {
    guard let map = location.step(keyword) else { return nil }
    guard case .object(let schemas) = map.value else {
      throw location.failure(keyword, "\(map.value.kind), not an object of schemas")
    }
    return try schemas.keys.compactMap { key in try map.step(key).map { (key, try subschema($0)) } }
  }

  private func subschema(_ location: JSONSchemaLocation) throws -> Int {
    compiler.node(try location.rebased())
  }

  /// Returns the count of a keyword, which may be written as 2.0.
  func count(_ keyword: String) throws -> Int? {
    guard let value = members[keyword] else { return nil }
    switch value {
    case .int(let number) where number >= 0: return Int(clamping: number)
    case .double(let number) where number >= 0 && number.rounded(.towardZero) == number:
      return Int(exactly: number) ?? Int.max
    case .bigNumber(let number) where !number.isNegative && number.expansion.isWhole: return Int.max
    default: throw location.failure(keyword, "not a non-negative integer")
    }
  }

  /// Returns the strings of an array of unique strings; nil for another value.
  static func names(_ value: JSONValue) -> [String]? {
    guard case .array(let elements) = value else { return nil }
    let texts = elements.compactMap(\.stringValue)
    guard texts.count == elements.count, Set(texts.map { JSONKey(text: $0) }).count == texts.count else {
      return nil
    }
    return texts
  }

  /// Compiles the pattern at a path inside the schema.
  func pattern(_ source: String, at path: [String]) throws -> JSONPattern {
    do {
      return try JSONPattern(source)
    } catch {
      throw JSONError(error.reason, pointer: JSONPath.pointer(location.path + path))
    }
  }
}
