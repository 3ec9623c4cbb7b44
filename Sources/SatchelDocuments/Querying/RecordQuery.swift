import SatchelCore
import SatchelJSON
import SatchelStorage

/// A query: a filter, an order, a limit and an offset, or the end of the page before.
public struct RecordQuery: Sendable {
  /// One sort key.
  public struct Order: Sendable {
    /// As in `RecordFilter.field`.
    public var path: String
    public var isDescending: Bool

    public init(_ path: String, descending: Bool = false) {
      self.path = path
      isDescending = descending
    }
  }

  /// Nil for all records.
  public var filter: RecordFilter?
  /// The sort keys. Missing values come first, then null, false, true, numbers, strings, arrays, objects;
  /// equal ones in insertion order, which is also the order when this is empty.
  public var order: [Order]
  /// Where missing and null values sort, whatever the direction is.
  public enum Nulls: String, Sendable, CaseIterable {
    case first, last
  }

  /// Nil for before all values in ascending order, and after them in descending order.
  public var nulls: Nulls?
  /// The end of a page, after which the first record is: `RecordPage.cursor` of a query with the same order.
  public var after: String?
  /// The paths of the values that returned documents have; nil for whole documents.
  public var select: [String]?
  /// The paths of declared relations whose records are returned as well: `Record.included`.
  public var include: [String]?
  /// The maximum number of records; nil for no limit.
  public var limit: Int?
  /// The number of matching records to skip.
  public var offset: Int
  /// Whether documents are returned, in addition to metadata.
  public var wantsDocuments = true

  public init(_ filter: RecordFilter? = nil, order: [Order] = [], limit: Int? = nil, offset: Int = 0) {
    self.filter = filter
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// Reads `{"where", "order_by", "nulls", "limit", "offset", "after", "select", "include", "documents"}`; all members
  /// are optional.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  package init(json: JSONValue) throws {
    self.init()
    try naming("query") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      for (key, value) in members { try read(key, value) }
    }
  }

  private mutating func read(_ key: String, _ value: JSONValue) throws {
    switch (key, value) {
    case ("where", .null), ("order_by", .null), ("limit", .null), ("offset", .null), ("nulls", .null),
      ("after", .null), ("select", .null), ("include", .null):
      break
    case ("where", _): filter = try RecordFilter(value, at: "/where")
    case ("order_by", .string(let text)): order = [Order(text: text)]
    case ("order_by", .array): order = try value.paths(at: "/order_by").map { Order(text: $0) }
    case ("nulls", .string(let text)):
      guard let nulls = Nulls(rawValue: text) else { fallthrough }
      self.nulls = nulls
    case ("nulls", _): throw JSONError("must be first or last", pointer: "/nulls")
    case ("after", .string(let cursor)): after = cursor
    case ("after", _): throw JSONError("must be the cursor of a page", pointer: "/after")
    case ("select", _): select = try value.paths(at: "/select")
    case ("include", _): include = try value.paths(at: "/include")
    case ("limit", .int(let count)) where count >= 0: limit = Int(count)
    case ("offset", .int(let count)) where count >= 0: offset = Int(count)
    case ("documents", .bool(let wanted)): wantsDocuments = wanted
    case ("order_by", _): throw JSONError("must be a path, or an array of them", pointer: "/order_by")
    case ("limit", _), ("offset", _): throw JSONError("must be a number, 0 or more", pointer: "/" + key)
    case ("documents", _): throw JSONError("must be true or false", pointer: "/documents")
    default:
      throw JSONError(
        "unknown member of a query; the members are where, order_by, nulls, limit, offset, after, select, "
          + "include and documents",
        pointer: "/" + JSONPointer.escaped(key))
    }
  }
}

extension JSONValue {
  /// Returns the paths of an array.
  ///
  /// - Throws: `JSONError` for another value, and for an element that is no string
  func paths(at pointer: String) throws -> [String] {
    guard case .array(let elements) = self else {
      throw JSONError("must be an array of paths", pointer: pointer)
    }
    return try elements.enumerated().map { position, element in
      guard case .string(let path) = element else {
        throw JSONError("must be a path", pointer: "\(pointer)/\(position)")
      }
      return path
    }
  }
}

