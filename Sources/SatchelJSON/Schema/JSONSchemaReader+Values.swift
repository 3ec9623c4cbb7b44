/// The keywords about scalars, arrays and objects.
extension JSONSchemaReader {
  func scalarRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    if let value = members["type"] {
      let types = try types(value)
      compiler.program.types.append(types)
      let all = types.reduce(into: JSONSchemaTypes(rawValue: 0)) { $0.formUnion($1.mask) }
      rules.append(.type(all, compiler.program.types.count - 1))
    }
    if let value = members["const"] { rules.append(.constant(add([value]))) }
    if let value = members["enum"] {
      guard case .array(let values) = value else {
        throw location.failure("enum", "\(value.kind), not an array")
      }
      rules.append(.enumeration(add(values)))
    }
    for bound in JSONSchemaBound.allCases {
      if let limit = bigNumber(bound.rawValue) {
        rules.append(.bigBound(bound, add(limit)))
      } else if let limit = try number(bound.rawValue) {
        rules.append(.bound(bound, limit))
      }
    }
    if let rule = try multipleRule() { rules.append(rule) }
    for limit in JSONSchemaCount.allCases {
      if let count = try count(limit.rawValue) { rules.append(.count(limit, count)) }
    }
    if let value = members["pattern"] {
      guard case .string(let source) = value else {
        throw location.failure("pattern", "\(value.kind), not a string")
      }
      compiler.program.patterns.append(try pattern(source, at: ["pattern"]))
      rules.append(.pattern(compiler.program.patterns.count - 1))
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
    if case .array? = members["items"] {
      throw location.failure("items", "an array, not a schema; for the first elements use \"prefixItems\"")
    }
    let prefix = try list("prefixItems").map { compiler.program.add($0) }
    let rest = try schema("items")
    if prefix != nil || rest != nil { rules.append(.items(prefix: prefix ?? JSONSchemaList(), rest: rest)) }
    let (minimum, maximum) = try (count("minContains"), count("maxContains"))
    if let wanted = try schema("contains") {
      rules.append(.contains(wanted, minimum: minimum ?? 1, maximum: maximum))
    }
    return rules
  }

  func objectRules() throws -> [JSONSchemaRule] {
    var rules: [JSONSchemaRule] = []
    var required: [String]?
    if let value = members["required"] {
      required = Self.names(value)
      if required == nil { throw location.failure("required", "not an array of unique strings") }
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
        return (key: key, required: names)
      }
      compiler.program.requirements.append(dependencies)
      rules.append(.dependentRequired(compiler.program.requirements.count - 1))
    }
    if let schema = try schema("propertyNames") { rules.append(.names(schema)) }
    let named = try map("properties")
    let patterns = try map("patternProperties")
    let additional = try schema("additionalProperties")
    if named != nil || patterns != nil || additional != nil || required?.isEmpty == false {
      let compiled = try (patterns ?? []).map {
        (pattern: try pattern($0.key, at: ["patternProperties", $0.key]), index: $0.index)
      }
      compiler.program.members.append(
        JSONSchemaMembers(
          properties: named ?? [], required: required ?? [], patterns: compiled, additional: additional))
      rules.append(.members(compiler.program.members.count - 1))
    }
    return rules
  }

  private func add(_ choices: [JSONValue]) -> Int {
    compiler.program.choices.append(JSONSchemaChoices(choices))
    return compiler.program.choices.count - 1
  }

  private func multipleRule() throws -> JSONSchemaRule? {
    let keyword = "multipleOf"
    if let limit = bigNumber(keyword), !limit.isNegative {
      guard let decimal = JSONDecimal(limit.expansion) else {
        throw location.failure(keyword, "a number of more than 19 digits")
      }
      return .bigMultiple(decimal, add(limit))
    }
    guard let limit = try number(keyword) else { return nil }
    guard let decimal = JSONDecimal(limit), limit.order(.int(0)) == 1 else {
      throw location.failure(keyword, "not a number above 0")
    }
    return .multiple(decimal, limit)
  }

  private func add(_ number: JSONBigNumber) -> Int {
    compiler.program.bigNumbers.append(number)
    return compiler.program.bigNumbers.count - 1
  }

  private func bigNumber(_ keyword: String) -> JSONBigNumber? {
    if case .bigNumber(let number)? = members[keyword] { return number }
    return nil
  }

  private func number(_ keyword: String) throws -> JSONNumber? {
    guard let value = members[keyword] else { return nil }
    guard value.doubleValue?.isFinite == true, let number = JSONNumber(value) else {
      throw location.failure(keyword, "\(value.kind), not a number")
    }
    return number
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
