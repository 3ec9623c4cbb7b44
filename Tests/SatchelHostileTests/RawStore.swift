import CSQLite

/// A store's file as SQLite has it, without any of the library's rules.
final class RawStore {
  private var handle: OpaquePointer?

  struct Failure: Error {
    var message: String
  }

  init(_ path: String) throws {
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw failure() }
    sqlite3_create_function_v2(handle, "no_op", 0, SQLITE_UTF8, nil, { _, _, _ in }, nil, nil, nil)
  }

  deinit { sqlite3_close_v2(handle) }

  private func failure() -> Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

  func run(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  /// - Returns: how many rows it changed
  func change(_ sql: String) throws -> Int {
    try run(sql)
    return Int(sqlite3_changes(handle))
  }

  /// All rows of a query, as texts.
  func rows(_ sql: String) throws -> [[String]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    var rows: [[String]] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        (0..<sqlite3_column_count(statement)).map {
          sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? ""
        })
    }
    return rows
  }

  struct Column: Hashable {
    var table: String
    var name: String
    var type: String
  }

  /// The columns of all tables of ours, in order.
  func columns() throws -> [Column] {
    let tables = try rows(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
      AND name NOT LIKE 'story\\_search%' ESCAPE '\\' AND name NOT LIKE 'context\\_position%' ESCAPE '\\'
      AND name NOT LIKE 'entity\\_search%' ESCAPE '\\' AND name NOT LIKE 'record\\_text%' ESCAPE '\\'
      AND name NOT LIKE 'record\\_position%' ESCAPE '\\' ORDER BY name
      """)
    return try tables.flatMap { table in
      try rows("SELECT name, type FROM pragma_table_info('\(table[0])')").map {
        Column(table: table[0], name: $0[0], type: $0[1])
      }
    }
  }

  /// Calls `body` with a store whose tables take values of every type. STRICT and NOT NULL are removed from its schema
  /// for that, and put back.
  static func loosened(_ path: String, _ body: (RawStore) throws -> Void) throws {
    let store = try RawStore(path)
    let schema = try store.rows("SELECT name, hex(sql) FROM sqlite_schema WHERE sql IS NOT NULL")
    try store.run("PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON")
    try store.run(
      """
      UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT, W', ') W'), ') STRICT', ')'), ' NOT NULL', '')
      WHERE type = 'table'
      """
    )
    try body(RawStore(path))
    for row in schema {
      try store.run("UPDATE sqlite_schema SET sql = CAST(x'\(row[1])' AS TEXT) WHERE name = '\(row[0])'")
    }
  }

  /// The rest of a write goes to the file itself, so that it can be copied.
  func settle() throws {
    try run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL")
  }
}
