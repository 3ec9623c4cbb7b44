/// A JSON Schema of draft 2020-12, compiled once and used for many values.
///
/// Keywords: all of the draft's assertions and applicators. "format" and the other annotations assert nothing, and
/// unknown keywords are ignored; "$dynamicRef" and "$dynamicAnchor" are refused. A "$ref" leads anywhere inside the
/// schema (by pointer, "$anchor" or "$id"), and never outside: nothing is fetched. A "pattern" is a regular
/// expression of PCRE2, close to ECMAScript's: \d, \s and \w are ASCII.
public struct JSONSchema: Sendable {
  /// How many violations `check` tells at most.
  public static let maximumViolations = 100

  let nodes: [JSONSchemaNode]

  /// Compiles a schema.
  ///
  /// - Throws: `JSONError` with the pointer of the keyword in the schema: for a keyword whose value is malformed, a
  ///   reference that leads nowhere, outside or only to itself, and for a "pattern" when PCRE2 is not installed.
  public init(_ schema: JSONValue) throws {
    nodes = try JSONSchemaCompiler.compile(schema)
  }

  /// Where a value is not as the schema wants it; empty when it is.
  ///
  /// Every violation of the value and its parts is told, up to `maximumViolations`. Of "anyOf", "oneOf", "not" and
  /// "contains" only that they do not hold. What cannot be told, because a pattern takes too long or the schema
  /// refers to itself too deep, counts as a violation.
  public func check(_ value: JSONValue) -> [JSONSchemaViolation] {
    var checker = JSONSchemaChecker(nodes)
    return checker.run(value)
  }
}
