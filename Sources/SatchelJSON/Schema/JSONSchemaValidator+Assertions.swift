/// Assertions: rules that apply no other schema.
extension JSONSchemaValidator {
  mutating func checkAssertion(_ rule: JSONSchemaRule, _ value: Int) -> Bool {
    let kind = tokens[value].kind
    switch rule {
    case .type(let types, let list):
      if !types.isDisjoint(with: JSONSchemaTypes(kind)) { return true }
      if types.contains(.integer), isWhole(value) { return true }
      let isNumber = kind == .integer || kind == .double || kind == .bigNumber
      return report("type") {
        let wanted = $0.program.types[list].map(\.name).joined(separator: " or ")
        return "\(isNumber ? $0.rendered(value) : kind.words), not \(wanted)"
      }
    case .constant(let number):
      if isChoice(value, program.choices[number]) { return true }
      return report("const") {
        "\($0.rendered(value)) is not \(Self.rendered($0.program.choices[number].values.first ?? .null))"
      }
    case .enumeration(let number):
      if isChoice(value, program.choices[number]) { return true }
      return report("enum") {
        "\($0.rendered(value)) is not one of the \($0.program.choices[number].values.count) values of \"enum\""
      }
    case .bound(let bound, let limit):
      guard let order = bigNumber(value)?.order(limit) ?? number(value)?.order(limit), !bound.holds(order)
      else { return true }
      return report(bound.rawValue) { "\($0.rendered(value)) is \(bound.violation) \(limit.text)" }
    case .bigBound(let bound, let number):
      let limit = program.bigNumbers[number]
      let order = bigNumber(value)?.order(limit) ?? self.number(value).flatMap { limit.order($0) }.map { -$0 }
      guard let order, !bound.holds(order) else { return true }
      return report(bound.rawValue) { "\($0.rendered(value)) is \(bound.violation) \(limit.shortened)" }
    case .multiple(let divisor, let limit):
      return isMultiple(value, of: divisor)
        || report("multipleOf") { "\($0.rendered(value)) is not a multiple of \(limit.text)" }
    case .bigMultiple(let divisor, let number):
      return isMultiple(value, of: divisor)
        || report("multipleOf") {
          "\($0.rendered(value)) is not a multiple of \($0.program.bigNumbers[number].shortened)"
        }
    case .count(let limit, let wanted): return kind != limit.kind || checkCount(limit, wanted: wanted, value)
    case .pattern(let number): return kind != .string || checkPattern(program.patterns[number], value)
    case .uniqueItems: return kind != .array || checkUnique(value)
    case .dependentRequired(let number):
      return kind != .object || checkDependencies(program.requirements[number], value)
    default: return true
    }
  }

  private mutating func checkCount(_ limit: JSONSchemaCount, wanted: Int, _ value: Int) -> Bool {
    let token = tokens[value]
    // A string has at most as many characters as bytes.
    if limit == .maxLength, Int(token.end - token.start) <= wanted { return true }
    let count =
      limit.kind == .string
      ? characters(value) : tape.children(of: value).reduce(0) { count, _ in count + 1 }
    guard limit.isMinimum ? count < wanted : count > wanted else { return true }
    let comparison = limit.isMinimum ? "less" : "more"
    return report(limit.rawValue, "\(count) \(limit.unit) are \(comparison) than \(wanted)")
  }

  private func characters(_ value: Int) -> Int {
    let token = tokens[value]
    if token.isEscaped { return tape.text(value).unicodeScalars.count }
    // The bytes that begin a character.
    return tape.slice(value).reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
  }

  private func isChoice(_ value: Int, _ choices: JSONSchemaChoices) -> Bool {
    let kind = tokens[value].kind
    guard kind == .string else { return choices.contains(kind) { self.value(value) } }
    return withText(value) { choices.strings.find($0) } != nil
  }

  private mutating func checkPattern(_ pattern: JSONPattern, _ value: Int) -> Bool {
    switch withText(value, { pattern.match($0) }) {
    case .matches: return true
    case .differs: return report("pattern") { "\($0.rendered(value)) does not match \"\(pattern.source)\"" }
    case .undecided: return giveUp("matching \"\(pattern.source)\" takes too long", keyword: "pattern")
    }
  }

  /// The number of elements up to which each is compared with each: this takes less than a table.
  private static let fewElements = 16

