import SatchelCore
import SatchelJSON
import SatchelStorage

extension QueryRun {
  /// - Throws: `.invalid` for paths that no document has, and for sensitive ones
  func check(
    _ filter: CompiledFilter, by paths: [FieldPath],
    _ aggregates: [(function: RecordAggregate.Function, path: FieldPath)]
  ) throws {
    try check(filter)
    try check(paths + aggregates.map(\.path))
  }

  /// Computes aggregates of the records that match, by groups; without paths, one group of all of them.
  func aggregate(
    _ filter: CompiledFilter, by paths: [FieldPath],
    _ aggregates: [(function: RecordAggregate.Function, path: FieldPath)]
  ) throws -> [RecordGroup] {
    try check(filter, by: paths, aggregates)
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
