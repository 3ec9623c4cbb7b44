import SatchelJSON
import SatchelStorage

/// Which records, in which order, and how many.
public struct RecordQuery: Sendable {
  /// One part of an order.
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
  /// What is missing comes first, then null, false, true, numbers, texts, arrays, objects; equal ones as they
  /// arrived, which is also the order when this is empty.
  public var order: [Order]
  /// Nil for any number.
  public var limit: Int?
  /// How many are left out in front.
  public var offset: Int
  /// Whether the documents are wanted, and not only what is known of the records.
  public var wantsDocuments = true

  public init(_ filter: RecordFilter? = nil, order: [Order] = [], limit: Int? = nil, offset: Int = 0) {
    self.filter = filter
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// Reads `{"where", "order_by", "limit", "offset", "documents"}`, all of which may be left out.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  public init(json: JSONValue) throws {
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
        "no such part of a query; there are where, order_by, limit, offset and documents",
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
