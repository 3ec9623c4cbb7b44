import CSQLite
import SatchelJSON

/// Something that is not as it should be in a store's file.
public struct StoreFinding: Equatable, Sendable {
  /// Stable, for programs: "integrity", "dangling_reference", …
  public var code: String
  /// For people.
  public var message: String

  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  package var json: JSONValue { ["code": .string(code), "message": .string(message)] }
}

extension Database {
  /// SQLite's own examination of every page. On a connection of its own: newer versions of SQLite compare a full-text
  /// index with what the connection has in its cache (3.53.4), and take one that another connection changed for damaged.
  package func checkIntegrity() throws -> [StoreFinding] {
    try readApart { connection in
      var findings: [StoreFinding] = []
      try connection.each("PRAGMA integrity_check(100)") { row in
        let message = row.text(0)
        if message != "ok" { findings.append(StoreFinding(code: "integrity", message: message)) }
      }
      return findings
    }
  }

  /// Bytes that the store's content takes: pages in use, free ones not counted.
  package func usedBytes(_ connection: Connection) throws -> Int64 {
    let pages = try connection.number("PRAGMA page_count") - connection.number("PRAGMA freelist_count")
    return try pages * connection.number("PRAGMA page_size")
  }

  /// Bytes of the database file once its log is copied back.
  package func pageBytes() throws -> Int64 {
    try read { try $0.number("PRAGMA page_count") * $0.number("PRAGMA page_size") }
  }

  /// Bytes of the file on disk, its log included.
  package var fileBytes: Int64 {
    var total: Int64 = 0
    for suffix in ["", "-wal"] {
      var status = stat()
      if !isMemory, stat(path + suffix, &status) == 0 { total += Int64(status.st_size) }
    }
    return total
  }

  /// The path as it will be found when the process goes to another directory, and the same for all names of the file.
  package var realPath: String {
    isMemory ? path : DatabaseFile.realPath(of: path)
  }

  /// Gives free pages back to the file system. What readers still look at goes with the next call.
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
