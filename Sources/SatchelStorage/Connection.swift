import CSQLite

/// One SQLite connection with its prepared statements. Used by one thread at a time: `Database` sees to it.
// Unchecked: whoever holds a connection got it from Database, which hands it to one thread at a time.
package final class Connection: @unchecked Sendable {
  let handle: OpaquePointer
  private var statements = StatementTable()
  let path: String
  /// Tells the read transaction under way from all others, of other connections too; 0 while there is none that several
  /// reads may share. What was read in it holds for as long as it has this number.
  package internal(set) var snapshot: UInt64 = 0
  /// How the latest transaction that wrote left the store; see `Transaction.follows`.
  var standing: Transaction.Standing?
  /// Whether triggers may do all; see `trustSchema`.
  var trustsSchema = false
  /// See Connection+WAL.
  var wal = WALUse()
  /// How long a call waits for another connection, in milliseconds.
  let busyTimeout: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - flags: of `sqlite3_open_v2`; SQLITE_OPEN_NOMUTEX is added.
  ///   - isImmutable: nobody will write to the file, so that neither locks nor files beside it are needed.
  ///   - fileSystem: name of the VFS; nil for SQLite's default.
  ///   - isDefensive: false where the journal is switched off, which a defensive connection does not allow.
  init(
    path: String, flags: Int32, busyTimeout: Int32, isImmutable: Bool = false, fileSystem: String? = nil,
    isDefensive: Bool = true
  ) throws {
    var opened: OpaquePointer?
    let name = isImmutable ? Self.immutableName(of: path) : path
    let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (isImmutable ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(name, &opened, flags, fileSystem)
    guard code == SQLITE_OK, let opened else {
      let error = SatchelError(sqlite: code, on: opened, doing: "opening \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    self.busyTimeout = busyTimeout
    sqlite3_busy_timeout(handle, busyTimeout)
    // SQLite's own checkpoints run without a guard: see CheckpointGuard.
    sqlite3_wal_autocheckpoint(handle, 0)
    try defend(isDefensive)
  }

  deinit {
    statements.removeAll()
    // Another store may be at the path by now: its log is not ours to delete.
    if hasMoved { keepWAL() }
    sqlite3_close_v2(handle)
  }

  /// The path as SQLite's URI; a relative one stays relative.
  private static func immutableName(of path: String) -> String {
    var escaped: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
        escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: escaped.append(byte)
      }
    }
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    return (isAbsolute ? "file://" : "file:") + String(decoding: escaped, as: UTF8.self) + "?immutable=1"
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
    guard code == SQLITE_OK, let compiled else {
      var error = error(code, "preparing “\(sql)”")
      // The text is constant and fits the schema's version: a table that is not there was lost.
      if code == SQLITE_ERROR { error.code = .damaged }
      throw error
    }
    let statement = Statement(compiled, connection: self)
    statements.add(statement, key)
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

  /// A single number, 0 when there is none; `.damaged` for one that is unusually large, see `Statement.integer`.
  package func number(_ sql: StaticString, _ bindings: Binding...) throws -> Int64 {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? try statement.integer(0) : 0
  }

  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
  package var changes: Int64 { sqlite3_changes64(handle) }
  /// Changes with every commit that this connection sees, its own too; known once something is read.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Whether the database is in WAL mode; asked once, as nothing of ours changes it afterwards.
  private(set) lazy var isWAL =
    (try? first("PRAGMA journal_mode", read: { $0.text(0) == "wal" })) ?? nil ?? false

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
}
