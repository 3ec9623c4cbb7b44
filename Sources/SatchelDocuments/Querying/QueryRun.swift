import SatchelCore
import SatchelStorage

/// Runs a query on one snapshot of the store.
struct QueryRun {
  private let connection: Connection
  private let row: CollectionState
  private let rules: CollectionRules
  private let fetch: RecordFetch

  init(_ collection: RecordCollection, _ connection: Connection, row: CollectionState) throws {
    self.connection = connection
    self.row = row
    rules = try row.rules
    fetch = RecordFetch(connection, row, store: collection.store)
  }

  /// Rejects a query with a path to a value that no document has.
  ///
  /// - Throws: `.invalid`
  func check(_ query: CompiledQuery) throws {
    guard let schema = try rules.schema else { return }
    try query.filter.check(schema, of: rules.name)
    for case .document(let path) in query.order.map(\.path) { try schema.checkPath(path, of: rules.name) }
  }

  private func plan(
    _ filter: CompiledFilter, order: [CompiledQuery.Order] = [], limited: Bool = false
  ) throws -> QueryPlan {
    let plan = try QueryPlan(
      filter, order: order, limited: limited, rules,
      estimate: { try entries($0, limit: Self.maxEstimate) },
      estimateReferences: { try entries($0, limit: Self.maxEstimate) })
    switch plan.path {
    case .index(let access), .ordered(let access): try checkTimes(filter, access.index)
    default: break
    }
    return plan
  }

  /// Checks the texts of an index that a range of times cannot compare: the keys alone may decide the range.
  private func checkTimes(_ filter: CompiledFilter, _ index: CollectionIndex) throws {
    for test in filter.required.tests where index.path.isPath(test.path) {
      guard let times = test.times else { continue }
      let range = KeyRange(lower: [ValueKey.string] + times.lower, upper: [ValueKey.string] + times.upper)
      try range.bound { lower, upper in
        try connection.each(
          "SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?",
          .integer(index.id), .blob(lower), .blob(upper)
        ) { row in
          let text = UnsafeRawBufferPointer(rebasing: row.bytes(0).dropFirst())
          guard !TimeRange.isFixed(text) else { return }
          let id = try RecordTable(connection: connection).key(row.anyInteger(1)) ?? []
          try id.withUnsafeBytes { try times.check(text, at: index.path, id: $0) }
        }
      }
    }
  }

  /// The number of entries up to which access paths are compared.
  private static let maxEstimate = 512

  /// Returns the number of references; stops counting once it reaches `limit`, if given.
  private func entries(_ references: QueryPlan.References, limit: Int? = nil) throws -> Int {
    var total = 0
    let table = ReferenceTable(connection: connection)
    for target in references.targets where limit.map({ total < $0 }) ?? true {
      total += try table.count(references.relation, target, limit: limit)
    }
    return total
  }

  /// Returns the number of an index's entries in the ranges; stops counting once it reaches `limit`, if
  /// given.
  private func entries(_ access: QueryPlan.Access, limit: Int? = nil) throws -> Int {
    var total = 0
    for range in access.keys.ranges {
      total += try range.bound { lower, upper in
        try Int(
          connection.number(
            """
            SELECT count(*) FROM (SELECT 1 FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
            LIMIT ?)
            """, .integer(access.index.id), .blob(lower), .blob(upper), .integer(Int64(limit ?? -1))))
      }
      if let limit, total >= limit { return total }
    }
    return total
  }

  // MARK: Counting

  func count(_ filter: CompiledFilter) throws -> Int {
    try rules.checkQueried(filter)
    if let schema = try rules.schema { try filter.check(schema, of: rules.name) }
    let plan = try plan(filter)
    switch plan.path {
    case .index(let access) where access.rest.isEmpty: return try entries(access)
    case .references(let references) where references.rest.isEmpty: return try entries(references)
    default: break
    }
    var count = 0
    try candidates(plan.path, filter) { _ in
      count += 1
      return true
    }
    return count
  }

  // MARK: Listing

  func run(_ query: CompiledQuery, _ visit: (borrowing Candidate) throws -> Void) throws {
    try check(query)
    var window = query.window
    guard !window.isOver else { return }
    try rules.checkQueried(query.filter)
    for order in query.order { try rules.checkQueried(order.path) }
    let plan = try plan(query.filter, order: query.order, limited: window.limit != nil)
    if case .ordered(let access) = plan.path { return try runOrdered(access, query, visit: visit) }
    if query.order.isEmpty {
      // When the index decides the filter, records before the window need not be read.
      if case .index(let access) = plan.path, access.rest.isEmpty {
        for record in window.slice(of: try rows(access)) { _ = try fetch.one(record, visit) }
        return
      }
      return try candidates(plan.path, query.filter) { candidate in
        if window.admitsNext() { try visit(candidate) }
        return !window.isOver
      }
    }
    var found = OrderedRows(query.order)
    try candidates(plan.path, query.filter) { candidate in
      try found.add(candidate)
      return true
    }
    for record in try window.slice(of: found.removeSorted()) { _ = try fetch.one(record, visit) }
  }

