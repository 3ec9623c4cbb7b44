import SatchelCore
import SatchelStorage

/// Runs a query on one snapshot of the store.
struct QueryRun {
  let connection: Connection
  let row: CollectionState
  let rules: CollectionRules
  let fetch: RecordFetch
  private let store: RecordStore
  private let collection: RecordCollection
  private let watch = PathWatch()

  init(_ collection: RecordCollection, _ connection: Connection, row: CollectionState) throws {
    self.connection = connection
    self.row = row
    rules = try row.rules
    store = collection.store
    self.collection = collection
    fetch = RecordFetch(connection, row, store: store)
  }

  /// Rejects paths to values that no document has, and to sensitive fields.
  ///
  /// - Throws: `.invalid`
  func check(_ paths: [FieldPath]) throws {
    for path in paths {
      try check(path)
      watch.add(path)
    }
  }

  private func check(_ path: FieldPath) throws {
    try rules.checkQueried(path)
    if let source = path.source { try rules.schema?.checkPath(source, of: rules.name) }
  }

  func check(_ filter: CompiledFilter) throws {
    try filter.eachTest { test in
      try check(test.path)
      // Whether it exists is what the query asks.
      if case .exists = test.test { return }
      watch.add(test.path)
    }
  }

  func check(_ query: CompiledQuery) throws {
    try check(query.filter)
    try check(query.order.map(\.path))
    _ = try included(by: query)
    guard let projection = query.projection else { return }
    let schema = try rules.schema
    try projection.eachPath { try schema?.checkPath($0, of: rules.name) }
  }

  /// - Parameter wanted: the number of the first matching records that are requested; nil for all
  func plan(
    _ filter: CompiledFilter, order: [CompiledQuery.Order] = [], wanted: Int? = nil
  ) throws -> QueryPlan {
    let planner = QueryPlanner(
      indexes: rules.indexes, relations: rules.relations, count: { try Int(row.count(connection)) },
      estimate: { try entries($0, limit: $1) })
    let plan = try planner.plan(filter, order: order, wanted: wanted)
    try checkTimes(filter, plan.access)
    return plan
  }

  /// Checks the texts of the indexes of an access that a range of times cannot compare: the keys alone may decide it.
  func checkTimes(_ filter: CompiledFilter, _ access: QueryPlan.Access) throws {
    switch access {
    case .scan, .ids, .references: break
    case .union(let parts): for part in parts { try checkTimes(filter, part) }
    case .index(let index, _):
      try filter.eachTest { test in
        if test.path == index.path { try checkTimes(test, index) }
      }
    }
  }

  private func checkTimes(_ test: CompiledTest, _ index: CollectionIndex) throws {
    guard let times = test.times, case .document(let path) = test.path else { return }
    let range = KeyRange(lower: [ValueKey.string] + times.lower, upper: [ValueKey.string] + times.upper)
    try range.bound { lower, upper in
      try connection.each(
        "SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?",
        .integer(index.id), .blob(lower), .blob(upper)
      ) { row in
        let text = UnsafeRawBufferPointer(rebasing: row.bytes(0).dropFirst())
        guard !TimeRange.isFixed(text) else { return }
        let id = try RecordTable(connection: connection).key(row.anyInteger(1)) ?? []
        try id.withUnsafeBytes { try times.check(text, at: path, id: $0) }
      }
    }
  }

  // MARK: Expired records

  /// Returns a filter of the records that match another one and have not expired.
  func unexpired(_ filter: RecordFilter?) throws -> RecordFilter? {
    guard let expired = try expired() else { return filter }
    return .all([.not(expired)] + (filter.map { [$0] } ?? []))
  }

  /// The condition of expired records; nil where there are none.
  private func expired() throws -> RecordFilter? {
    guard let expiry = rules.expiry else { return nil }
    let now = store.database.clock.now()
    if let index = expiry.index,
      try ValueTable(connection: connection).first(index.id, expiry.expired(at: now)) == nil
    {
      return nil
    }
    return expiry.filter(at: now)
  }

  /// Returns a query as the collection has it: with the types of its paths, for the records that have not expired.
  func prepared(_ query: CompiledQuery) throws -> CompiledQuery {
    let expired = try expired()
    return rules.types.isEmpty && expired == nil ? query : try query.prepared(rules.types, without: expired)
  }

  // MARK: Counting

  /// Returns the number of records that an access finds, or at least that number; stops counting once it reaches
  /// `limit`, if given.
  func entries(_ access: QueryPlan.Access, limit: Int? = nil) throws -> Int {
    var total = 0
    switch access {
    case .scan: return try Int(row.count(connection))
    case .ids(let ids): return ids.count
    case .index(let index, let keys):
      for range in keys.ranges where limit.map({ total < $0 }) ?? true {
        total += try range.bound { lower, upper in
          try Int(
            connection.number(
              """
              SELECT count(*) FROM (SELECT 1 FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
              LIMIT ?)
              """, .integer(index.id), .blob(lower), .blob(upper), .integer(Int64(limit ?? -1))))
        }
      }
    case .references(let relation, let targets):
      let table = ReferenceTable(connection: connection)
      for target in targets where limit.map({ total < $0 }) ?? true {
        total += try table.count(relation, target, limit: limit)
      }
    case .union(let parts):
      for part in parts where limit.map({ total < $0 }) ?? true { total += try entries(part, limit: limit) }
    }
    return total
  }

