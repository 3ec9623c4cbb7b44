/// A compiled JSON Schema (draft 2020-12), which can validate any number of values.
///
/// All assertions and applicators of the draft are supported. "format" and the other annotations assert
/// nothing, and unknown keywords are ignored; "$dynamicRef" and "$dynamicAnchor" are rejected. A "$ref" may
/// refer to any location inside the schema (by pointer, "$anchor" or "$id"); other documents are never
/// fetched. A "pattern" is a PCRE2 regular expression, close to ECMAScript's: \d, \s and \w are ASCII.
public struct JSONSchema: Sendable {
  /// The maximum number of violations that `check` returns.
  public static let maximumViolations = 100

  let nodes: [JSONSchemaNode]

  /// Compiles a schema.
  ///
  /// - Throws: `JSONError` with the pointer of the keyword in the schema: for a keyword with an invalid
  ///   value, a reference to a missing location, to another document or only to itself, and for a "pattern"
  ///   when PCRE2 is not installed
  public init(_ schema: JSONValue) throws {
    nodes = try JSONSchemaCompiler.compile(schema)
  }

  /// Validates a value, and returns its violations; empty when the value is valid.
  ///
  /// All violations of the value and its children are returned, up to `maximumViolations`. A failed "anyOf",
  /// "oneOf", "not" or "contains" is one violation, without those of its subschemas. A check that cannot be
  /// decided, because a pattern takes too long or the schema refers to itself too deeply, counts as a
  /// violation.
  public func check(_ value: JSONValue) -> [JSONSchemaViolation] {
    var validator = JSONSchemaValidator(nodes)
    return validator.run(value)
  }
}

/// A violation of a schema by a value.
public struct JSONSchemaViolation: Error, Sendable, Equatable, CustomStringConvertible {
  /// The RFC 6901 pointer of the value.
  public let pointer: String
  /// The violated keyword of the schema.
  public let keyword: String
  /// The reason.
  public let reason: String

  /// The pointer and the reason, such as "/credits: 12 is more than 10".
  public var description: String { pointer.isEmpty ? reason : "\(pointer): \(reason)" }
}
