/// Assertions: rules that apply no other schema.
extension JSONSchemaValidator {
  mutating func checkAssertion(_ rule: JSONSchemaRule, _ value: JSONValue) -> Bool {
    switch rule {
    case .type(let types):
      if types.contains(where: { $0.holds(value) }) { return true }
      let shown = value.doubleValue == nil ? value.kind : Self.rendered(value)
      return report("type", "\(shown), not \(types.map(\.name).joined(separator: " or "))")
    case .constant(let wanted):
      if JSONDistinctKey(value: wanted) == JSONDistinctKey(value: value) { return true }
      return report("const", "\(Self.rendered(value)) is not \(Self.rendered(wanted))")
    case .enumeration(let values):
      if values.contains(JSONDistinctKey(value: value)) { return true }
      return report("enum", "\(Self.rendered(value)) is not one of the \(values.count) values of \"enum\"")
    case .bound(let bound, let limit):
      guard let order = JSONDecimal.order(value, limit), !bound.holds(order) else { return true }
      return report(bound.rawValue, "\(Self.rendered(value)) is \(bound.violation) \(Self.rendered(limit))")
    case .multiple(let divisor, let limit):
      guard let number = JSONDecimal(value), !number.isMultiple(of: divisor) else { return true }
      return report("multipleOf", "\(Self.rendered(value)) is not a multiple of \(Self.rendered(limit))")
    case .count(let limit, let wanted):
      guard let count = limit.count(value), limit.isMinimum ? count < wanted : count > wanted else {
        return true
      }
      let comparison = limit.isMinimum ? "less" : "more"
      return report(limit.rawValue, "\(count) \(limit.unit) are \(comparison) than \(wanted)")
    case .pattern(let pattern): return checkPattern(pattern, value)
    case .uniqueItems: return checkUnique(value)
    case .required(let names): return checkRequired(names, value, keyword: "required")
    case .dependentRequired(let dependencies):
      guard case .object(let members) = value else { return true }
      var fits = true
      for (key, names) in dependencies where members[key] != nil {
        if !checkRequired(names, value, keyword: "dependentRequired") { fits = false }
      }
      return fits
    default: return true
    }
  }

  private mutating func checkPattern(_ pattern: JSONPattern, _ value: JSONValue) -> Bool {
    guard case .string(let text) = value else { return true }
    switch pattern.match(text) {
    case .matches: return true
    case .differs: return report("pattern", "\(Self.rendered(value)) does not match \"\(pattern.source)\"")
    case .undecided: return giveUp("matching \"\(pattern.source)\" takes too long", keyword: "pattern")
    }
  }

  private mutating func checkUnique(_ value: JSONValue) -> Bool {
    guard case .array(let elements) = value else { return true }
    var first: [JSONDistinctKey: Int] = [:]
    for (index, element) in elements.enumerated() {
      guard let earlier = first.updateValue(index, forKey: JSONDistinctKey(value: element)) else { continue }
      return report("uniqueItems", "the elements \(earlier) and \(index) are equal")
    }
    return true
  }

  private mutating func checkRequired(_ names: [String], _ value: JSONValue, keyword: String) -> Bool {
    guard case .object(let members) = value else { return true }
    var fits = true
    for name in names where members[name] == nil { fits = report(keyword, "\"\(name)\" is missing") }
    return fits
  }

  /// Returns a value for messages: scalars as JSON, unless they are longer than 60 bytes.
  static func rendered(_ value: JSONValue) -> String {
    switch value {
    case .array, .object: return value.kind
    default:
      let text = (try? value.text) ?? value.kind
      return text.utf8.count <= 60 ? text : "\(value.kind) of \(text.utf8.count) bytes"
    }
  }
}
