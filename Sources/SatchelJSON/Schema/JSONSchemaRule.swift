/// A compiled schema or subschema: a range of the program's rules.
struct JSONSchemaNode: Sendable {
  /// The result of a boolean schema; nil for others.
  var verdict: Bool?
  var rules = 0..<0
  /// The target of a node that consists only of a "$ref".
  var alias: Int?
  /// Whether the node has "unevaluatedItems" or "unevaluatedProperties", which depend on its other rules.
  var hasUnevaluated = false
}

/// A rule of a schema. A rule that does not apply to a value's type is satisfied.
///
/// Schemas, and what does not fit into a trivial value, are indices into the program: validating counts no
/// references.
enum JSONSchemaRule: Sendable {
  case reference(Int)
  /// The types, and the index of their list, which messages name in its order.
  case type(JSONSchemaTypes, Int)
  case constant(Int)
  case enumeration(Int)
  case bound(JSONSchemaBound, JSONNumber)
  case multiple(JSONDecimal, JSONNumber)
  /// A limit that is one of the program's big numbers.
  case bigBound(JSONSchemaBound, Int)
  case bigMultiple(JSONDecimal, Int)
  /// A limit on a string's code points, or on the number of elements or members.
  case count(JSONSchemaCount, Int)
  case pattern(Int)
  case items(prefix: JSONSchemaList, rest: Int?)
  case contains(Int, minimum: Int, maximum: Int?)
  case uniqueItems
  case members(Int)
  case names(Int)
  case dependentRequired(Int)
  case dependentSchemas(Int)
  case all(JSONSchemaList)
  case any(JSONSchemaList)
  case one(JSONSchemaList)
  case not(Int)
  case condition(test: Int, then: Int?, otherwise: Int?)
  /// Applies to the elements and members that no other rule has evaluated; always the last rule.
  case unevaluated(items: Int?, members: Int?)
}

/// A list of schemas: a range of the program's lists.
struct JSONSchemaList: Sendable {
  var range = 0..<0

  var count: Int { range.count }
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

  /// The kind of the values to which the keyword applies.
  var kind: JSONKind {
    switch self {
    case .minLength, .maxLength: .string
    case .minItems, .maxItems: .array
    case .minProperties, .maxProperties: .object
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

  var mask: JSONSchemaTypes {
    switch self {
    case .null: .null
    case .boolean: .boolean
    case .object: .object
    case .array: .array
    case .number: .number
    case .string: .string
    case .integer: .integer
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

/// A set of types.
struct JSONSchemaTypes: OptionSet, Sendable {
  let rawValue: UInt8

  static let null = JSONSchemaTypes(rawValue: 1)
  static let boolean = JSONSchemaTypes(rawValue: 2)
  static let object = JSONSchemaTypes(rawValue: 4)
  static let array = JSONSchemaTypes(rawValue: 8)
  static let number = JSONSchemaTypes(rawValue: 16)
  static let string = JSONSchemaTypes(rawValue: 32)
  static let integer = JSONSchemaTypes(rawValue: 64)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The types that every value of a kind has; any other number may also be an integer.
  init(_ kind: JSONKind) {
    self =
      switch kind {
      case .null: .null
      case .bool: .boolean
      case .integer: [.number, .integer]
      case .double, .bigNumber: .number
      case .string: .string
      case .array: .array
      case .object: .object
      }
  }
}
