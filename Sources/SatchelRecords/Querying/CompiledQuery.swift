/// A query whose paths and operands were read once.
struct CompiledQuery {
  struct Order {
    var path: FieldPath
    var isDescending: Bool
  }

  let filter: CompiledFilter
  let order: [Order]
  let window: QueryWindow

  /// - Throws: `.invalid` for what is no path, and for a range of what has no order
  init(_ query: RecordQuery) throws {
    filter = try CompiledFilter(query.filter ?? .all([]))
    order = try query.order.map { Order(path: try FieldPath($0.path), isDescending: $0.isDescending) }
    window = QueryWindow(offset: max(0, query.offset), limit: query.limit.map { max(0, $0) })
  }
}

/// Which of the records that fit are wanted.
struct QueryWindow {
  private(set) var offset: Int
  /// How many are still wanted; nil for all.
  private(set) var limit: Int?

  var isOver: Bool { limit == 0 }

  /// Whether the next record that fits is one of them.
  mutating func takes() -> Bool {
    if offset > 0 {
      offset -= 1
      return false
    }
    if let left = limit { limit = max(0, left - 1) }
    return true
  }

  /// The part of a list.
  func slice<Element>(of list: [Element]) -> ArraySlice<Element> {
    let rest = list.dropFirst(offset)
    return limit.map { rest.prefix($0) } ?? rest
  }
}