  private mutating func checkUnique(_ value: Int) -> Bool {
    var elements: ContiguousArray<Int> = []
    for element in tape.children(of: value) { elements.append(element) }
    if elements.count <= Self.fewElements, elements.allSatisfy({ isPlain($0) }) {
      for later in elements.indices {
        for earlier in 0..<later where areEqual(elements[earlier], elements[later]) {
          return report("uniqueItems", "the elements \(earlier) and \(later) are equal")
        }
      }
      return true
    }
    var first: [JSONDistinctKey: Int] = [:]
    for (index, element) in elements.enumerated() {
      let key = JSONDistinctKey(value: self.value(element))
      guard let earlier = first.updateValue(index, forKey: key) else { continue }
      return report("uniqueItems", "the elements \(earlier) and \(index) are equal")
    }
    return true
  }

  /// Whether a value is a scalar, and not a string with escapes.
  private func isPlain(_ value: Int) -> Bool {
    let token = tokens[value]
    return token.kind != .array && token.kind != .object && !token.isEscaped
  }

  private func areEqual(_ one: Int, _ other: Int) -> Bool {
    switch (tokens[one].kind, tokens[other].kind) {
    case (.bigNumber, .integer), (.bigNumber, .double), (.integer, .bigNumber), (.double, .bigNumber),
      (.bigNumber, .bigNumber):
      return JSONValue.equal(self.value(one), self.value(other), numerically: true)
    case (.integer, .integer), (.integer, .double), (.double, .integer), (.double, .double):
      guard let one = number(one), let other = number(other) else { return false }
      return one.order(other) == 0
    case (let kind, let otherKind):
      return kind == otherKind && tape.slice(one).hasSameBytes(as: tape.slice(other))
    }
  }

  private mutating func checkDependencies(_ dependencies: [(key: String, required: [String])], _ value: Int)
    -> Bool
  {
    let present = names(of: value)
    var fits = true
    for (key, names) in dependencies where present.contains(JSONKey(text: key)) {
      for name in names where !present.contains(JSONKey(text: name)) {
        fits = report("dependentRequired", "\"\(name)\" is missing")
      }
    }
    return fits
  }

  // MARK: Values

  /// Calls `body` with the bytes of a string or key, escapes resolved.
  func withText<Result>(_ value: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard tokens[value].isEscaped else { return body(tape.slice(value)) }
    var text = tape.text(value)
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Returns a big number; nil for another value.
  private func bigNumber(_ value: Int) -> JSONBigNumber? {
    tokens[value].kind == .bigNumber ? JSONBigNumber(scanned: tape.text(value)) : nil
  }

  /// Whether a number that is not written as an Int64 has no fraction.
  private func isWhole(_ value: Int) -> Bool {
    bigNumber(value)?.expansion.isWhole ?? (tokens[value].kind == .double && number(value)?.isInteger == true)
  }

  /// Whether a value is a multiple of a number, or not a number.
  private func isMultiple(_ value: Int, of divisor: JSONDecimal) -> Bool {
    if let number = bigNumber(value) { return divisor.divides(number.expansion) }
    return number(value).flatMap { JSONDecimal($0) }?.isMultiple(of: divisor) ?? true
  }

  /// Returns a number; nil for another value, and for a big number.
  private func number(_ value: Int) -> JSONNumber? {
    switch tokens[value].kind {
    case .integer:
      let digits = tape.slice(value)
      // Up to 18 digits and a sign cannot overflow.
      guard digits.count <= 18 else { return Int64(tape.text(value)).map { .int($0) } }
      let isNegative = digits.first == UInt8(ascii: "-")
      let magnitude = digits.dropFirst(isNegative ? 1 : 0).reduce(Int64(0)) {
        $0 &* 10 &+ Int64($1 &- UInt8(ascii: "0"))
      }
      return .int(isNegative ? 0 &- magnitude : magnitude)
    case .double: return Double(tape.text(value)).map { .double($0) }
    default: return nil
    }
  }

  private func value(_ value: Int) -> JSONValue { (try? tape.value(value)) ?? .null }

  /// Returns a value for messages: scalars as JSON, unless they are longer than 60 bytes.
  func rendered(_ value: Int) -> String {
    switch tokens[value].kind {
    case .array, .object: tokens[value].kind.words
    default: Self.rendered(self.value(value))
    }
  }

  private static func rendered(_ value: JSONValue) -> String {
    switch value {
    case .array, .object: return value.kind
    default:
      let text = (try? value.text) ?? value.kind
      return text.utf8.count <= 60 ? text : "\(value.kind) of \(text.utf8.count) bytes"
    }
  }
}

extension JSONKind {
  /// The kind for messages, as `JSONValue.kind`.
  fileprivate var words: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .double, .bigNumber: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
