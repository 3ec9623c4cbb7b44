/// The keywords about scalars, arrays and objects.
extension JSONSchemaReader {
  func scalarRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    if let value = members["type"] { rules.append(.type(try types(value))) }
    if let value = members["const"] { rules.append(.constant(value)) }
    if let value = members["enum"] {
      guard case .array(let values) = value else {
        throw location.failure("enum", "\(value.kind), not an array")
      }
      rules.append(.enumeration(Set(values.map { JSONDistinctKey(value: $0) })))
    }
    for bound in JSONSchemaBound.allCases {
      guard let limit = try number(bound.rawValue) else { continue }
      rules.append(.bound(bound, limit))
    }
    if let limit = try number("multipleOf") {
      guard let decimal = JSONDecimal(limit), JSONDecimal.order(limit, 0) == 1 else {
        throw location.failure("multipleOf", "not a number above 0")
      }
      rules.append(.multiple(decimal, limit))
    }
    for limit in JSONSchemaCount.allCases {
      if let count = try count(limit.rawValue) { rules.append(.count(limit, count)) }
    }
    if let value = members["pattern"] {
      guard case .string(let source) = value else {
        throw location.failure("pattern", "\(value.kind), not a string")
      }
      rules.append(.pattern(try pattern(source, at: ["pattern"])))
    }
    return rules
  }

  func arrayRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    if let value = members["uniqueItems"] {
      guard case .bool(let isWanted) = value else {
        throw location.failure("uniqueItems", "\(value.kind), not a boolean")
      }
      if isWanted { rules.append(.uniqueItems) }
    }
    let prefix = try list("prefixItems")
    let rest = try schema("items")
    if prefix != nil || rest != nil { rules.append(.items(prefix: prefix ?? [], rest: rest)) }
    let (minimum, maximum) = try (count("minContains"), count("maxContains"))
    if let wanted = try schema("contains") {
      rules.append(.contains(wanted, minimum: minimum ?? 1, maximum: maximum))
    }
    return rules
  }

  func objectRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    if let value = members["required"] {
      guard let names = Self.names(value) else {
        throw location.failure("required", "not an array of unique strings")
      }
      rules.append(.required(names))
    }
    if let value = members["dependentRequired"] {
      guard case .object(let lists) = value else {
        throw location.failure("dependentRequired", "\(value.kind), not an object")
      }
      let dependencies = try lists.map { key, list in
        guard let names = Self.names(list) else {
          let pointer = JSONPath.pointer(location.path + ["dependentRequired", key])
          throw JSONError("not an array of unique strings", pointer: pointer)
        }
        return (key, names)
      }
      rules.append(.dependentRequired(dependencies))
    }
    if let schema = try schema("propertyNames") { rules.append(.names(schema)) }
    let named = try map("properties")
    let patterns = try map("patternProperties")
    let additional = try schema("additionalProperties")
    if named != nil || patterns != nil || additional != nil {
      var shared = JSONSchemaMembers(additional: additional)
      for (key, index) in named ?? [] { shared.named[JSONKey(text: key)] = index }
      shared.patterns = try (patterns ?? []).map {
        (try pattern($0.key, at: ["patternProperties", $0.key]), $0.index)
      }
      rules.append(.members(shared))
    }
    return rules
  }

  private func number(_ keyword: String) throws -> JSONValue? {
    guard let value = members[keyword] else { return nil }
    guard let number = value.doubleValue, number.isFinite else {
      throw location.failure(keyword, "\(value.kind), not a number")
    }
    return value
  }

  private func types(_ value: JSONValue) throws -> [JSONSchemaType] {
    let names = value.stringValue.map { [$0] } ?? Self.names(value)
    let types = (names ?? []).compactMap { JSONSchemaType(rawValue: $0) }
    guard let names, !names.isEmpty, types.count == names.count else {
      let known = JSONSchemaType.allCases.map(\.rawValue).joined(separator: ", ")
      throw location.failure("type", "not a type or an array of types; the types are \(known)")
    }
    return types
  }
}
