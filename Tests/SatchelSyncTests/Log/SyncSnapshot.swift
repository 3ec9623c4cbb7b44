import SatchelStorage

import SatchelRemote

/// A copy of the tables of a test device, as a backup has them, or the disk after a loss of power.
struct SyncSnapshot {
  private static let tables =
    ["sync_writer", "sync_log", "sync_collection", "sync_entry"] + SyncTestClient.tables
  let database: Database
  let name: String

  init(_ database: Database, _ name: String = "backup") {
    self.database = database
    self.name = name
  }

  func take() throws {
    try database.write { transaction in
      for table in Self.tables {
        try transaction.connection.execute(
          """
          CREATE TABLE IF NOT EXISTS \(name)_\(table) AS SELECT * FROM \(table) LIMIT 0;
          DELETE FROM \(name)_\(table);
          INSERT INTO \(name)_\(table) SELECT * FROM \(table)
          """)
      }
    }
  }

  func restore() throws {
    try database.write { transaction in
      for table in Self.tables {
        try transaction.connection.execute(
          "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM \(name)_\(table)")
      }
    }
  }

  /// Empties the tables.
  func clear() throws {
    try database.write { transaction in
      for table in Self.tables { try transaction.connection.execute("DELETE FROM \(table)") }
    }
  }
}
