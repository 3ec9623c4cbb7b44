/// A compiled schema or subschema. Others are named by their index.
struct JSONSchemaNode: Sendable {
  /// What "true" and "false" say of every value.
  var verdict: Bool?
  var rules: [JSONSchemaRule] = []

  /// Whether it must know what its other rules have looked at.
  var hasUnevaluated: Bool {
    guard case .unevaluated? = rules.last else { return false }
    return true
  }

  /// The schema that it is nothing but a reference to.
  var alias: Int? {
    guard rules.count == 1, case .reference(let target)? = rules.first else { return nil }
    return target
  }

  /// The schemas that the same value must also answer to: who comes back to itself by these never ends.
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

/// What a schema demands; what is not about a value's type holds.
enum JSONSchemaRule: Sendable {
  case reference(Int)
  case type([JSONSchemaType])
  case equal(JSONValue)
  case oneOfValues(Set<JSONDistinctKey>)
  case bound(JSONSchemaBound, JSONValue)
  case multiple(JSONDecimal, JSONValue)
  /// Of a text in code points, of elements or members.
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
  /// Always the last: elements and members that no other rule has looked at.
  case unevaluated(items: Int?, members: Int?)
}

/// "properties", "patternProperties" and "additionalProperties", which share the members among themselves.
struct JSONSchemaMembers: Sendable {
  var named: [JSONKey: Int] = [:]
  var patterns: [(pattern: JSONPattern, index: Int)] = []
  var additional: Int?
}

/// A limit of a number.
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

  /// What is wrong when it does not hold.
  var complaint: String {
    switch self {
    case .minimum: "less than"
    case .exclusiveMinimum: "not more than"
    case .maximum: "more than"
    case .exclusiveMaximum: "not less than"
    }
  }
}

/// A limit of how much there is.
enum JSONSchemaCount: String, CaseIterable {
  case minLength, maxLength, minItems, maxItems, minProperties, maxProperties

  /// How much there is of what it limits; nil for values that it is not about.
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
