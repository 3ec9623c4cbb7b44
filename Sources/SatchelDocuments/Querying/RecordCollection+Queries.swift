import SatchelCore
import SatchelJSON
import SatchelStorage

/// A part of a query's result, and where the next one begins.
public struct RecordPage: Sendable {
  public var records: [Record]
  /// For `RecordQuery.after` of the next page; nil when this is the last one.
  public var cursor: String?
}

extension RecordCollection {
  /// Returns the records that match a query.
  public func list(_ query: RecordQuery = RecordQuery()) throws -> [Record] {
    var records: [Record] = []
    try each(query) { records.append(try $0.record(for: $1)) }
    return records
  }

  /// Returns the records that match a query, and the cursor of the next page of `limit` records.
  ///
  /// A cursor names a place in the order, so that records which are written or deleted between two pages make none
  /// appear twice, and none that keeps its place missing.
  public func page(_ query: RecordQuery) throws -> RecordPage {
    var page = RecordPage(records: [], cursor: nil)
    page.cursor = try eachOfPage(query) { page.records.append(try $0.record(for: $1)) }
    return page
  }

  /// Returns the ids of the records that match a query.
  public func ids(_ query: RecordQuery = RecordQuery()) throws -> [String] {
    var ids: [String] = []
    try each(query) { candidate, _ in ids.append(String(decoding: candidate.key, as: UTF8.self)) }
    return ids
  }

  /// Appends the records that match as a JSON array in the form of the public interfaces.
  package func writeList(_ query: RecordQuery, into bytes: inout [UInt8]) throws {
    try writeList(CompiledQuery(query), into: &bytes) { _ in }
  }