extension RecordQuery.Order {
  init(text: String) {
    let isDescending = text.utf8.first == UInt8(ascii: "-")
    self.init(isDescending ? String(text.dropFirst()) : text, descending: isDescending)
  }
}

/// A query with parsed paths and operands.
final class CompiledQuery: Sendable {
  struct Order: Sendable {
    var path: FieldPath
    var isDescending: Bool
    /// As of `OrderKey`.
    var nullsLast: Bool?
  }

  let filter: CompiledFilter
  let order: [Order]
  let window: QueryWindow
  let after: QueryCursor?
  let projection: Projection?
  /// The paths of the relations whose records are returned as well.
  let include: [FieldPath]
  let wantsDocuments: Bool
  private let source: RecordQuery

  /// - Parameter types: of the collection
  /// - Throws: `.invalid` for an invalid path, for a range of values without an order, for a value that no value of a
  ///   path's type equals, and for a cursor of a query with another order
  init(_ query: RecordQuery, _ types: TypedPaths = .none) throws {
    source = query
    filter = try CompiledFilter(query.filter ?? .all([]), types)
    order = try query.order.map {
      let path = types.typed(try FieldPath($0.path))
      try path.checkSingle("an order")
      return Order(path: path, isDescending: $0.isDescending, nullsLast: query.nulls.map { $0 == .last })
    }
    wantsDocuments = query.wantsDocuments
    window = QueryWindow(offset: max(0, query.offset), limit: query.limit.map { max(0, $0) })
    after = try query.after.map { [order] in try QueryCursor($0, order) }
    projection = try query.select.map { try Projection($0) }
    include = try (query.include ?? []).map { try FieldPath($0) }
  }

  /// Returns the query for a collection whose paths have types, without the records that match a filter.
  ///
  /// - Throws: as `init`
  func prepared(_ types: TypedPaths, without excluded: RecordFilter?) throws -> CompiledQuery {
    var query = source
    if let excluded { query.filter = .all([.not(excluded)] + (query.filter.map { [$0] } ?? [])) }
    return try CompiledQuery(query, types)
  }

  /// The number of the first matching records that are requested; nil for all.
  var wanted: Int? { window.limit.map { $0.addingReportingOverflow(window.offset).partialValue } }
}

/// The offset and limit of a query, which count down.
struct QueryWindow: Sendable {
  private(set) var offset: Int
  /// The number of records that are still to be returned; nil for all.
  private(set) var limit: Int?

  var isOver: Bool { limit == 0 }

  /// Returns whether the next matching record is within the window, and advances.
  mutating func admitsNext() -> Bool {
    if offset > 0 {
      offset -= 1
      return false
    }
    if let left = limit { limit = max(0, left - 1) }
    return true
  }

  /// Returns the part of a list within the window.
  func slice<Element>(of list: [Element]) -> ArraySlice<Element> {
    let rest = list.dropFirst(offset)
    return limit.map { rest.prefix($0) } ?? rest
  }
}

/// The filter of a query.
public indirect enum RecordFilter: Equatable, Sendable, JSONConvertible {
  /// A test of a field: "a.b" or a JSON Pointer, or "@id", "@created", "@modified", "@revision",
  /// "@sync_status".
  case field(String, RecordTest)
  /// All filters must match; an empty list always matches.
  case all([RecordFilter])
  /// At least one filter must match; an empty list never matches.
  case any([RecordFilter])
  case not(RecordFilter)
}

/// The test of a field. Ranges compare numbers with numbers, and strings with strings by their UTF-8 bytes, unless the path
/// has a `RecordType`. A missing field satisfies only `notEquals` and `exists(false)`.
public enum RecordTest: Equatable, Sendable {
  /// 1 equals 1.0.
  case equals(JSONValue)
  case notEquals(JSONValue)
  case less(JSONValue)
  case lessOrEqual(JSONValue)
  case greater(JSONValue)
  case greaterOrEqual(JSONValue)
  case oneOf([JSONValue])
  /// A string with this prefix.
  case prefix(String)
  /// An array with this element, or a string with this substring.
  case contains(JSONValue)
  /// Whether the field exists; null counts as existing.
  case exists(Bool)
}

