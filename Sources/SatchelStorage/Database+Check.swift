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

  /// Returns the size of the database file after a complete checkpoint.
  package func pageBytes() throws -> Int64 {
    try read { try $0.number("PRAGMA page_count") * $0.number("PRAGMA page_size") }
  }

  /// The bytes of the database file and its WAL on disk.
  package var fileBytes: Int64 { isMemory ? 0 : Self.size(of: path) + walBytes }

  /// The bytes of the WAL on disk.
  package var walBytes: Int64 { isMemory ? 0 : Self.size(of: DatabaseFileNames(resolving: path).wal) }

  private static func size(of path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Returns a finding when the WAL is many times the size of the database: a connection that stays in its read
  /// transaction keeps SQLite from resetting it, and it grows with each commit.
  package func checkWAL() throws -> [StoreFinding] {
    func isLong() throws -> Bool { try WALSize(wal: walBytes, database: pageBytes()).isTooLong }
    guard try isLong() else { return [] }
    // Without readers, it was only not reset yet.
    try maintain { _ = checkpointer.truncate($0) }
    guard try isLong() else { return [] }
    let sizes = try "\(walBytes) bytes, the database \(pageBytes())"
    return [
      StoreFinding(
        code: "wal",
        message:
          "the WAL has \(sizes): a connection, perhaps of another process, stays in a read transaction, and "
          + "the WAL grows until that ends")
    ]
  }

  package var schemaVersion: Int64 {
    get throws { try read { try $0.number("PRAGMA user_version") } }
  }
}
