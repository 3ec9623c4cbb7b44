/// Rules that hold the same value against other schemas.
extension JSONSchemaChecker {
  mutating func checkInPlace(_ rule: JSONSchemaRule, _ value: JSONValue, _ seen: JSONSchemaEvaluated?) -> Bool
  {
    switch rule {
    case .reference(let index): return apply(index, value, keyword: "$ref", seen: seen)
    case .all(let schemas): return checkAll(schemas, value, seen)
    case .any(let schemas): return checkAny(schemas, value, seen)
    case .one(let schemas): return checkOne(schemas, value, seen)
    case .not(let index):
      return fits(index, value, seen: nil) ? note("not", "fits the schema of \"not\"") : undecidedIsFalse
    case .condition(let test, let then, let otherwise):
      if fits(test, value, seen: seen) {
        return then.map { apply($0, value, keyword: "then", seen: seen) } ?? true
      }
      return otherwise.map { apply($0, value, keyword: "else", seen: seen) } ?? true
    case .dependentSchemas(let schemas):
      guard case .object(let members) = value else { return true }
      return checkAll(schemas.filter { members[$0.key] != nil }.map(\.index), value, seen, "dependentSchemas")
    default: return true
    }
  }

  /// True, but for what could not be told.
  private var undecidedIsFalse: Bool { !isOver }

  private mutating func checkAll(
    _ schemas: [Int], _ value: JSONValue, _ seen: JSONSchemaEvaluated?, _ keyword: String = "allOf"
  ) -> Bool {
    var fits = true
    for index in schemas where !apply(index, value, keyword: keyword, seen: seen) {
      fits = false
      if isQuiet || isOver { return false }
    }
    return fits
  }

  private mutating func checkAny(_ schemas: [Int], _ value: JSONValue, _ seen: JSONSchemaEvaluated?) -> Bool {
    var found = false
    for index in schemas where fits(index, value, seen: seen) {
      found = true
      // All that fit have looked at something.
      if seen == nil { break }
    }
    return found || note("anyOf", "fits none of the \(schemas.count) schemas of \"anyOf\"")
  }

  private mutating func checkOne(_ schemas: [Int], _ value: JSONValue, _ seen: JSONSchemaEvaluated?) -> Bool {
    var fitting: [Int] = []
    for (number, index) in schemas.enumerated() where fits(index, value, seen: seen) {
      fitting.append(number)
      if fitting.count > 1 { break }
    }
    switch fitting.count {
    case 1: return true
    case 0: return note("oneOf", "fits none of the \(schemas.count) schemas of \"oneOf\"")
    default: return note("oneOf", "fits more than one schema of \"oneOf\": \(fitting[0]) and \(fitting[1])")
    }
  }
}