  /// Visits matching records in insertion order, until `visit` returns false.
  private func candidates(
    _ path: QueryPlan.AccessPath, _ filter: CompiledFilter, visit: (borrowing Candidate) throws -> Bool
  ) throws {
    let records: [Int64]
    let rest: CompiledFilter
    switch path {
    case .scan: return try fetch.all { try !filter.matches($0) || visit($0) }
    case .ids(let access):
      if try isLargePart(access.ids.count) { return try candidates(.scan, filter, visit: visit) }
      (records, rest) = (try rows(access.ids), access.rest)
    case .index(let access), .ordered(let access): (records, rest) = (try rows(access), access.rest)
    case .references(let references): (records, rest) = (try rows(references), references.rest)
    }
    if !rest.isEmpty, try isLargePart(records.count) { return try candidates(.scan, filter, visit: visit) }
    for record in records {
      let goesOn = try fetch.one(record) { try !rest.matches($0) || visit($0) }
      if goesOn == false { return }
    }
  }

  /// Whether a scan of the collection reads so many records faster than one look-up for each.
  private func isLargePart(_ records: Int) throws -> Bool {
    try records > 64 && records > row.count(connection) / 3
  }

  /// Returns the rows of an index's ranges, in insertion order.
  private func rows(_ access: QueryPlan.Access) throws -> [Int64] {
    var rows: [Int64] = []
    for range in access.keys.ranges {
      try range.bound { lower, upper in
        try connection.each(
          "SELECT record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?",
          .integer(access.index.id), .blob(lower), .blob(upper)
        ) { rows.append($0.anyInteger(0)) }
      }
    }
    rows.sort()
    return rows
  }

  /// Returns the rows of the records with references, in insertion order.
  private func rows(_ references: QueryPlan.References) throws -> [Int64] {
    var rows: [Int64] = []
    let table = ReferenceTable(connection: connection)
    for target in references.targets { rows += try table.sources(of: target, by: references.relation) }
    rows.sort()
    return rows
  }

  private func rows(_ ids: Set<[UInt8]>) throws -> [Int64] {
    let view = try row.keys.view(
      of: connection, floor: row.base + row.numbers.indexedThrough, newest: row.base + row.numbers.next - 1)
    return try ids.compactMap { id in try id.withUnsafeBytes { try view.find($0) } }.sorted()
  }

  // MARK: In the order of an index

  private func runOrdered(
    _ access: QueryPlan.Access, _ query: CompiledQuery, visit: (borrowing Candidate) throws -> Void
  ) throws {
    var window = query.window
    // Records with the same key; when the key does not decide their order, they are sorted among themselves.
    var equals = OrderedRows(query.order)
    var last: [UInt8] = []
    func emit(_ record: Int64) throws {
      _ = try fetch.one(record) { if !window.isOver, window.admitsNext() { try visit($0) } }
    }
    func flush() throws {
      if !equals.isEmpty { for record in try equals.removeSorted() where !window.isOver { try emit(record) } }
    }
    try walk(access, descending: query.order.first?.isDescending ?? false) { key, record in
      let isAlone = query.order.count == 1 && ValueKey.decidesOrder(key)
      if !key.elementsEqual(last) {
        try flush()
        last = Array(key)
      }
      guard !window.isOver else { return false }
      _ = try fetch.one(record) { candidate in
        guard try access.rest.matches(candidate) else { return }
        if !isAlone { return try equals.add(candidate) }
        if window.admitsNext() { try visit(candidate) }
      }
      return true
    }
    try flush()
  }

  private func walk(
    _ access: QueryPlan.Access, descending: Bool,
    _ visit: (_ key: UnsafeRawBufferPointer, _ record: Int64) throws -> Bool
  ) throws {
    let statement = try connection.prepared(
      descending
        ? """
        SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
        ORDER BY value DESC, record
        """
        : """
        SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
        ORDER BY value, record
        """)
    let ranges = descending ? access.keys.ranges.reversed() : access.keys.ranges
    for range in ranges {
      let goesOn = try range.bound { lower, upper in
        defer { statement.reset() }
        try statement.bind(.integer(access.index.id), at: 1)
        try statement.bind(.blob(lower), at: 2)
        try statement.bind(.blob(upper), at: 3)
        while try statement.step() {
          guard try visit(statement.bytes(0), statement.anyInteger(1)) else { return false }
        }
        return true
      }
      guard goesOn else { return }
    }
  }
}

extension KeyRange {
  fileprivate func bound<Result>(
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
  }
}
