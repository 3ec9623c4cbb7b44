/// Validates one JSON text against a schema, on its tape: no values are created, except where a rule needs one.
struct JSONSchemaValidator {
  /// The maximum nesting of applied schemas: three for each level of a document.
  private static let maximumCalls = 3 * JSONValue.maximumDepth
  /// The maximum number of applied schemas in total; a large document may take `stepsPerValue` for each value
  /// and byte. Without a limit, schemas that refer twice to the same one on each level would double the work
  /// with every level.
  private static let baseSteps = 1_000_000
  private static let stepsPerValue = 64

  let program: JSONSchemaProgram
  let tape: JSONTape
  // The storage of the program and the tape, which outlive the validator.
  private let nodes: UnsafeBufferPointer<JSONSchemaNode>
  private let rules: UnsafeBufferPointer<JSONSchemaRule>
  let tokens: UnsafeBufferPointer<JSONTape.Token>
  var violations: [JSONSchemaViolation] = []
  /// The maximum number of violations; fewer while a failed "anyOf" or "oneOf" is explained.
  var maxViolations = JSONSchema.maximumViolations
  /// The reason why the result cannot be decided. A "not" must not invert it.
  var undecided: JSONSchemaViolation?
  /// The tokens from the root's child to the current value.
  private var path: ContiguousArray<Int> = []
  private var calls = 0
  var stepsLeft = baseSteps
  var isMeasured = false
  /// Whether it runs on a large stack, which `JSONLargeStack.calls` nested schemas need.
  private let hasLargeStack: Bool
  /// The reason why it has to be run again, on a large stack. All of it: a thread for each part of a value that
  /// is nested so deeply would cost more than its steps.
  private var tooDeep: JSONSchemaViolation?
  /// The nesting of checks that need only a result; above 0, violations are not recorded.
  private var quiet = 0
  var explanation = JSONSchemaExplanation()

  static func run(_ program: JSONSchemaProgram, _ tape: JSONTape) -> [JSONSchemaViolation] {
    do throws(JSONSchemaViolation) {
      return try violations(program, tape, hasLargeStack: false)
    } catch {
      var found = [error]
      _ = JSONLargeStack.run { found = (try? violations(program, tape, hasLargeStack: true)) ?? found }
      return found
    }
  }

  /// - Throws: when a large stack is needed, and no thread can be created for it
  private static func violations(
    _ program: JSONSchemaProgram, _ tape: JSONTape, hasLargeStack: Bool
  ) throws(JSONSchemaViolation) -> [JSONSchemaViolation] {
    let (violations, tooDeep) = program.nodes.withUnsafeBufferPointer { nodes in
      program.rules.withUnsafeBufferPointer { rules in
        tape.tokens.withUnsafeBufferPointer { tokens in
          var validator = JSONSchemaValidator(
            program, tape, nodes: nodes, rules: rules, tokens: tokens, hasLargeStack: hasLargeStack)
          _ = validator.apply(0, tape.root, keyword: "false", evaluated: nil)
          guard let undecided = validator.undecided else { return (validator.violations, validator.tooDeep) }
          let others = validator.violations.prefix(JSONSchema.maximumViolations - 1)
          return ([undecided] + others, validator.tooDeep)
        }
      }
    }
    if let tooDeep { throw tooDeep }
    return violations
  }

  private init(
    _ program: JSONSchemaProgram, _ tape: JSONTape, nodes: UnsafeBufferPointer<JSONSchemaNode>,
    rules: UnsafeBufferPointer<JSONSchemaRule>, tokens: UnsafeBufferPointer<JSONTape.Token>,
    hasLargeStack: Bool
  ) {
    (self.program, self.tape, self.hasLargeStack) = (program, tape, hasLargeStack)
    (self.nodes, self.rules, self.tokens) = (nodes, rules, tokens)
  }

  /// Whether the validation has ended early.
  var isFinished: Bool { undecided != nil || tooDeep != nil || violations.count >= maxViolations }

  /// Whether violations are not recorded, so that the first one suffices.
  var isQuiet: Bool { quiet > 0 }

  /// The number of levels above the current value.
  var level: Int { path.count }

  /// Returns whether a value is valid against a schema, and records violations.
  ///
  /// - Parameters:
  ///   - value: the index of its token
  ///   - keyword: the keyword that applies the schema, for the violation of a `false` schema
  ///   - evaluated: receives the items and members that the schema has evaluated, if needed
  mutating func apply(_ index: Int, _ value: Int, keyword: StaticString, evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    var index = index
    while let target = nodes[index].alias { index = target }
    if let verdict = nodes[index].verdict {
      return verdict ? true : report("\(keyword)", "is not allowed")
    }
    calls += 1
    defer { calls -= 1 }
    guard calls <= Self.maximumCalls, countStep() else {
      return giveUp("the schema refers to itself too often: the result cannot be decided", keyword: keyword)
    }
    if isFinished { return false }
    if calls == JSONLargeStack.calls, !hasLargeStack {
      let reason = "the value is too deep: no thread can be created for it"
      tooDeep = JSONSchemaViolation(pointer: pointer, keyword: "\(keyword)", reason: reason)
      return false
    }
    return checkRules(index, value, evaluated: evaluated)
  }

