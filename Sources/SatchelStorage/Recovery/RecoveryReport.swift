import SatchelJSON

/// What was saved of a damaged store.
public struct RecoveryReport: Equatable, Sendable {
  /// One table.
  public struct Table: Equatable, Sendable {
    public var name: String
    /// Rows that were saved.
    public var rows: Int
    /// Rows that are known to be lost: what is left of them makes no sense, or breaks the table's rules.
    public var lostRows: Int
    /// Pages that are destroyed. How many rows were on them is not known.
    public var lostPages: Int
  }

  /// Where the new store is.
  public var path: String
  public var tables: [Table]
  /// Whether the file's header was destroyed and had to be made anew.
  public var isHeaderLost = false
  /// Whether the list of tables was destroyed, and they were told by their shape.
  public var isSchemaLost = false
  /// Tables that this library does not know; they are only in the damaged file.
  public var unknownTables: [String] = []
  /// What is still not as it should be in the new store: a record that names one that is lost, for example.
  public var findings: [StoreFinding] = []

  /// Whether all there was is saved.
  public var isComplete: Bool {
    unknownTables.isEmpty && tables.allSatisfy { $0.lostRows == 0 && $0.lostPages == 0 }
  }

  package var json: JSONValue {
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
