import SatchelStorage

/// Reads records by their rows, or all of a collection.
struct RecordFetch {
  private let connection: Connection
  private let row: CollectionRow
  private let status: RecordStatusReader

  init(_ connection: Connection, _ row: CollectionRow) {
    self.connection = connection
    self.row = row
    status = RecordStatusReader(connection, row)
  }

  /// Reads one record; nil when it is gone, or has another id than the one that is named.
  func one<Result>(
    _ place: Int64, of key: UnsafeRawBufferPointer? = nil, _ body: (borrowing Candidate) throws -> Result
  ) throws -> Result? {
    let statement = try connection.prepared(
      "SELECT id, key, revision, created, modified, body FROM record WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(place), at: 1)
    guard try statement.step() else { return nil }
    if let key, statement.bytes(1).order(against: key) != 0 { return nil }
    return try body(try Candidate(statement, status))
  }

  /// Visits all records in the order of their arrival, until `visit` says false.
  func all(_ visit: (borrowing Candidate) throws -> Bool) throws {
    let base = RecordRow.base(of: row.id)
    let statement = try connection.prepared(
      """
      SELECT id, key, revision, created, modified, body FROM record WHERE id > ? AND id < ? ORDER BY id
      """)
    defer { statement.reset() }
    try statement.bind(.integer(base), at: 1)
    try statement.bind(.integer(base + row.next), at: 2)
    while try statement.step() {
      guard try visit(try Candidate(statement, status)) else { return }
    }
  }
}
