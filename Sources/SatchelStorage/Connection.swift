import CSQLite
import SatchelCore

/// A SQLite connection with its prepared statements. One thread uses it at a time: `Database` ensures that.
// Unchecked: `Database` lends a connection to one thread at a time.
package final class Connection: @unchecked Sendable {
  let handle: OpaquePointer
  /// By the address of their constant SQL; an Int64, because other tables that an app's start needs have such keys: the
  /// runtime looks up once for each type that it is Hashable.
  private var statements: [Int64: Statement] = [:]
  package let path: String
  /// Identifies the current read transaction among those of all connections; 0 outside a transaction that
  /// several reads may share. Data read in it stays valid while the number is the same.
  package internal(set) var snapshot: UInt64 = 0
  /// The state after the latest write transaction; see `Transaction.predecessor`.
  var lastCommit: Transaction.CommitState?
  /// The state of the WAL; see Connection+WAL.
  var wal = WALUse()
  /// The time that a call waits for another connection, in milliseconds.
  let busyTimeout: Int32
  /// Whether `reading` runs: statements of a write are not interrupted, because SQLite would roll back the whole
  /// transaction.
  private var isReading = false

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - flags: for `sqlite3_open_v2`; SQLITE_OPEN_NOMUTEX is added
  ///   - isImmutable: whether no process writes to the file, so that it needs neither locks nor WAL files
  ///   - vfsName: the name of the VFS; nil for SQLite's default
  ///   - isDefensive: false to switch the journal off, which a defensive connection does not allow
  init(
    path: String, flags: Int32, busyTimeout: Int32, isImmutable: Bool = false, vfsName: String? = nil,
    isDefensive: Bool = true
  ) throws {
    var opened: OpaquePointer?
    let name = isImmutable ? Self.immutableName(of: path) : path
    let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (isImmutable ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(name, &opened, flags, vfsName)
    guard code == SQLITE_OK, let opened else {
      let error = SatchelError(sqlite: code, on: opened, doing: "opening \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    self.busyTimeout = busyTimeout
    sqlite3_busy_timeout(handle, busyTimeout)
    // Automatic checkpoints are off: they run without a guard, see CheckpointGuard.
    sqlite3_wal_autocheckpoint(handle, 0)
    try defend(isDefensive)
    stopWhenAsked()
  }

  deinit {
    sqlite3_progress_handler(handle, 0, nil, nil)
    statements.removeAll()
    // Another store may have replaced this one at the path: its WAL must not be deleted.
    if hasMoved { keepWAL() }
    sqlite3_close_v2(handle)
  }

  /// Returns the path as a SQLite URI; a relative path stays relative.
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

  func error(_ code: Int32, _ operation: String) -> SatchelError {
    SatchelError(sqlite: code, on: handle, doing: "\(operation) in \(path)")
  }

  /// Runs one or more SQL statements without parameters.
  package func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, "running “\(sql.prefix(60))”") }
  }

  /// Returns the prepared statement for a constant SQL text, prepared once.
  ///
  /// - Parameter start: the beginning of the text, which several statements have
  package func prepared(_ sql: StaticString, after start: StaticString = "") throws -> Statement {
    let key = Int64(Int(bitPattern: sql.utf8Start))
    if let statement = statements[key] { return statement }
    var compiled: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle, "\(start)\(sql)", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
    guard code == SQLITE_OK, let compiled else {
      var error = error(code, "preparing “\(sql)”")
      // The SQL is constant and fits the schema's version: a missing table was lost.
      if code == SQLITE_ERROR { error.code = .damaged }
      throw error
    }
    let statement = Statement(compiled, connection: self)
    statements[key] = statement
    return statement
  }

  /// Runs a statement to completion.
  package func run(_ sql: StaticString, _ bindings: Binding...) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    while try statement.step() {}
  }

  /// Returns the first row of a query, read by `read`; nil when the query has no rows.
  package func first<Value>(
    _ sql: StaticString, _ bindings: Binding..., read: (Statement) throws -> Value
  ) throws -> Value? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? read(statement) : nil
  }

  /// Calls `visit` for each row of a query. `visit` must not run the same query again.
  package func each(
    _ sql: StaticString, _ bindings: Binding..., visit: (Statement) throws -> Void
  ) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    while try statement.step() { try visit(statement) }
  }

  /// Returns a single integer, 0 when there is no row; throws `.damaged` for one that is unusually large, see
  /// `Statement.integer`.
  package func number(_ sql: StaticString, _ bindings: Binding...) throws -> Int64 {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? try statement.integer(0) : 0
  }

  /// Returns the integer of the first row; nil when there is no row.
  package func numberIfAny(_ sql: StaticString, _ bindings: Binding...) throws -> Int64? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    return try statement.step() ? statement.integer(0) : nil
  }

  /// Returns the integers of all rows.
  package func numbers(_ sql: StaticString, _ bindings: Binding...) throws -> [Int64] {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(bindings)
    var numbers: [Int64] = []
    while try statement.step() { numbers.append(try statement.integer(0)) }
    return numbers
  }

  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
  package var changes: Int64 { sqlite3_changes64(handle) }
  /// The number of rows that all statements have changed.
  var totalChanges: Int64 { sqlite3_total_changes64(handle) }
  /// A number that changes with every commit that this connection sees, including its own; valid after the
  /// first read.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Whether the database is in WAL mode; read once, since the library does not change it afterwards.
  private(set) lazy var isWAL =
    (try? first("PRAGMA journal_mode", read: { $0.text(0) == "wal" })) ?? nil ?? false
}

