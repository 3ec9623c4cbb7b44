/// In-place applicators: rules that apply other schemas to the same value.
extension JSONSchemaValidator {
  mutating func checkInPlace(_ rule: JSONSchemaRule, _ value: Int, evaluated: JSONSchemaEvaluated?) -> Bool {
    switch rule {
    case .reference(let index): return apply(index, value, keyword: "$ref", evaluated: evaluated)
    case .all(let schemas):
      return checkAll(program.lists[schemas.range], value, keyword: "allOf", evaluated: evaluated)
    case .any(let schemas): return checkAny(program.lists[schemas.range], value, evaluated: evaluated)
    case .one(let schemas): return checkOne(program.lists[schemas.range], value, evaluated: evaluated)
    case .not(let index):
      return fits(index, value, evaluated: nil)
        ? report("not", "matches the schema of \"not\"") : trueUnlessFinished
    case .condition(let test, let then, let otherwise):
      if fits(test, value, evaluated: evaluated) {
        return then.map { apply($0, value, keyword: "then", evaluated: evaluated) } ?? true
      }
      return otherwise.map { apply($0, value, keyword: "else", evaluated: evaluated) } ?? true
    case .dependentSchemas(let number):
      guard tokens[value].kind == .object else { return true }
      let present = names(of: value)
      let schemas = program.dependentSchemas[number].filter { present.contains(JSONKey(text: $0.key)) }
      return checkAll(schemas.map(\.index)[...], value, keyword: "dependentSchemas", evaluated: evaluated)
    default: return true
    }
  }

  /// True, unless the validation has ended without a decision: a "not" must not invert that.
  private var trueUnlessFinished: Bool { !isFinished }

  private mutating func checkAll(
    _ schemas: some Collection<Int>, _ value: Int, keyword: StaticString, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    var fits = true
    for index in schemas where !apply(index, value, keyword: keyword, evaluated: evaluated) {
      fits = false
      if isQuiet || isFinished { return false }
    }
    return fits
  }

  private mutating func checkAny(
    _ schemas: ContiguousArray<Int>.SubSequence, _ value: Int, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    var found = false
    for index in schemas where fits(index, value, evaluated: evaluated) {
      found = true
      // With annotations wanted, all matching schemas are applied, because each may evaluate other items.
      if evaluated == nil { break }
    }
    return found || reportNone(of: schemas, value, keyword: "anyOf")
  }

  private mutating func checkOne(
    _ schemas: ContiguousArray<Int>.SubSequence, _ value: Int, evaluated: JSONSchemaEvaluated?
  ) -> Bool {
    var fitting: [Int] = []
    for (number, index) in schemas.enumerated() where fits(index, value, evaluated: evaluated) {
      fitting.append(number)
      if fitting.count > 1 { break }
    }
    switch fitting.count {
    case 1: return true
    case 0: return reportNone(of: schemas, value, keyword: "oneOf")
    default:
      return report("oneOf", "matches more than one schema of \"oneOf\": \(fitting[0]) and \(fitting[1])")
    }
  }
}

/// The remaining budget for explaining failed "anyOf" and "oneOf".
struct JSONSchemaExplanation {
  /// The maximum number of violations of one schema that are looked for.
  static let maxViolations = 10

  /// The number of schemas that may still be applied.
  var stepsLeft = 100_000
  /// Whether an outer "anyOf" or "oneOf" is being explained.
  var isRunning = false
}

/// The schema of an "anyOf" or "oneOf" that came nearest, and its violations.
private struct NearestSchema {
  /// The number of characters of a violation that are shown: those of nested schemas contain each other.
  private static let maxLength = 400

  var number: Int
  var violations: [JSONSchemaViolation]
  /// The distance of the value from the schema: another type is farther than another constant, such as the
  /// "kind" that tells variants apart, and that than anything else.
  var distance: (types: Int, constants: Int, violations: Int)

  init(_ number: Int, _ violations: [JSONSchemaViolation], level: Int) {
    self.number = number
    self.violations = violations
    distance = (0, 0, violations.count)
    for violation in violations {
      let depth = violation.pointer.utf8.reduce(0) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
      switch violation.keyword {
      case "type", "false": if depth == level { distance.types += 1 }
      case "const", "enum": if depth <= level + 1 { distance.constants += 1 }
      default: break
      }
    }
  }

  /// Such as "schema 1: /radius: a string, not a number".
  var text: String {
    let first = (violations.first?.description ?? "").unicodeScalars
    let shown = String(String.UnicodeScalarView(first.prefix(Self.maxLength)))
    let others = violations.count > 1 ? " (and \(violations.count - 1) more)" : ""
    return "schema \(number): \(shown)\(first.count > Self.maxLength ? "…" : "")\(others)"
  }
}

extension JSONSchemaValidator {
  /// Reports that none of the schemas matches, and what is wrong with the nearest of them.
  private mutating func reportNone(
    of schemas: ContiguousArray<Int>.SubSequence, _ value: Int, keyword: String
  ) -> Bool {
    guard !isQuiet, !isFinished else { return false }
    let nearest = nearest(of: schemas, value).map { "; nearest is \($0.text)" } ?? ""
    return report(keyword, "matches none of the \(schemas.count) schemas of \"\(keyword)\"\(nearest)")
  }

  /// Applies each schema once more, this time recording violations.
  private mutating func nearest(of schemas: ContiguousArray<Int>.SubSequence, _ value: Int) -> NearestSchema?
  {
    let outer = (violations, maxViolations, stepsLeft, isMeasured, explanation.isRunning)
    if !outer.4 { (stepsLeft, isMeasured, explanation.isRunning) = (explanation.stepsLeft, true, true) }
    maxViolations = JSONSchemaExplanation.maxViolations
    var nearest: NearestSchema?
    for (number, index) in schemas.enumerated() {
      violations = []
      _ = apply(index, value, keyword: "false", evaluated: nil)
      if undecided != nil { break }
      let other = NearestSchema(number, violations, level: level)
      if nearest.map({ other.distance < $0.distance }) ?? true { nearest = other }
    }
    // The explanation was too long. The value is invalid without it.
    undecided = nil
    (violations, maxViolations) = (outer.0, outer.1)
    if !outer.4 {
      explanation.stepsLeft = max(0, stepsLeft)
      (stepsLeft, isMeasured, explanation.isRunning) = (outer.2, outer.3, false)
    }
    return nearest
  }
}
