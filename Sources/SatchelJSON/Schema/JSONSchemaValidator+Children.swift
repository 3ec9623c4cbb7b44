/// Applicators to child values: rules about the elements of arrays and the members of objects.
extension JSONSchemaValidator {
  mutating func checkItems(
    _ prefix: [Int], _ rest: Int?, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    guard case .array(let elements) = value else { return true }
    var fits = true
    for (index, element) in elements.enumerated() {
      if index < prefix.count {
        if apply(prefix[index], element, at: String(index), keyword: "prefixItems") { continue }
      } else {
        guard let rest else { break }
        if apply(rest, element, at: String(index), keyword: "items") { continue }
      }
      fits = false
      if isQuiet || isFinished { return false }
    }
    if rest != nil { evaluated?.addAllItems() } else { evaluated?.addItems(upTo: prefix.count) }
    return fits
  }

  mutating func checkContains(
    _ schema: Int, _ minimum: Int, _ maximum: Int?, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    guard case .array(let elements) = value else { return true }
    var found = 0
    for (index, element) in elements.enumerated() {
      // The count is decided; all matching elements are needed only for "unevaluatedItems".
      if evaluated == nil, maximum.map({ found > $0 }) ?? (found >= minimum) { break }
      guard fits(schema, element, evaluated: nil) else { continue }
      found += 1
      evaluated?.addItem(index)
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

  mutating func checkMembers(
    _ wanted: JSONSchemaMembers, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    guard case .object(let members) = value else { return true }
    var fits = true
    for (key, member) in members {
      var isKnown = false
      if let index = wanted.named[JSONKey(text: key)] {
        isKnown = true
        if !apply(index, member, at: key, keyword: "properties") { fits = false }
      }
      for (pattern, index) in wanted.patterns {
        switch pattern.match(key) {
        case .differs: continue
        case .undecided:
          return giveUp("matching \"\(pattern.source)\" takes too long", keyword: "patternProperties")
        case .matches:
          isKnown = true
          if !apply(index, member, at: key, keyword: "patternProperties") { fits = false }
        }
      }
      if !isKnown, let additional = wanted.additional {
        isKnown = true
        if !apply(additional, member, at: key, keyword: "additionalProperties") { fits = false }
      }
      if isKnown { evaluated?.addMember(key) }
      if !fits, isQuiet || isFinished { return false }
    }
    return fits
  }

  mutating func checkNames(_ schema: Int, _ value: JSONValue) -> Bool {
    guard case .object(let members) = value else { return true }
    var fit = true
    for key in members.keys where !fits(schema, .string(key), evaluated: nil) {
      fit = report(
        "propertyNames", "the name \(Self.rendered(.string(key))) does not match \"propertyNames\"")
      if isQuiet || isFinished { return false }
    }
    return fit
  }

  mutating func checkUnevaluated(
    _ items: Int?, _ others: Int?, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    var fits = true
    switch value {
    case .array(let elements):
      guard let items else { return true }
      for (index, element) in elements.enumerated() where evaluated?.hasItem(index) != true {
        if !apply(items, element, at: String(index), keyword: "unevaluatedItems") { fits = false }
        if !fits, isQuiet || isFinished { return false }
      }
      evaluated?.addAllItems()
    case .object(let members):
      guard let others else { return true }
      for (key, member) in members where evaluated?.hasMember(key) != true {
        if !apply(others, member, at: key, keyword: "unevaluatedProperties") { fits = false }
        if !fits, isQuiet || isFinished { return false }
      }
      evaluated?.addAllMembers()
    default: break
    }
    return fits
  }
}
