/// Validates one value against a schema.
struct JSONSchemaValidator {
  /// The maximum nesting of applied schemas: three for each level of a document.
  private static let maximumCalls = 3 * JSONValue.maximumDepth
  /// The maximum number of applied schemas in total; a large document may take `stepsPerValue` for each value
  /// (and byte of a string). Without a limit, schemas that refer twice to the same one on each level would
  /// double the work with every level.
  private static let baseSteps = 1_000_000
  private static let stepsPerValue = 64

  private let nodes: [JSONSchemaNode]
  private var violations: [JSONSchemaViolation] = []
  /// The reason why the result cannot be decided. A "not" must not invert it.
  private var undecided: JSONSchemaViolation?
  private var path: [String] = []
  private var calls = 0
  private var stepsLeft = baseSteps
  private var isMeasured = false
  private var root = JSONValue.null
  /// The nesting of checks that need only a result; above 0, violations are not recorded.
  private var quiet = 0

  init(_ nodes: [JSONSchemaNode]) { self.nodes = nodes }

  mutating func run(_ value: JSONValue) -> [JSONSchemaViolation] {
    root = value
    _ = apply(0, value, keyword: "false", evaluated: nil)
    if let undecided { return [undecided] + violations.prefix(JSONSchema.maximumViolations - 1) }
    return violations
  }

  /// Whether the validation has ended early.
  var isFinished: Bool { undecided != nil || violations.count >= JSONSchema.maximumViolations }

  /// Whether violations are not recorded, so that the first one suffices.
  var isQuiet: Bool { quiet > 0 }

  /// Returns whether a value is valid against a schema, and records violations.
  ///
  /// - Parameters:
  ///   - keyword: the keyword that applies the schema, for the violation of a `false` schema
  ///   - evaluated: receives the items and members that the schema has evaluated, if needed
  mutating func apply(_ index: Int, _ value: JSONValue, keyword: String, evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    var index = index
    while let target = nodes[index].alias { index = target }
    if let verdict = nodes[index].verdict {
      return verdict ? true : report(keyword, "is not allowed")
    }
    calls += 1
    defer { calls -= 1 }
    guard calls <= Self.maximumCalls, countStep() else {
      return giveUp("the schema refers to itself too often: the result cannot be decided", keyword: keyword)
    }
    if isFinished { return false }
    guard calls == JSONLargeStack.calls else { return checkRules(index, value, evaluated) }
    var fits = false
    let isDone = JSONLargeStack.run { fits = checkRules(index, value, evaluated) }
    return isDone ? fits : giveUp("the value is too deep: no thread can be created for it", keyword: keyword)
  }

  /// Counts one applied schema; returns false when the limit is exceeded.
  private mutating func countStep() -> Bool {
    stepsLeft -= 1
    guard stepsLeft < 0, !isMeasured else { return stepsLeft >= 0 }
    isMeasured = true
    var budget = Int.max
    _ = root.measure(&budget)
    let (steps, overflow) = (Int.max - budget).multipliedReportingOverflow(by: Self.stepsPerValue)
    stepsLeft = overflow ? Int.max : steps
    return stepsLeft >= 0
  }

  private mutating func checkRules(_ index: Int, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    let own = evaluated != nil || nodes[index].hasUnevaluated ? JSONSchemaEvaluated() : nil
    var fits = true
    for rule in nodes[index].rules {
      guard !check(rule, value, own) else { continue }
      fits = false
      if isQuiet || isFinished { return false }
    }
    if fits, let own { evaluated?.add(own) }
    return fits
  }

  /// Applies a schema to a child value, at a key or index.
  mutating func apply(
    _ index: Int, _ value: JSONValue, at component: @autoclosure () -> String, keyword: String
  ) -> Bool {
    // The path is needed even while violations are not recorded, for a result that cannot be decided.
    path.append(component())
    defer { path.removeLast() }
    return apply(index, value, keyword: keyword, evaluated: nil)
  }

  /// Returns whether a value is valid against a schema, without recording violations.
  mutating func fits(_ index: Int, _ value: JSONValue, evaluated: JSONSchemaEvaluated?) -> Bool {
    quiet += 1
    defer { quiet -= 1 }
    return apply(index, value, keyword: "false", evaluated: evaluated)
  }

  /// Records a violation.
  ///
  /// - Returns: false, the result of a failed check
  mutating func report(_ keyword: String, _ reason: @autoclosure () -> String) -> Bool {
    if !isQuiet, !isFinished {
      violations.append(
        JSONSchemaViolation(pointer: JSONPath.pointer(path), keyword: keyword, reason: reason()))
    }
    return false
  }

  /// Records that the result cannot be decided.
  mutating func giveUp(_ reason: String, keyword: String) -> Bool {
    if undecided == nil {
      undecided = JSONSchemaViolation(pointer: JSONPath.pointer(path), keyword: keyword, reason: reason)
    }
    return false
  }

  private mutating func check(_ rule: JSONSchemaRule, _ value: JSONValue, _ evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    switch rule {
    case .reference, .all, .any, .one, .not, .condition, .dependentSchemas:
      return checkInPlace(rule, value, evaluated)
    case .members(let wanted): return checkMembers(wanted, value, evaluated)
    case .names(let index): return checkNames(index, value)
    case .items(let prefix, let rest): return checkItems(prefix, rest, value, evaluated)
    case .contains(let index, let minimum, let maximum):
      return checkContains(index, minimum, maximum, value, evaluated)
    case .unevaluated(let items, let members): return checkUnevaluated(items, members, value, evaluated)
    default: return checkAssertion(rule, value)
    }
  }
}

/// The evaluated elements and members of one value, to which "unevaluatedItems" and "unevaluatedProperties"
/// do not apply.
final class JSONSchemaEvaluated {
  private(set) var allItems = false
  private(set) var allMembers = false
  private var prefix = 0
  private var items: Set<Int> = []
  private var members: Set<JSONKey> = []

  func addItems(upTo count: Int) { prefix = max(prefix, count) }

  func addAllItems() { allItems = true }

  func addItem(_ index: Int) { items.insert(index) }

  func addAllMembers() { allMembers = true }

  func addMember(_ key: String) { members.insert(JSONKey(text: key)) }

  func hasItem(_ index: Int) -> Bool { allItems || index < prefix || items.contains(index) }

  func hasMember(_ key: String) -> Bool { allMembers || members.contains(JSONKey(text: key)) }

  func add(_ other: JSONSchemaEvaluated) {
    allItems = allItems || other.allItems
    allMembers = allMembers || other.allMembers
    prefix = max(prefix, other.prefix)
    items.formUnion(other.items)
    members.formUnion(other.members)
  }
}
