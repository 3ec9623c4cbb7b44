/// A compiled JSON Schema (draft 2020-12), which can validate any number of values.
///
/// All assertions and applicators of the draft are supported. "format" and the other annotations assert
/// nothing. A keyword that is not of the draft has no effect, and is one of the `warnings`; an assertion of an
/// earlier draft ("dependencies", "additionalItems") is rejected, and so are "$dynamicRef" and
/// "$dynamicAnchor". A "$ref" may refer to any location inside the schema (by pointer, "$anchor" or "$id");
/// other documents are never fetched. A "pattern" is a PCRE2 regular expression, close to
/// ECMAScript's: \d and \w are ASCII, \s is the white space and line ends of Unicode.
public struct JSONSchema: Sendable {
  /// The maximum number of violations that `check` returns.
  public static let maximumViolations = 100

  let program: JSONSchemaProgram

  /// Compiles a schema.
  ///
  /// - Throws: `JSONError` with the pointer of the keyword in the schema: for a keyword with an invalid
  ///   value, an assertion of an earlier draft, a reference to a missing location, to another document or only
  ///   to itself, and for a "pattern" when PCRE2 is not installed
  public init(_ schema: JSONValue) throws {
    program = try JSONSchemaCompiler.compile(schema)
  }

  /// The keywords without effect; at most 100.
  public var warnings: [JSONSchemaWarning] { program.warnings }

  /// Validates a value, and returns its violations; empty when the value is valid.
  ///
  /// All violations of the value and its children are returned, up to `maximumViolations`. A failed "anyOf" or
  /// "oneOf" is one violation, whose reason names the schema that came nearest; a failed "not" or "contains"
  /// is one without those of its subschema. A check that cannot be decided, because a pattern takes too long or
  /// the schema refers to itself too deeply, counts as a violation, and so does a value that JSON cannot
  /// represent.
  public func check(_ value: JSONValue) -> [JSONSchemaViolation] {
    do {
      return try Self.text(of: value).withUnsafeBytes { try check($0) }
    } catch {
      let reason = (error as? JSONError)?.description ?? "\(error)"
      return [JSONSchemaViolation(pointer: "", keyword: "type", reason: reason)]
    }
  }

  /// Returns the value as JSON, also on a small stack.
  private static func text(of value: JSONValue) throws -> [UInt8] {
    guard value.depth > JSONLargeStack.calls else { return try value.serialized() }
    var result = Result<[UInt8], any Error>.failure(JSONError.tooDeep)
    _ = JSONLargeStack.run { result = Result { try value.serialized() } }
    return try result.get()
  }

  /// Validates a JSON text as `check(_:)` does a value, without creating values.
  ///
  /// - Throws: for a text that is not JSON
  package func check(_ text: UnsafeRawBufferPointer) throws -> [JSONSchemaViolation] {
    JSONSchemaValidator.run(program, try JSONTape(text))
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
