import CSQLite
import SatchelCore
import SatchelJSON

/// A problem found in a store's file.
public struct StoreFinding: Equatable, Sendable, JSONConvertible {
  /// A stable code for programs: "integrity", "dangling_reference", …
  public var code: String
  /// The description for people.
  public var message: String

  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  public var json: JSONValue { ["code": .string(code), "message": .string(message)] }
}

extension Database {
  /// Runs SQLite's integrity check on every page, on a separate connection: newer versions of SQLite compare
  /// a full-text index with the connection's cache (3.53.4), and report an index that another connection
  /// changed as damaged.
  package func checkIntegrity() throws -> [StoreFinding] {
    try readOnNewConnection { connection in
      var findings: [StoreFinding] = []
      try connection.each("PRAGMA integrity_check(100)") { row in
        let message = row.text(0)
        if message != "ok" { findings.append(StoreFinding(code: "integrity", message: message)) }
      }
      return findings
    }
  }

  /// Returns the number of bytes in use: pages, without free pages.
  package func usedBytes(_ connection: Connection) throws -> Int64 {
    let pages = try connection.number("PRAGMA page_count") - connection.number("PRAGMA freelist_count")
    return try pages * connection.number("PRAGMA page_size")
  }

  /// Returns the size of the database file after a complete checkpoint.
  package func pageBytes() throws -> Int64 {
    try read { try $0.number("PRAGMA page_count") * $0.number("PRAGMA page_size") }
  }

  /// The bytes of the database file and its WAL on disk.
  package var fileBytes: Int64 {
    var total: Int64 = 0
    for path in isMemory ? [] : [path, DatabaseFileNames(resolving: path).wal] {
      var status = stat()
      if stat(path, &status) == 0 { total += Int64(status.st_size) }
    }
    return total
  }

  /// The absolute path without symbolic links: the same for all names of the file, and independent of the
  /// working directory.
  package var realPath: String {
    isMemory ? path : DatabaseFile.realPath(of: path)
  }

  /// Returns free pages to the file system. Pages that readers still use are returned by a later call.
  package func shrink() throws {
    try maintain { connection in
      try connection.execute("PRAGMA incremental_vacuum")
      _ = checkpointer.truncate(connection)
    }
  }

  package var schemaVersion: Int64 {
    get throws { try read { try $0.number("PRAGMA user_version") } }
  }
}
