import CSQLite
import SatchelCore

extension Connection {
  /// Makes a virtual table again, empty, in whatever state it is. The caller holds a write transaction.
  ///
  /// FTS5 cannot even drop an index of another version of its format, or one with a damaged table. So its entry is
  /// removed from the schema; its own tables then are ordinary ones, which are dropped.
  ///
  /// - Parameters:
  ///   - name: a constant of the library, as the next two
  ///   - ownTables: the suffixes of the tables in which it keeps its content
  ///   - sql: the statement that creates it
  package func remakeVirtualTable(_ name: String, ownTables: [String], sql: String) throws {
    try setDefensive(false)
    defer { try? setDefensive(true) }
    do {
      defer { try? execute("PRAGMA writable_schema = OFF") }
      try execute(
        """
        PRAGMA writable_schema = ON;
        DELETE FROM sqlite_schema WHERE name = '\(name)';
        PRAGMA writable_schema = RESET;
        """)
    }
    for table in ownTables { try execute("DROP TABLE IF EXISTS \(name)_\(table)") }
    try execute(sql)
  }

  /// The suffixes of the tables in which FTS5 keeps an index, and those of an R*Tree.
  package static var fullTextTables: [String] { ["data", "idx", "docsize", "config", "content"] }
  package static var rTreeTables: [String] { ["rowid", "node", "parent"] }

  /// A connection to an empty database in memory that cannot have more bytes than this; beyond, writes fail with
  /// `.full`.
  package static func inMemory(maxBytes: Int64) throws -> Connection {
    let connection = try Connection(
      path: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: 0)
    try connection.execute("PRAGMA page_size = 4096; PRAGMA max_page_count = \(max(1, maxBytes / 4096))")
    return connection
  }
}

extension SatchelError {
  /// Whether SQLite was built without FTS5.
  package var isAboutMissingModule: Bool { message.hasSuffix("no such module: fts5 (SQLite 1)") }

  /// Whether a virtual table is damaged, or of another version of its format: it is an index, and can be made again.
  package var isAboutVirtualTable: Bool {
    message.hasSuffix("(SQLite \(SQLITE_CORRUPT | 1 << 8))")
      || strstr(message, "invalid fts5 file format") != nil
  }
}