  func count(_ filter: RecordFilter?) throws -> Int {
    guard let filter = try unexpired(filter) else { return try Int(row.count(connection)) }
    return try count(CompiledFilter(filter, rules.types))
  }

  private func count(_ filter: CompiledFilter) throws -> Int {
    try check(filter)
    let plan = try plan(filter)
    if plan.rest.isEmpty {
      switch plan.access {
      case .index(let index, let keys):
        let isOnce = !index.definition.hasElements || keys.ranges.count == 1 && keys.ranges[0].isOneKey
        return try isOnce ? entries(plan.access) : rows(plan.access).count
      case .references, .scan: return try entries(plan.access)
      case .union: return try rows(plan.access).count
      case .ids: break
      }
    }
    var count = 0
    try candidates(plan) { _ in
      count += 1
      return true
    }
    return count
  }

  // MARK: Listing

  /// Visits the records that match, in order, with the query as the types of the collection's paths have it.
  func run(
    _ query: CompiledQuery, _ visit: (borrowing Candidate, CompiledQuery) throws -> Void
  ) throws {
    let query = try prepared(query)
    try run(prepared: query) { try visit($0, query) }
  }

  private func run(prepared query: CompiledQuery, _ visit: (borrowing Candidate) throws -> Void) throws {
    try check(query)
    var window = query.window
    guard !window.isOver else { return }
    if !query.include.isEmpty {
      try fetch.include(RelatedRecordReader(included(by: query), connection, of: store))
    }
    let plan = try plan(query.filter, order: query.order, wanted: query.wanted)
    switch plan.order {
    case .insertion:
      // When the access proves the filter, records before the window need not be read.
      if plan.rest.isEmpty, query.after == nil, !plan.isScan, !plan.isStreamed {
        for record in window.slice(of: try rows(plan.access)) { _ = try fetch.one(record, visit) }
        return
      }
      try candidates(plan, after: query.after?.row) { candidate in
        if window.admitsNext() { try visit(candidate) }
        return !window.isOver
      }
    case .sorted:
      var found = OrderedRows(query.order)
      try candidates(plan) { candidate in
        if try query.after?.isBefore(candidate, query.order) ?? true { try found.add(candidate) }
        return true
      }
      for record in try window.slice(of: found.removeSorted()) { _ = try fetch.one(record, visit) }
    case .index(let order): try runOrdered(plan, order, query, visit: visit)
    }
  }

  /// Visits matching records in insertion order, until `visit` returns false.
  ///
  /// - Parameter after: a row, after which the first one is
  func candidates(
    _ plan: QueryPlan, after: Int64? = nil, visit: (borrowing Candidate) throws -> Bool
  ) throws {
    func matches(_ candidate: borrowing Candidate) throws -> Bool {
      for condition in plan.rest where try !condition.matches(candidate) { return false }
      return true
    }
    if case .index(let index, let keys) = plan.access, plan.isStreamed {
      return try IndexWalk(connection, index).run(keys.ranges, after: after) { _, record in
        try fetch.one(record) { try !matches($0) || visit($0) } ?? true
      }
    }
    if plan.isScan {
      var isComplete = after == nil
      try fetch.all(after: after) { candidate in
        watch.look(at: candidate)
        guard try matches(candidate), try !visit(candidate) else { return true }
        isComplete = false
        return false
      }
      if isComplete { collection.note(watch) }
      return
    }
    for record in try rows(plan.access) where after.map({ record > $0 }) ?? true {
      let goesOn = try fetch.one(record) { try !matches($0) || visit($0) }
      if goesOn == false { return }
    }
  }

  /// Returns the rows that an access finds, in insertion order.
  private func rows(_ access: QueryPlan.Access) throws -> [Int64] {
    var rows: [Int64] = []
    switch access {
    case .scan:
      try fetch.all {
        rows.append($0.row)
        return true
      }
    case .ids(let ids):
      let view = try row.keys.view(
        of: connection, floor: row.base + row.numbers.indexedThrough, newest: row.base + row.numbers.next - 1)
      rows = try ids.compactMap { id in try id.withUnsafeBytes { try view.find($0) } }
    case .index(let index, let keys):
      for range in keys.ranges {
        try range.bound { lower, upper in
          try connection.each(
            "SELECT record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?",
            .integer(index.id), .blob(lower), .blob(upper)
          ) { rows.append($0.anyInteger(0)) }
        }
      }
      if index.definition.hasElements { return Self.distinct(rows) }
    case .references(let relation, let targets):
      let table = ReferenceTable(connection: connection)
      for target in targets { rows += try table.sources(of: target, by: relation) }
    case .union(let parts):
      for part in parts { rows += try self.rows(part) }
      return Self.distinct(rows)
    }
    rows.sort()
    return rows
  }

  /// Returns each row once, in insertion order.
  private static func distinct(_ found: [Int64]) -> [Int64] {
    var (rows, count) = (found, 0)
    rows.sort()
    for row in rows where count == 0 || rows[count - 1] != row {
      rows[count] = row
      count += 1
    }
    rows.removeSubrange(count...)
    return rows
  }
}

extension QueryPlan {
  var isScan: Bool { if case .scan = access { true } else { false } }

  /// Whether the access finds the records in insertion order, one by one: those with one key of an index.
  var isStreamed: Bool {
    guard case .index(_, let keys) = access else { return false }
    return keys.ranges.count == 1 && keys.ranges[0].isOneKey
  }
}

extension KeyRange {
  func bound<Result>(
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
  }
}