extension Connection {
  /// The number of SQLite's instructions between two checks, some 10 µs of them.
  private static var checkInterval: Int32 { 1000 }

  /// Installs a progress handler that checks whether the thread's call has to stop.
  private func stopWhenAsked() {
    sqlite3_progress_handler(
      handle, Self.checkInterval,
      { context in
        guard let context else { return 0 }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        return connection.isReading && InterruptibleCall.mustStop ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs `body`, which writes nothing. In a call that may be stopped, its statements are interrupted when the
  /// call has to stop.
  package func reading<Result>(_ body: (Connection) throws -> Result) rethrows -> Result {
    let before = isReading
    isReading = true
    defer { isReading = before }
    return try body(self)
  }

  /// Runs `body`, which writes nothing, in one transaction. SQLite chooses its snapshot at the first read.
  func inReadTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN")
    defer { try? run("COMMIT") }
    return try body()
  }
}

extension Connection {
  /// Enables SQLite's defences against crafted files: see https://sqlite.org/security.html.
  ///
  /// - Parameter isDefensive: whether SQL can neither write shadow tables nor switch the journal off; false
  ///   only for a file that the library has just created
  func defend(_ isDefensive: Bool) throws {
    try setDefensive(isDefensive)
    for (option, value) in [
      // Views, triggers and generated columns cannot call functions with side effects, nor use virtual
      // tables.
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, isDefensive ? 0 : 1),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    ] as [(Int32, Int32)] {
      let code = satchel_db_config(handle, option, value)
      if code != SQLITE_OK { throw error(code, "configuring the connection") }
    }
    for (limit, value) in Self.limits { sqlite3_limit(handle, limit, value) }
    // Reports a cell with a wrong size before it overwrites its neighbours.
    try execute("PRAGMA cell_size_check = ON")
  }

  /// Sets whether SQL can neither write the schema and shadow tables nor switch the journal off.
  func setDefensive(_ isDefensive: Bool) throws {
    let code = satchel_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, isDefensive ? 1 : 0)
    if code != SQLITE_OK { throw error(code, "configuring the connection") }
  }

  /// Limits of several times what the library needs; SQLite's defaults are larger.
  private static var limits: [(Int32, Int32)] {
    [
      (SQLITE_LIMIT_LENGTH, 1 << 30), (SQLITE_LIMIT_SQL_LENGTH, 1 << 18), (SQLITE_LIMIT_COLUMN, 200),
      (SQLITE_LIMIT_EXPR_DEPTH, 200), (SQLITE_LIMIT_COMPOUND_SELECT, 20), (SQLITE_LIMIT_FUNCTION_ARG, 20),
      (SQLITE_LIMIT_VDBE_OP, 100_000), (SQLITE_LIMIT_ATTACHED, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 4), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
  }
}