  /// Counts one applied schema; returns false when the limit is exceeded.
  private mutating func countStep() -> Bool {
    stepsLeft -= 1
    guard stepsLeft < 0, !isMeasured else { return stepsLeft >= 0 }
    isMeasured = true
    stepsLeft = (tokens.count + tape.bytes.count) * Self.stepsPerValue
    return true
  }

  private mutating func checkRules(_ index: Int, _ value: Int, evaluated: JSONSchemaEvaluated?) -> Bool {
    let node = nodes[index]
    let own = evaluated != nil || node.hasUnevaluated ? JSONSchemaEvaluated() : nil
    var fits = true
    for number in node.rules {
      guard !check(rules[number], value, evaluated: own) else { continue }
      fits = false
      if isQuiet || isFinished { return false }
    }
    if fits, let own { evaluated?.add(own) }
    return fits
  }

  /// Applies a schema to a child value.
  mutating func apply(_ index: Int, to child: Int, keyword: StaticString) -> Bool {
    // The path is needed even while violations are not recorded, for a result that cannot be decided.
    path.append(child)
    defer { path.removeLast() }
    return apply(index, child, keyword: keyword, evaluated: nil)
  }

  /// Returns whether a value is valid against a schema, without recording violations.
  mutating func fits(_ index: Int, _ value: Int, evaluated: JSONSchemaEvaluated?) -> Bool {
    quiet += 1
    defer { quiet -= 1 }
    return apply(index, value, keyword: "false", evaluated: evaluated)
  }

  /// Records a violation.
  ///
  /// - Returns: false, the result of a failed check
  mutating func report(_ keyword: @autoclosure () -> String, _ reason: @autoclosure () -> String) -> Bool {
    if !isQuiet, !isFinished {
      violations.append(JSONSchemaViolation(pointer: pointer, keyword: keyword(), reason: reason()))
    }
    return false
  }

  /// Records a violation whose reason needs the document.
  ///
  /// - Returns: false, the result of a failed check
  mutating func report(_ keyword: String, _ reason: (JSONSchemaValidator) -> String) -> Bool {
    guard !isQuiet, !isFinished else { return false }
    violations.append(JSONSchemaViolation(pointer: pointer, keyword: keyword, reason: reason(self)))
    return false
  }

  /// Records that the result cannot be decided.
  mutating func giveUp(_ reason: String, keyword: StaticString) -> Bool {
    if undecided == nil {
      undecided = JSONSchemaViolation(pointer: pointer, keyword: "\(keyword)", reason: reason)
    }
    return false
  }

  /// The pointer of the current value.
  var pointer: String {
    var parent = tape.root
    return path.reduce(into: "") { pointer, child in
      let previous = tokens[child - 1]
      if previous.isKey {
        pointer += "/" + JSONPointer.escaped(tape.text(child - 1))
      } else {
        let number = tape.children(of: parent).reduce(0) { $1 < child ? $0 + 1 : $0 }
        pointer += "/\(number)"
      }
      parent = child
    }
  }

  private mutating func check(_ rule: JSONSchemaRule, _ value: Int, evaluated: JSONSchemaEvaluated?)
    -> Bool
  {
    switch rule {
    case .reference, .all, .any, .one, .not, .condition, .dependentSchemas:
      return checkInPlace(rule, value, evaluated: evaluated)
    case .members(let number): return checkMembers(program.members[number], value, evaluated: evaluated)
    case .names(let index): return checkNames(index, value)
    case .items(let prefix, let rest): return checkItems(prefix, rest: rest, value, evaluated: evaluated)
    case .contains(let index, let minimum, let maximum):
      return checkContains(index, minimum: minimum, maximum: maximum, value, evaluated: evaluated)
    case .unevaluated(let items, let members):
      return checkUnevaluated(items: items, members: members, value, evaluated: evaluated)
    default: return checkAssertion(rule, value)
    }
  }
}

/// The evaluated elements or members of one value, to which "unevaluatedItems" and "unevaluatedProperties" do
/// not apply.
final class JSONSchemaEvaluated {
  private var all = false
  /// Their tokens.
  private var children: Set<Int> = []

  func addAll() { all = true }

  func add(_ child: Int) { if !all { children.insert(child) } }

  func has(_ child: Int) -> Bool { all || children.contains(child) }

  func add(_ other: JSONSchemaEvaluated) {
    all = all || other.all
    if !all { children.formUnion(other.children) }
  }
}
