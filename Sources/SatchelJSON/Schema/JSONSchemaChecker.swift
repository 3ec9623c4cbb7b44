/// Holds one value against a schema.
struct JSONSchemaChecker {
  /// Schemas inside each other that may be at work at once: three for each level of a document.
  private static let maximumCalls = 3 * JSONValue.maximumDepth
  /// Schemas that may be applied in all, and to each value (or byte of a text) of a large document besides: schemas
  /// that refer to the same one twice, level by level, double the work each time.
  private static let fewSteps = 1_000_000
  private static let stepsPerValue = 64

  private let nodes: [JSONSchemaNode]
  private var violations: [JSONSchemaViolation] = []
  /// Why it cannot be told. No "not" may turn this into its contrary.
  private var undecided: JSONSchemaViolation?
  private var path: [String] = []
  private var calls = 0
  private var stepsLeft = fewSteps
  private var isMeasured = false
  private var root = JSONValue.null
  /// Above 0 only the verdict is wanted.
  private var quiet = 0

  init(_ nodes: [JSONSchemaNode]) { self.nodes = nodes }

  mutating func run(_ value: JSONValue) -> [JSONSchemaViolation] {
    root = value
    _ = apply(0, value, keyword: "false", seen: nil)
    if let undecided { return [undecided] + violations.prefix(JSONSchema.maximumViolations - 1) }
    return violations
  }

  /// Whether nothing more needs to be known.
  var isOver: Bool { undecided != nil || violations.count >= JSONSchema.maximumViolations }

  /// Whether the first violation is enough.
  var isQuiet: Bool { quiet > 0 }

  /// Whether a value fits a schema; violations are noted.
  ///
  /// - Parameters:
  ///   - keyword: what applies the schema, for one that refuses everything
  ///   - seen: gets what the schema has looked at, when that is wanted
  mutating func apply(_ index: Int, _ value: JSONValue, keyword: String, seen: JSONSchemaEvaluated?) -> Bool {
    var index = index
    while let target = nodes[index].alias { index = target }
    if let verdict = nodes[index].verdict {
      return verdict ? true : note(keyword, "is not allowed")
    }
    calls += 1
    defer { calls -= 1 }
    guard calls <= Self.maximumCalls, takeStep() else {
      return leave("the schema refers to itself too often to be decided", keyword: keyword)
    }
    if isOver { return false }
    guard calls % JSONStackSegment.calls == 0 else { return checkRules(index, value, seen) }
    var fits = false
    let isDone = JSONStackSegment.run { fits = checkRules(index, value, seen) }
    return isDone ? fits : leave("there is no thread for a value so deep", keyword: keyword)
  }

  /// Counts the work; false when it is too much.
  private mutating func takeStep() -> Bool {
    stepsLeft -= 1
    guard stepsLeft < 0, !isMeasured else { return stepsLeft >= 0 }
    isMeasured = true
    var budget = Int.max
    _ = root.measure(&budget)
    let (steps, isOver) = (Int.max - budget).multipliedReportingOverflow(by: Self.stepsPerValue)
    stepsLeft = isOver ? Int.max : steps
    return stepsLeft >= 0
  }

  private mutating func checkRules(_ index: Int, _ value: JSONValue, _ seen: JSONSchemaEvaluated?) -> Bool {
    let own = seen != nil || nodes[index].hasUnevaluated ? JSONSchemaEvaluated() : nil
    var fits = true
    for rule in nodes[index].rules {
      guard !check(rule, value, own) else { continue }
      fits = false
      if isQuiet || isOver { return false }
    }
    if fits, let own { seen?.add(own) }
    return fits
  }

  /// The same for the part of a value that a key or index leads to.
  mutating func apply(
    _ index: Int, _ value: JSONValue, at component: @autoclosure () -> String, keyword: String
  ) -> Bool {
    // What is not told needs no place, but for what cannot be decided.
    path.append(component())
    defer { path.removeLast() }
    return apply(index, value, keyword: keyword, seen: nil)
  }

  /// Whether a value fits a schema, without noting why not.
  mutating func fits(_ index: Int, _ value: JSONValue, seen: JSONSchemaEvaluated?) -> Bool {
    quiet += 1
    defer { quiet -= 1 }
    return apply(index, value, keyword: "false", seen: seen)
  }

  /// Notes a violation.
  ///
  /// - Returns: false, so that it can be a check's answer.
  mutating func note(_ keyword: String, _ reason: @autoclosure () -> String) -> Bool {
    if !isQuiet, !isOver {
      violations.append(
        JSONSchemaViolation(pointer: JSONPath.pointer(path), keyword: keyword, reason: reason()))
    }
    return false
  }

  /// Notes that it cannot be told.
  mutating func leave(_ reason: String, keyword: String) -> Bool {
    if undecided == nil {
      undecided = JSONSchemaViolation(pointer: JSONPath.pointer(path), keyword: keyword, reason: reason)
    }
    return false
  }

  private mutating func check(_ rule: JSONSchemaRule, _ value: JSONValue, _ seen: JSONSchemaEvaluated?)
    -> Bool
  {
    switch rule {
    case .reference, .all, .any, .one, .not, .condition, .dependentSchemas:
      return checkInPlace(rule, value, seen)
    case .members(let wanted): return checkMembers(wanted, value, seen)
    case .names(let index): return checkNames(index, value)
    case .items(let prefix, let rest): return checkItems(prefix, rest, value, seen)
    case .contains(let index, let minimum, let maximum):
      return checkContains(index, minimum, maximum, value, seen)
    case .unevaluated(let items, let members): return checkRest(items, members, value, seen)
    default: return checkPlain(rule, value)
    }
  }
}
