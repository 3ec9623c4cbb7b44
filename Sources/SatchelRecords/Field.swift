import SatchelCore
import SatchelDocuments
import SatchelJSON

/// A field of a collection's documents whose values have a Swift type, for conditions and orders of queries.
///
/// Values are compared in the form that documents have them in, which is that of their `Codable` conformance or of
/// `JSONConversions`:
///
/// ```swift
/// let due = Field<Date>("due")
/// let late = try tasks.list(RecordQuery(due < .now, order: [due.ascending]), as: Todo.self)
/// ```
///
/// How strings are compared that are times or decimals is part of the collection's declaration: `RecordType`.
public struct Field<Value: Encodable>: Sendable {
  /// As in `RecordFilter.field`.
  public let path: String

  public init(_ path: String) { self.path = path }

  /// Each of these throws `SatchelError` `.invalid` for a value that cannot be encoded.
  public static func == (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .equals(try field.encoded(value)))
  }

  public static func != (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .notEquals(try field.encoded(value)))
  }

  public static func < (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .less(try field.encoded(value)))
  }

  public static func <= (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .lessOrEqual(try field.encoded(value)))
  }

  public static func > (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .greater(try field.encoded(value)))
  }

  public static func >= (field: Field, value: Value) throws -> RecordFilter {
    .field(field.path, .greaterOrEqual(try field.encoded(value)))
  }

  /// Matches documents whose field has one of the values.
  public func oneOf(_ values: [Value]) throws -> RecordFilter {
    .field(path, .oneOf(try values.map { try encoded($0) }))
  }

  /// Matches documents that have the field; null counts as existing.
  public var exists: RecordFilter { .field(path, .exists(true)) }

  /// The order of the field's values.
  public var ascending: RecordQuery.Order { RecordQuery.Order(path) }
  /// The reverse order of the field's values.
  public var descending: RecordQuery.Order { RecordQuery.Order(path, descending: true) }

  func encoded(_ value: some Encodable) throws -> JSONValue {
    do {
      return try JSONValue(encoding: value)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "\"\(path)\": \(JSONError(error))", underlying: error)
    }
  }
}

extension Field where Value == String {
  /// Matches documents whose field is a string with this prefix.
  public func hasPrefix(_ prefix: String) -> RecordFilter { .field(path, .prefix(prefix)) }

  /// Matches documents whose field is a string with this substring.
  public func contains(_ text: String) -> RecordFilter { .field(path, .contains(.string(text))) }
}

extension Field where Value: Sequence, Value.Element: Encodable {
  /// Matches documents whose field is an array with this element.
  public func contains(_ element: Value.Element) throws -> RecordFilter {
    .field(path, .contains(try encoded(element)))
  }
}

extension RecordFilter {
  /// Matches what both match.
  public static func && (left: RecordFilter, right: RecordFilter) -> RecordFilter {
    if case .all(let parts) = left { return .all(parts + [right]) }
    return .all([left, right])
  }

  /// Matches what at least one of them matches.
  public static func || (left: RecordFilter, right: RecordFilter) -> RecordFilter {
    if case .any(let parts) = left, !parts.isEmpty { return .any(parts + [right]) }
    return .any([left, right])
  }

  /// Matches what the filter does not match.
  public static prefix func ! (filter: RecordFilter) -> RecordFilter { .not(filter) }
}
