/// In-place applicators: rules that apply other schemas to the same value.
extension JSONSchemaValidator {
  mutating func checkInPlace(_ rule: JSONSchemaRule, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    switch rule {
    case .reference(let index): return apply(index, value, keyword: "$ref", evaluated: evaluated)
    case .all(let schemas): return checkAll(schemas, value, evaluated)
    case .any(let schemas): return checkAny(schemas, value, evaluated)
    case .one(let schemas): return checkOne(schemas, value, evaluated)
    case .not(let index):
      return fits(index, value, evaluated: nil)
        ? report("not", "matches the schema of \"not\"") : trueUnlessFinished
    case .condition(let test, let then, let otherwise):
      if fits(test, value, evaluated: evaluated) {
        return then.map { apply($0, value, keyword: "then", evaluated: evaluated) } ?? true
      }
      return otherwise.map { apply($0, value, keyword: "else", evaluated: evaluated) } ?? true
    case .dependentSchemas(let schemas):
      guard case .object(let members) = value else { return true }
      return checkAll(
        schemas.filter { members[$0.key] != nil }.map(\.index), value, evaluated, "dependentSchemas")
    default: return true
    }
  }

  /// True, unless the validation has ended without a decision: a "not" must not invert that.
  private var trueUnlessFinished: Bool { !isFinished }

  private mutating func checkAll(
    _ schemas: [Int], _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?, _ keyword: String = "allOf"
  ) -> Bool {
    var fits = true
    for index in schemas where !apply(index, value, keyword: keyword, evaluated: evaluated) {
      fits = false
      if isQuiet || isFinished { return false }
    }
    return fits
  }

  private mutating func checkAny(_ schemas: [Int], _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    var found = false
    for index in schemas where fits(index, value, evaluated: evaluated) {
      found = true
      // With annotations wanted, all matching schemas are applied, because each may evaluate other items.
      if evaluated == nil { break }
    }
    return found || report("anyOf", "matches none of the \(schemas.count) schemas of \"anyOf\"")
  }

  private mutating func checkOne(_ schemas: [Int], _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    var fitting: [Int] = []
    for (number, index) in schemas.enumerated() where fits(index, value, evaluated: evaluated) {
      fitting.append(number)
      if fitting.count > 1 { break }
    }
    switch fitting.count {
    case 1: return true
    case 0: return report("oneOf", "matches none of the \(schemas.count) schemas of \"oneOf\"")
    default:
      return report("oneOf", "matches more than one schema of \"oneOf\": \(fitting[0]) and \(fitting[1])")
    }
  }
}