  /// Appends them, and calls `visit` with each.
  func writeList(
    _ query: CompiledQuery, into bytes: inout [UInt8], _ visit: (borrowing Candidate) throws -> Void
  ) throws {
    bytes.append(UInt8(ascii: "["))
    try each(query) { candidate, query in
      try visit(candidate)
      try candidate.writeElement(into: &bytes, for: query)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Appends a page as `{"records", "cursor"}`.
  package func writePage(_ query: RecordQuery, into bytes: inout [UInt8]) throws {
    bytes.append(contentsOf: #"{"records":["#.utf8)
    let cursor = try eachOfPage(query) { try $0.writeElement(into: &bytes, for: $1) }
    bytes.append(contentsOf: #"],"cursor":"#.utf8)
    bytes.append(contentsOf: cursor.map { "\"\($0)\"}" }?.utf8 ?? "null}".utf8)
  }

  /// Visits the records of a page.
  ///
  /// - Returns: the cursor of the next one; nil after the last
  private func eachOfPage(
    _ query: RecordQuery, _ visit: (borrowing Candidate, CompiledQuery) throws -> Void
  ) throws -> String? {
    // One record more says whether there is another page.
    var wider = query
    wider.limit = query.limit.map { max(0, $0) == Int.max ? $0 : max(0, $0) + 1 }
    var (count, last): (Int, QueryCursor?) = (0, nil)
    var cursor: String?
    try each(wider) { candidate, query in
      count += 1
      if let limit = wider.limit, count == limit {
        cursor = last?.text(query.order)
        return
      }
      if let limit = wider.limit, count == limit - 1 { last = try QueryCursor(candidate, query.order) }
      try visit(candidate, query)
    }
    return cursor
  }

  /// Returns the number of records that match; order has no effect, limit and offset do.
  public func count(_ query: RecordQuery = RecordQuery()) throws -> Int {
    let found = try readInterruptibly { connection, row in
      try QueryRun(self, connection, row: row).count(query.filter)
    }
    let remaining = max(0, found - max(0, query.offset))
    return min(remaining, query.limit.map { max(0, $0) } ?? remaining)
  }

  /// Returns the number of records that match.
  public func count(_ filter: RecordFilter) throws -> Int { try count(RecordQuery(filter)) }

  func each(
    _ query: RecordQuery, _ visit: (borrowing Candidate, CompiledQuery) throws -> Void
  ) throws {
    try each(CompiledQuery(query), visit)
  }

  func each(
    _ query: CompiledQuery, _ visit: (borrowing Candidate, CompiledQuery) throws -> Void
  ) throws {
    try makeOrderIndex(for: query)
    try readInterruptibly { connection, row in
      try QueryRun(self, connection, row: row).run(query, visit)
    }
  }

  /// Returns how a query runs: `{"access", "tests", "order", "text"}`.
  public func explain(_ query: RecordQuery = RecordQuery()) throws -> QueryExplanation {
    let query = try CompiledQuery(query)
    try makeOrderIndex(for: query)
    return try readInterruptibly { connection, row in
      let run = try QueryRun(self, connection, row: row)
      return try run.explain(run.prepared(query))
    }
  }

  // MARK: Indexes of fields of the records

  /// The number of records from which on an index costs less than sorting them for each query.
  private static let minimumIndexed: Int64 = 1000

  /// Makes the index that a query needs for the first records in the order of a field that every record has. Without
  /// it, the query sorts all of them: it runs also where the store cannot be written now.
  private func makeOrderIndex(for query: CompiledQuery) throws {
    guard query.wanted != nil, let path = query.order.first?.path, FieldPath.indexed(path.text) != nil,
      !database.isInTransaction, !database.options.isReadOnly
    else { return }
    func isMissing(_ state: CollectionState, _ connection: Connection) throws -> Bool {
      try state.rules.indexes.allSatisfy { $0.path != path } && state.count(connection) >= Self.minimumIndexed
    }
    guard try read({ connection, state in try isMissing(state, connection) }) else { return }
    do {
      try store.transaction { transaction in
        let work = store.work(in: transaction)
        try work.flush()
        let (state, connection) = (try work.collection(id), transaction.connection)
        guard try isMissing(state, connection) else { return }
        try IndexBuild.add(
          IndexDefinition(RecordIndex(path.text), .none), isUnique: false, to: state, connection)
        try connection.run("UPDATE record_collection SET shape = shape + 1 WHERE id = ?", .integer(id))
        work.forget(self.id)
        store.forgetRules(of: self.id)
        transaction.onFailure { [store] in store.forgetRules(of: self.id) }
      }
    } catch let error as SatchelError where error.isAboutStore || error.code == .busy {}
  }
}

extension Candidate {
  /// Appends the JSON form of the public interfaces.
  func write(into bytes: inout [UInt8], for query: CompiledQuery? = nil) throws {
    let status = try syncStatus()
    guard query?.wantsDocuments ?? true else {
      return Record.write(
        key, revision, created: created, modified: modified, status: status, body: nil, into: &bytes)
    }
    try plain { document in
      if let projection = query?.projection {
        return projection.apply(to: document).withUnsafeBytes {
          Record.write(
            key, revision, created: created, modified: modified, status: status, body: $0, into: &bytes)
        }
      }
      Record.write(
        key, revision, created: created, modified: modified, status: status, body: document, into: &bytes)
    }
  }

  /// Appends an element of the array that the bytes end with.
  func writeElement(into bytes: inout [UInt8], for query: CompiledQuery) throws {
    if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
    try write(into: &bytes, for: query)
    let included = try included()
    guard !included.isEmpty else { return }
    bytes[bytes.count - 1] = UInt8(ascii: ",")
    bytes.append(contentsOf: #""included":"#.utf8)
    included.write(into: &bytes)
    bytes.append(UInt8(ascii: "}"))
  }

  /// Returns a copy of what a query wants of the record.
  func record(for query: CompiledQuery) throws -> Record {
    var record = try record(withDocument: query.wantsDocuments)
    if query.wantsDocuments, let projection = query.projection {
      record.body = record.body.withUnsafeBytes { projection.apply(to: $0) }
    }
    record.included = try included()
    return record
  }
}
