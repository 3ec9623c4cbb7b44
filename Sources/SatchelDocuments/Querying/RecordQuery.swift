import SatchelCore
import SatchelJSON
import SatchelStorage

/// A query: a filter, an order, a limit and an offset.
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

  /// Reads `{"where", "order_by", "limit", "offset", "documents"}`; all members are optional.
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
    case ("where", .null), ("order_by", .null), ("limit", .null), ("offset", .null): break
    case ("where", _): filter = try RecordFilter(value, at: "/where")
    case ("order_by", .string(let text)): order = [Order(text: text)]
    case ("order_by", .array(let elements)):
      order = try elements.enumerated().map { position, element in
        guard case .string(let text) = element else {
          throw JSONError("must be a path", pointer: "/order_by/\(position)")
        }
        return Order(text: text)
      }
    case ("limit", .int(let count)) where count >= 0: limit = Int(count)
    case ("offset", .int(let count)) where count >= 0: offset = Int(count)
    case ("documents", .bool(let wanted)): wantsDocuments = wanted
    case ("order_by", _): throw JSONError("must be a path, or an array of them", pointer: "/order_by")
    case ("limit", _), ("offset", _): throw JSONError("must be a number, 0 or more", pointer: "/" + key)
    case ("documents", _): throw JSONError("must be true or false", pointer: "/documents")
    default:
      throw JSONError(
        "unknown member of a query; the members are where, order_by, limit, offset and documents",
        pointer: "/" + JSONPointer.escaped(key))
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
struct CompiledQuery {
  struct Order {
    var path: FieldPath
    var isDescending: Bool
  }

  let filter: CompiledFilter
  let order: [Order]
  let window: QueryWindow

  /// - Throws: `.invalid` for an invalid path, and for a range of values without an order
  init(_ query: RecordQuery) throws {
    filter = try CompiledFilter(query.filter ?? .all([]))
    order = try query.order.map { Order(path: try FieldPath($0.path), isDescending: $0.isDescending) }
    window = QueryWindow(offset: max(0, query.offset), limit: query.limit.map { max(0, $0) })
  }
}

/// The offset and limit of a query, which count down.
struct QueryWindow {
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
