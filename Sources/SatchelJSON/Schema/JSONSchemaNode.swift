/// A compiled schema or subschema, which refers to others by their index.
struct JSONSchemaNode: Sendable {
  /// The result of a boolean schema; nil for others.
  var verdict: Bool?
  var rules: [JSONSchemaRule] = []

  /// Whether the node has "unevaluatedItems" or "unevaluatedProperties", which depend on its other rules.
  var hasUnevaluated: Bool {
    guard case .unevaluated? = rules.last else { return false }
    return true
  }

  /// The target of a node that consists only of a "$ref".
  var alias: Int? {
    guard rules.count == 1, case .reference(let target)? = rules.first else { return nil }
    return target
  }

  /// The schemas that are applied to the same value; a cycle of these never terminates.
  var inPlace: [Int] {
    rules.flatMap { rule -> [Int] in
      switch rule {
      case .reference(let index), .not(let index): [index]
      case .all(let indexes), .any(let indexes), .one(let indexes): indexes
      case .condition(let test, let then, let other): [test, then, other].compactMap(\.self)
      case .dependentSchemas(let schemas): schemas.map(\.index)
      default: []
      }
    }
  }
}

/// A rule of a schema. A rule that does not apply to a value's type is satisfied.
enum JSONSchemaRule: Sendable {
  case reference(Int)
  case type([JSONSchemaType])
  case constant(JSONValue)
  case enumeration(Set<JSONDistinctKey>)
  case bound(JSONSchemaBound, JSONValue)
  case multiple(JSONDecimal, JSONValue)
  /// A limit on a string's code points, or on the number of elements or members.
  case count(JSONSchemaCount, Int)
  case pattern(JSONPattern)
  case items(prefix: [Int], rest: Int?)
  case contains(Int, minimum: Int, maximum: Int?)
  case uniqueItems
  case members(JSONSchemaMembers)
  case names(Int)
  case required([String])
  case dependentRequired([(key: String, required: [String])])
  case dependentSchemas([(key: String, index: Int)])
  case all([Int])
  case any([Int])
  case one([Int])
  case not(Int)
  case condition(test: Int, then: Int?, otherwise: Int?)
  /// Applies to the elements and members that no other rule has evaluated; always the last rule.
  case unevaluated(items: Int?, members: Int?)
}

/// "properties", "patternProperties" and "additionalProperties", which together cover the members.
struct JSONSchemaMembers: Sendable {
  var named: [JSONKey: Int] = [:]
  var patterns: [(pattern: JSONPattern, index: Int)] = []
  var additional: Int?
}

/// A keyword that limits a number.
enum JSONSchemaBound: String, CaseIterable {
  case minimum, exclusiveMinimum, maximum, exclusiveMaximum

  func holds(_ order: Int) -> Bool {
    switch self {
    case .minimum: order >= 0
    case .exclusiveMinimum: order > 0
    case .maximum: order <= 0
    case .exclusiveMaximum: order < 0
    }
  }

  /// The violation, for messages.
  var violation: String {
    switch self {
    case .minimum: "less than"
    case .exclusiveMinimum: "not more than"
    case .maximum: "more than"
    case .exclusiveMaximum: "not less than"
    }
  }
}

/// A keyword that limits the length of a string, or the number of elements or members.
enum JSONSchemaCount: String, CaseIterable {
  case minLength, maxLength, minItems, maxItems, minProperties, maxProperties

  /// Returns the count that the keyword limits; nil for values to which it does not apply.
  func count(_ value: JSONValue) -> Int? {
    switch (self, value) {
    case (.minLength, .string(let text)), (.maxLength, .string(let text)): text.unicodeScalars.count
    case (.minItems, .array(let elements)), (.maxItems, .array(let elements)): elements.count
    case (.minProperties, .object(let members)), (.maxProperties, .object(let members)): members.count
    default: nil
    }
  }

  var isMinimum: Bool { self == .minLength || self == .minItems || self == .minProperties }

  var unit: String {
    switch self {
    case .minLength, .maxLength: "characters"
    case .minItems, .maxItems: "elements"
    case .minProperties, .maxProperties: "members"
    }
  }
}

/// A type of the keyword "type".
enum JSONSchemaType: String, Sendable, CaseIterable {
  case null, boolean, object, array, number, string, integer

  /// Returns whether a value has the type; 1.0 is an integer too.
  func holds(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.null, .null), (.boolean, .bool), (.object, .object), (.array, .array), (.string, .string),
      (.number, .int), (.number, .double), (.integer, .int):
      true
    case (.integer, .double(let number)): number.isFinite && number.rounded(.towardZero) == number
    default: false
    }
  }

  /// The name with its article, for messages.
  var name: String {
    switch self {
    case .null: rawValue
    case .object, .array, .integer: "an \(rawValue)"
    default: "a \(rawValue)"
    }
  }
}
