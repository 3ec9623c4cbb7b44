import CSQLite
import SatchelCore

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
