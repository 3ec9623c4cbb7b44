import SatchelCore
import SatchelJSON
import SatchelStorage

extension QueryRun {
  /// Computes aggregates of the records that match, by groups; without paths, one group of all of them.
  func aggregate(
    _ filter: CompiledFilter, by paths: [FieldPath],
    _ aggregates: [(function: RecordAggregate.Function, path: FieldPath)]
  ) throws -> [RecordGroup] {
    try check(filter)
    try check(paths + aggregates.map(\.path))
    let groups = GroupTable(paths, aggregates)
    if aggregates.isEmpty, paths.count == 1,
      let index = rules.indexes.first(where: { $0.path == paths[0] && $0.definition.isPlain }),
      let keys = try keys(of: index, filter)
    {
      try count(index, keys, into: groups)
    } else {
      try candidates(try plan(filter)) {
        try groups.add($0)
        return true
      }
    }
    return groups.sorted
  }

  /// Returns the keys of an index whose entries are exactly those of the records that match; nil for none.
  private func keys(of index: CollectionIndex, _ filter: CompiledFilter) throws -> KeyRanges? {
    let conditions = filter.conditions
    if conditions.isEmpty { return .everything }
    let planner = QueryPlanner(indexes: [index], relations: [], count: { 0 }, estimate: { _, _ in 0 })
    let plan = try planner.plan(filter)
    guard case .index(_, let keys) = plan.access, plan.rest.isEmpty else { return nil }
    try checkTimes(filter, plan.access)
    return keys
  }

  /// Counts the entries of an index by their keys: one record of each group is read, for the value.
  private func count(_ index: CollectionIndex, _ keys: KeyRanges, into groups: GroupTable) throws {
    var found: [EntryGroup] = []
    for range in keys.ranges { try collect(range, of: index, into: &found) }
    for group in found {
      if group.key.withUnsafeBytes({ ValueKey.decidesOrder($0) }), group.key.first ?? 0 < ValueKey.array {
        _ = try fetch.one(group.record) { try groups.add($0, count: Int(group.count)) }
      } else {
        // The values of one key may be several.
        let records = try group.key.withUnsafeBytes {
          try ValueTable(connection: connection).rows(index.id, $0)
        }
        for record in records { _ = try fetch.one(record) { try groups.add($0) } }
      }
    }
  }
}

extension QueryRun {
  /// The entries of an index with one key.
  private struct EntryGroup {
    var key: [UInt8]
    /// The first record.
    var record: Int64
    var count: Int64
  }

  /// The number of groups after which their size is looked at, and the average number of entries from which on one
  /// look-up for each group is faster than reading them in a row.
  private static let (firstGroups, largeGroup) = (32, 16 as Int64)

  private func collect(_ range: KeyRange, of index: CollectionIndex, into found: inout [EntryGroup]) throws {
    var rest = range
    var (groups, entries): (Int, Int64) = (0, 0)
    while groups < Self.firstGroups || entries >= Int64(groups) * Self.largeGroup {
      let first = try rest.bound { lower, upper in
        try connection.first(
          """
          SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
          ORDER BY value, record LIMIT 1
          """, .integer(index.id), .blob(lower), .blob(upper)
        ) { (key: Array($0.bytes(0)), record: $0.anyInteger(1)) }
      }
      guard let first else { return }
      let count = try first.key.withUnsafeBytes {
        try connection.number(
          "SELECT count(*) FROM record_value WHERE index_id = ? AND value = ?", .integer(index.id), .blob($0))
      }
      found.append(EntryGroup(key: first.key, record: first.record, count: count))
      (groups, entries) = (groups + 1, entries + count)
      rest.lower = ValueKey.successor(first.key)
      try InterruptibleCall.check()
    }
    try rest.bound { lower, upper in
      try connection.each(
        """
        SELECT value, min(record), count(*) FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
        GROUP BY value
        """, .integer(index.id), .blob(lower), .blob(upper)
      ) {
        found.append(
          EntryGroup(key: Array($0.bytes(0)), record: $0.anyInteger(1), count: $0.anyInteger(2)))
      }
    }
  }
}

extension RecordCollection {
  /// Computes aggregates of the records that match a filter, by groups.
  ///
  /// - Parameters:
  ///   - aggregates: none to count only
  ///   - filter: nil for all records
  ///   - paths: of the values that the records of a group have in common; without paths, all records are one group
  /// - Returns: the groups in the order of their keys
  /// - Throws: `SatchelError` `.invalid` for an invalid path, and where a value of a group is an array or an object
  public func aggregate(
    _ aggregates: [RecordAggregate] = [], where filter: RecordFilter? = nil, groupBy paths: [String] = []
  ) throws -> [RecordGroup] {
    try readInterruptibly { connection, row in
      let types = try row.rules.types
      func path(_ text: String, _ use: String) throws -> FieldPath {
        let path = types.typed(try FieldPath(text))
        try path.checkSingle(use)
        return path
      }
      let run = try QueryRun(self, connection, row: row)
      return try run.aggregate(
        try CompiledFilter(run.unexpired(filter) ?? .all([]), types),
        by: try paths.map { try path($0, "a group") },
        try aggregates.map { ($0.function, try path($0.path, "an aggregate")) })
    }
  }

  /// Computes aggregates of `{"where", "group_by", "aggregates"}`, all members optional: `group_by` is a path or an
  /// array of them, `aggregates` an array of `{"sum": path}`, `{"min": path}`, `{"max": path}` and `{"average": path}`.
  package func aggregate(json: JSONValue) throws -> [RecordGroup] {
    var (filter, paths, aggregates): (RecordFilter?, [String], [RecordAggregate]) = (nil, [], [])
    try naming("query") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      for (key, value) in members where !value.isNull {
        switch (key, value) {
        case ("where", _): filter = try RecordFilter(value, at: "/where")
        case ("group_by", .string(let path)): paths = [path]
        case ("group_by", .array): paths = try value.paths(at: "/group_by")
        case ("group_by", _): throw JSONError("must be a path, or an array of them", pointer: "/group_by")
        case ("aggregates", .array(let elements)):
          aggregates = try elements.enumerated().map { position, element in
            guard case .object(let members) = element, members.count == 1, let only = members.first,
              let function = RecordAggregate.Function(rawValue: only.key), case .string(let path) = only.value
            else {
              throw JSONError(
                "must be an object with a function (sum, min, max or average) and its path",
                pointer: "/aggregates/\(position)")
            }
            return RecordAggregate(function, path)
          }
        case ("aggregates", _): throw JSONError("must be an array", pointer: "/aggregates")
        default:
          throw JSONError(
            "unknown member; the members are where, group_by and aggregates",
            pointer: "/" + JSONPointer.escaped(key))
        }
      }
    }
    return try aggregate(aggregates, where: filter, groupBy: paths)
  }
}
