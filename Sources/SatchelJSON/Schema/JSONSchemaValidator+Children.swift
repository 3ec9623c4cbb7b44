/// Applicators to child values: rules about the elements of arrays and the members of objects.
extension JSONSchemaValidator {
  mutating func checkItems(
    _ prefix: JSONSchemaList, rest: Int?, _ value: Int, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    guard tokens[value].kind == .array else { return true }
    var fits = true
    var index = 0
    var element = value + 1
    let end = Int(tokens[value].next)
    while element < end {
      let isValid: Bool
      if index < prefix.count {
        isValid = apply(program.lists[prefix.range.lowerBound + index], to: element, keyword: "prefixItems")
        evaluated?.add(element)
      } else {
        guard let rest else { break }
        isValid = apply(rest, to: element, keyword: "items")
      }
      if !isValid {
        fits = false
        if isQuiet || isFinished { return false }
      }
      index += 1
      element = Int(tokens[element].next)
    }
    if rest != nil { evaluated?.addAll() }
    return fits
  }

  mutating func checkContains(
    _ schema: Int, minimum: Int, maximum: Int?, _ value: Int, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    guard tokens[value].kind == .array else { return true }
    var found = 0
    for element in tape.children(of: value) {
      // The count is decided; all matching elements are needed only for "unevaluatedItems".
      if evaluated == nil, maximum.map({ found > $0 }) ?? (found >= minimum) { break }
      guard fits(schema, element, evaluated: nil) else { continue }
      found += 1
      evaluated?.add(element)
    }
    if found < minimum {
      return report(
        minimum == 1 ? "contains" : "minContains",
        "\(found) elements match \"contains\", and at least \(minimum) must")
    }
    if let maximum, found > maximum {
      return report("maxContains", "more than \(maximum) elements match \"contains\"")
    }
    return true
  }

  mutating func checkMembers(_ wanted: JSONSchemaMembers, _ value: Int, evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    guard tokens[value].kind == .object else { return true }
    let recorded = violations.count
    var fits = true
    var missing = wanted.required.count
    var hint = 0
    var key = value + 1
    let end = Int(tokens[value].next)
    while key + 1 < end {
      let member = key + 1
      var isKnown = false
      if let number = withText(key, { wanted.names.find($0, near: hint) }) {
        hint = number + 1
        let named = wanted.named[number]
        if named.isRequired { missing -= 1 }
        if named.index >= 0 {
          isKnown = true
          if !apply(named.index, to: member, keyword: "properties") { fits = false }
        }
      }
      for (pattern, index) in wanted.patterns {
        switch withText(key, { pattern.match($0) }) {
        case .differs: continue
        case .undecided:
          return giveUp("matching \"\(pattern.source)\" takes too long", keyword: "patternProperties")
        case .matches:
          isKnown = true
          if !apply(index, to: member, keyword: "patternProperties") { fits = false }
        }
      }
      if !isKnown, let additional = wanted.additional {
        isKnown = true
        if !apply(additional, to: member, keyword: "additionalProperties") { fits = false }
      }
      if isKnown { evaluated?.add(member) }
      if !fits, isQuiet || isFinished { return false }
      key = Int(tokens[member].next)
    }
    guard missing > 0 else { return fits }
    return reportMissing(wanted.required, value, before: recorded)
  }

  /// Reports the missing members before the violations of those that are present.
  private mutating func reportMissing(_ names: [String], _ value: Int, before position: Int) -> Bool {
    guard !isQuiet else { return false }
    let present = self.names(of: value)
    let pointer = pointer
    let missing = names.filter { !present.contains(JSONKey(text: $0)) }.prefix(maxViolations).map {
      JSONSchemaViolation(pointer: pointer, keyword: "required", reason: "\"\($0)\" is missing")
    }
    violations.insert(contentsOf: missing, at: position)
    violations.removeLast(max(0, violations.count - maxViolations))
    return false
  }

  /// Returns the keys of an object.
  func names(of value: Int) -> Set<JSONKey> {
    var names: Set<JSONKey> = []
    for member in tape.children(of: value) { names.insert(JSONKey(text: tape.text(member - 1))) }
    return names
  }

  mutating func checkNames(_ schema: Int, _ value: Int) -> Bool {
    guard tokens[value].kind == .object else { return true }
    var fit = true
    for member in tape.children(of: value) where !fits(schema, member - 1, evaluated: nil) {
      fit = report("propertyNames") {
        "the name \($0.rendered(member - 1)) does not match \"propertyNames\""
      }
      if isQuiet || isFinished { return false }
    }
    return fit
  }

  mutating func checkUnevaluated(
    items: Int?, members others: Int?, _ value: Int, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    let schema: Int
    switch tokens[value].kind {
    case .array:
      guard let items else { return true }
      schema = items
    case .object:
      guard let others else { return true }
      schema = others
    default: return true
    }
    let keyword: StaticString =
      tokens[value].kind == .array ? "unevaluatedItems" : "unevaluatedProperties"
    var fits = true
    for child in tape.children(of: value) where evaluated?.has(child) != true {
      if !apply(schema, to: child, keyword: keyword) { fits = false }
      if !fits, isQuiet || isFinished { return false }
    }
    evaluated?.addAll()
    return fits
  }
}
