import CSQLite

/// One SQLite connection with its prepared statements. Used by one thread at a time: `Database` sees to it.
// Unchecked: whoever holds a connection got it from Database, which hands it to one thread at a time.
package final class Connection: @unchecked Sendable {
  private let handle: OpaquePointer
  private var statements: [UInt: Statement] = [:]
  let path: String

  /// Opens a file.
  ///
  /// - Parameter flags: of `sqlite3_open_v2`; SQLITE_OPEN_NOMUTEX is added.
  init(path: String, flags: Int32, busyTimeout: Int32) throws {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      let error = SatchelError(sqlite: code, on: opened, doing: "opening \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    sqlite3_busy_timeout(handle, busyTimeout)
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  func error(_ code: Int32, _ what: String) -> SatchelError {
    SatchelError(sqlite: code, on: handle, doing: "\(what) in \(path)")
  }

  /// Runs SQL text that has no parameters, several statements if need be.
  package func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, "running “\(sql.prefix(60))”") }
  }

  /// The prepared statement for a constant SQL text, made once.
  package func prepared(_ sql: StaticString) throws -> Statement {
    let key = UInt(bitPattern: sql.utf8Start)
    if let statement = statements[key] { return statement }
    var compiled: OpaquePointer?
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let code = sqlite3_prepare_v3(
      handle, text, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
    guard code == SQLITE_OK, let compiled else { throw error(code, "preparing “\(sql)”") }
    let statement = Statement(compiled, connection: self)
    statements[key] = statement
    return statement
  }

  /// Runs a statement to its end.
  package func run(_ sql: StaticString, _ bindings: Binding...) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    while try statement.step() {}
  }

  /// The first row of a query, read by `read`; nil when there is none.
  package func first<Value>(
    _ sql: StaticString, _ bindings: Binding..., read: (Statement) throws -> Value
  ) throws -> Value? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? read(statement) : nil
  }

  /// Visits each row of a query. The same query must not be run again inside `visit`.
  package func each(
    _ sql: StaticString, _ bindings: Binding..., visit: (Statement) throws -> Void
  ) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    while try statement.step() { try visit(statement) }
  }

  /// A single number, 0 when there is none.
  package func number(_ sql: StaticString, _ bindings: Binding...) throws -> Int64 {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? statement.integer(0) : 0
  }

  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
  package var changes: Int64 { sqlite3_changes64(handle) }
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Hears every statement that runs on this connection, as SQL; for tests that must know what is read.
  package func trace(_ hear: (@Sendable (String) -> Void)?) {
    tracer = hear
    guard hear != nil else {
      sqlite3_trace_v2(handle, 0, nil, nil)
      return
    }
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_STMT),
      { _, context, statement, _ in
        guard let context, let statement, let sql = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
        Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().tracer?(String(cString: sql))
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private var tracer: (@Sendable (String) -> Void)?

  /// Copies the WAL into the database and empties it, as far as readers let it.
  func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) }
}
