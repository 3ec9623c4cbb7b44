import SatchelStorage

/// How the records that may fit are found.
struct QueryPlan {
  /// Keys of an index.
  struct Access {
    var index: CollectionShape.Index
    var keys: KeyRanges
    /// Whether every record with such a key fits the whole filter.
    var decides: Bool
  }

  enum Way {
    /// All records, in the order of their arrival.
    case scan
    /// By their ids.
    case ids([[UInt8]])
    /// By an index, whose keys narrow the filter.
    case index(Access)
    /// By an index whose order is the one that is asked for.
    case ordered(Access)
  }

  var way: Way

  /// - Parameter limited: whether few of the records that fit are wanted
  init(
    _ filter: CompiledFilter, order: [CompiledQuery.Order], limited: Bool, _ shape: CollectionShape,
    isComplete: (CollectionShape.Index) throws -> Bool, estimate: (Access) throws -> Int
  ) throws {
    let (tests, isAll) = filter.required
    for test in tests {
      guard case .id = test.path else { continue }
      if let ids = Self.ids(test.test) {
        way = .ids(ids)
        return
      }
    }
    var best: Access?
    var bestEstimate: Int?
    for index in shape.indexes {
      guard let access = Self.access(index, tests, isAll) else { continue }
      guard let known = best else {
        best = access
        continue
      }
      if access.keys.rank > known.keys.rank { continue }
      if access.keys.rank < known.keys.rank || index.isUnique && access.keys.rank == 0 {
        (best, bestEstimate) = (access, nil)
        continue
      }
      let (left, right) = (try bestEstimate ?? estimate(known), try estimate(access))
      if right < left { (best, bestEstimate) = (access, right) } else { bestEstimate = left }
    }
    // Where equality narrows, sorting what is left costs less than walking along the order.
    if let first = order.first, best.map({ $0.keys.rank > 1 || $0.index.path.isPath(first.path) }) ?? limited,
      let index = shape.indexes.first(where: { $0.path.isPath(first.path) })
    {
      let access = Self.access(index, tests, isAll)
      if limited || access != nil, try access != nil || isComplete(index) {
        way = .ordered(
          access ?? Access(index: index, keys: .everything, decides: tests.isEmpty && isAll))
        return
      }
    }
    // That something is there narrows too little.
    way = best.map { $0.keys.rank < 3 || $0.decides ? .index($0) : .scan } ?? .scan
  }

  private static func ids(_ test: CompiledTest.Test) -> [[UInt8]]? {
    let operands: [Operand]
    switch test {
    case .equals(let operand): operands = [operand]
    case .oneOf(let list): operands = list
    default: return nil
    }
    return operands.compactMap { if case .string(let id) = $0.content { id } else { nil } }
  }

  /// What an index's keys say about a filter; nil when they say nothing.
  private static func access(
    _ index: CollectionShape.Index, _ tests: [CompiledTest], _ isAll: Bool
  ) -> Access? {
    var keys: KeyRanges?
    var decides = isAll
    for test in tests {
      guard index.path.isPath(test.path), let said = KeyRanges(test.test) else {
        decides = false
        continue
      }
      if keys == nil { keys = said } else { keys?.narrow(said) }
    }
    return keys.map { Access(index: index, keys: $0, decides: decides && $0.isExact) }
  }
}

extension KeyRanges {
  static let everything = KeyRanges(.exists(true)) ?? KeyRanges()

  private init() { (ranges, isExact, rank) = ([.everything], true, 3) }
}

extension DocumentPath {
  fileprivate func isPath(_ other: FieldPath) -> Bool {
    if case .document(let path) = other { return path == self }
    return false
  }
}