extension RecordFilter {
  /// Reads the JSON form of the public interfaces: an object whose members must all hold, `{"path": value}`
  /// or `{"path": {"gte": 1, "lt": 5}}`, with "any", "all" and "not" to combine.
  ///
  /// - Throws: `JSONError` with the pointer
  package init(json: JSONValue) throws { try self.init(json, at: "") }

  init(_ json: JSONValue, at pointer: String) throws {
    guard case .object(let members) = json else {
      throw JSONError("a condition must be an object", pointer: pointer)
    }
    var parts: [RecordFilter] = []
    for (key, value) in members {
      let location = pointer + "/" + JSONPointer.escaped(key)
      switch key {
      case "any": parts.append(.any(try Self.list(value, at: location)))
      case "all": parts.append(.all(try Self.list(value, at: location)))
      case "not": parts.append(.not(try RecordFilter(value, at: location)))
      default: parts += try RecordTest.read(value, at: location).map { .field(key, $0) }
      }
    }
    self = parts.count == 1 ? parts[0] : .all(parts)
  }

  private static func list(_ json: JSONValue, at pointer: String) throws -> [RecordFilter] {
    guard case .array(let elements) = json else {
      throw JSONError("must be an array of conditions", pointer: pointer)
    }
    return try elements.enumerated().map { try RecordFilter($1, at: "\(pointer)/\($0)") }
  }
}

extension RecordFilter {
  /// The JSON form of the public interfaces.
  public var json: JSONValue {
    switch self {
    // A member that has the name of a combination is reached by a JSON Pointer.
    case .field("all", let test), .field("any", let test), .field("not", let test):
      guard case .field(let path, _) = self else { return .null }
      return ["/" + path: test.json]
    case .field(let path, let test): return [path: test.json]
    case .all(let parts): return ["all": .array(parts.map(\.json))]
    case .any(let parts): return ["any": .array(parts.map(\.json))]
    case .not(let part): return ["not": part.json]
    }
  }
}

extension RecordTest {
  fileprivate var json: JSONValue {
    switch self {
    case .equals(let value): ["eq": value]
    case .notEquals(let value): ["ne": value]
    case .less(let value): ["lt": value]
    case .lessOrEqual(let value): ["lte": value]
    case .greater(let value): ["gt": value]
    case .greaterOrEqual(let value): ["gte": value]
    case .oneOf(let values): ["in": .array(values)]
    case .prefix(let text): ["prefix": .string(text)]
    case .contains(let value): ["contains": value]
    case .exists(let wanted): ["exists": .bool(wanted)]
    }
  }

  /// Reads a member of a condition: an object holds operators, any other value means equality.
  fileprivate static func read(_ json: JSONValue, at pointer: String) throws -> [RecordTest] {
    switch json {
    case .object(let operators):
      guard !operators.isEmpty else {
        throw JSONError("no operator; to compare with an object, use \"eq\"", pointer: pointer)
      }
      return try operators.map { try read($0.key, $0.value, at: "\(pointer)/\(JSONPointer.escaped($0.key))") }
    case .array:
      throw JSONError("to compare with an array, use \"eq\", \"in\" or \"contains\"", pointer: pointer)
    default: return [.equals(json)]
    }
  }

  private static func read(_ name: String, _ value: JSONValue, at pointer: String) throws -> RecordTest {
    switch name {
    case "eq": return .equals(value)
    case "ne": return .notEquals(value)
    case "lt": return .less(value)
    case "lte": return .lessOrEqual(value)
    case "gt": return .greater(value)
    case "gte": return .greaterOrEqual(value)
    case "contains": return .contains(value)
    case "in":
      guard case .array(let values) = value else { throw JSONError("must be an array", pointer: pointer) }
      return .oneOf(values)
    case "prefix":
      guard case .string(let text) = value else { throw JSONError("must be a string", pointer: pointer) }
      return .prefix(text)
    case "exists":
      guard case .bool(let wanted) = value else { throw JSONError("must be true or false", pointer: pointer) }
      return .exists(wanted)
    default:
      throw JSONError(
        "unknown operator; the operators are eq, ne, lt, lte, gt, gte, in, prefix, contains and exists",
        pointer: pointer)
    }
  }
}
