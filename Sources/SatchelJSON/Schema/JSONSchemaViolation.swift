/// Where a value is not as a schema wants it, and why.
public struct JSONSchemaViolation: Error, Sendable, Equatable, CustomStringConvertible {
  /// RFC 6901 pointer of the value.
  public let pointer: String
  /// The keyword of the schema that it violates.
  public let keyword: String
  /// Why, in words.
  public let reason: String

  /// "/credits: 12 is more than 10".
  public var description: String { pointer.isEmpty ? reason : "\(pointer): \(reason)" }
}
