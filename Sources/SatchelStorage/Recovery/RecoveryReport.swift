import SatchelCore
import SatchelJSON

/// The outcome of a recovery.
public struct RecoveryReport: Equatable, Sendable, JSONConvertible {
  /// The recovered rows of a table.
  public struct Table: Equatable, Sendable {
    public var name: String
    /// The number of recovered rows.
    public var rows: Int
    /// The number of rows that are known to be lost: they are malformed, or violate a constraint of the
    /// table.
    public var lostRows: Int
    /// The number of destroyed pages. How many rows they contained is unknown.
    public var lostPages: Int
  }

  /// The path of the new store.
  public var path: String
  public var tables: [Table]
  /// Whether the file's header was destroyed and had to be rebuilt.
  public var isHeaderLost = false
  /// Whether `sqlite_schema` was unreadable; the tables were then identified from their page layout.
  public var isSchemaLost = false
  /// Tables that this version does not know; they are only in the damaged file.
  public var unknownTables: [String] = []
  /// Remaining problems in the new store, such as a record that refers to a lost one.
  public var findings: [StoreFinding] = []

  /// Whether everything was recovered.
  public var isComplete: Bool {
    unknownTables.isEmpty && tables.allSatisfy { $0.lostRows == 0 && $0.lostPages == 0 }
  }

  public var json: JSONValue {
    let tables = tables.map { table -> JSONValue in
      [
        "name": .string(table.name), "rows": .int(Int64(table.rows)),
        "lost_rows": .int(Int64(table.lostRows)),
        "lost_pages": .int(Int64(table.lostPages)),
      ]
    }
    return [
      "path": .string(path), "complete": .bool(isComplete), "header_lost": .bool(isHeaderLost),
      "schema_lost": .bool(isSchemaLost), "unknown_tables": .array(unknownTables.map { .string($0) }),
      "tables": .array(tables), "findings": .array(findings.map(\.json)),
    ]
  }
}
