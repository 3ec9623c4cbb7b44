import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Returns a record; nil when it does not exist.
  public func get(_ id: String) throws -> Record? {
    try candidate(id) { try $0.record(withDocument: true) }
  }

  /// Calls `body` with a record's document as it was written; returns false when it does not exist. `body` must
  /// not use the store.
  @discardableResult
  package func withDocument(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    let found: Void? = try candidate(key) {
      try $0.plain(body)
    }
    return found != nil
  }

  /// Appends a record in the JSON form of the public interfaces; returns false when it does not exist.
  package func copyRecord(_ key: UnsafeRawBufferPointer, to bytes: inout [UInt8]) throws -> Bool {
    try candidate(key) { try $0.write(into: &bytes, withDocument: true) } != nil
  }

  private func candidate<Result>(_ id: String, _ body: (borrowing Candidate) throws -> Result) throws
    -> Result?
  {
    var id = id
    return try id.withUTF8 { try candidate(UnsafeRawBufferPointer($0), body) }
  }

  private func candidate<Result>(
    _ key: UnsafeRawBufferPointer, _ body: (borrowing Candidate) throws -> Result
  ) throws -> Result? {
    try RecordID.check(key, in: name)
    return try locating(.record(name, key)) {
      try read { connection, row in
        let base = RecordRow.base(of: id)
        let fetch = RecordFetch(connection, row, store: store)
        var result: Result?
        _ = try keys.first(
          of: keys.source.hash(key), connection, floor: base + row.indexedThrough, newest: base + row.next - 1
        ) { record in
          // One statement looks the record up and reads it; a row of another collection does not match.
          guard RecordRow.collection(of: record) == id else { return false }
          result = try fetch.one(record, of: key, body)
          return result != nil
        }
        return result
      }
    }
  }

  // MARK: Queries

  /// Returns the records that match a query.
  public func list(_ query: RecordQuery = RecordQuery()) throws -> [Record] {
    var records: [Record] = []
    try each(query) { records.append(try $0.record(withDocument: query.wantsDocuments)) }
    return records
  }

  /// Returns the ids of the records that match a query.
  public func ids(_ query: RecordQuery = RecordQuery()) throws -> [String] {
    var ids: [String] = []
    try each(query) { ids.append(String(decoding: $0.key, as: UTF8.self)) }
    return ids
  }

  /// Appends the records that match as a JSON array in the form of the public interfaces.
  package func writeList(_ query: RecordQuery, into bytes: inout [UInt8]) throws {
    try writeList(query, into: &bytes) { _ in }
  }

  /// Appends them, and calls `visit` with each.
  func writeList(
    _ query: RecordQuery, into bytes: inout [UInt8], _ visit: (borrowing Candidate) throws -> Void
  ) throws {
    bytes.append(UInt8(ascii: "["))
    var isFirst = true
    try each(query) { candidate in
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      try visit(candidate)
      try candidate.write(into: &bytes, withDocument: query.wantsDocuments)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Returns the number of records that match; order has no effect, limit and offset do.
  public func count(_ query: RecordQuery = RecordQuery()) throws -> Int {
    let found = try readInterruptibly { connection, row -> Int in
      guard let filter = query.filter else { return try Int(row.count(connection)) }
      return try QueryRun(self, connection, row: row).count(CompiledFilter(filter))
    }
    let remaining = max(0, found - max(0, query.offset))
    return min(remaining, query.limit.map { max(0, $0) } ?? remaining)
  }

  /// Returns the number of records that match.
  public func count(_ filter: RecordFilter) throws -> Int { try count(RecordQuery(filter)) }

  func each(_ query: RecordQuery, _ visit: (borrowing Candidate) throws -> Void) throws {
    let compiled = try CompiledQuery(query)
    try readInterruptibly { connection, row in try QueryRun(self, connection, row: row).run(compiled, visit) }
  }
}

extension Candidate {
  /// Appends the JSON form of the public interfaces.
  func write(into bytes: inout [UInt8], withDocument: Bool) throws {
    let status = try syncStatus()
    guard withDocument else {
      return Record.write(
        key, revision, created: created, modified: modified, status: status, body: nil, into: &bytes)
    }
    try plain {
      Record.write(
        key, revision, created: created, modified: modified, status: status, body: $0, into: &bytes)
    }
  }
}
