import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// A record; nil when there is none.
  public func get(_ id: String) throws -> Record? {
    try candidate(id) { try $0.record(withDocument: true) }
  }

  /// Lends a record's document, as it was written; false when there is none. `body` must not use the store.
  @discardableResult
  package func withDocument(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    let found: Void? = try candidate(key) {
      try $0.checkDocument()
      try body($0.body)
    }
    return found != nil
  }

  /// Appends a record in the form that crosses the boundaries; false when there is none.
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
    return try read { connection, row in
      let base = RecordRow.base(of: id)
      let fetch = RecordFetch(connection, row)
      var result: Result?
      _ = try keys.first(
        of: keys.source.hash(key), connection, floor: base + row.indexedThrough, newest: base + row.next - 1
      ) { place in
        // Looked up and read by one statement; a row of another collection is none of its ids.
        guard RecordRow.collection(of: place) == id else { return false }
        result = try fetch.one(place, of: key, body)
        return result != nil
      }
      return result
    }
  }

  // MARK: Queries

  /// The records that fit a query.
  public func list(_ query: RecordQuery = RecordQuery()) throws -> [Record] {
    var records: [Record] = []
    try each(query) { records.append(try $0.record(withDocument: query.wantsDocuments)) }
    return records
  }

  /// Their ids.
  public func ids(_ query: RecordQuery = RecordQuery()) throws -> [String] {
    var ids: [String] = []
    try each(query) { ids.append(String(decoding: $0.key, as: UTF8.self)) }
    return ids
  }

  /// Appends the records that fit as a JSON array in the form that crosses the boundaries.
  package func writeList(_ query: RecordQuery, into bytes: inout [UInt8]) throws {
    bytes.append(UInt8(ascii: "["))
    var isFirst = true
    try each(query) { candidate in
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      try candidate.write(into: &bytes, withDocument: query.wantsDocuments)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// How many records fit; order does not matter, limit and offset do.
  public func count(_ query: RecordQuery = RecordQuery()) throws -> Int {
    let found = try read { connection, row -> Int in
      guard let filter = query.filter else { return try Int(row.count(connection)) }
      return try QueryRun(self, connection, row).count(CompiledFilter(filter))
    }
    let behind = max(0, found - max(0, query.offset))
    return min(behind, query.limit.map { max(0, $0) } ?? behind)
  }

  private func each(_ query: RecordQuery, _ visit: (borrowing Candidate) throws -> Void) throws {
    let compiled = try CompiledQuery(query)
    try read { connection, row in try QueryRun(self, connection, row).run(compiled, visit) }
  }
}

extension Candidate {
  /// Appends the form that crosses the boundaries.
  func write(into bytes: inout [UInt8], withDocument: Bool) throws {
    if withDocument { try checkDocument() }
    Record.write(
      key, revision, created, modified, try syncStatus(), withDocument ? body : nil, into: &bytes)
  }
}
