import CSQLite
import SatchelCore
import SatchelJSON

/// Checks every value of every table against its type and its rules, each value individually.
struct ValueCheck {
  let connection: Connection
  let rules: StoredRules

  /// The maximum number of findings reported for one table.
  private static let maxFindings = 20

  private struct Column {
    var name: String
    var type: String
    var isNullable: Bool
    var isKey: Bool
  }

  /// An invalid value.
  struct Fault {
    var table: String
    var column: String
    var reason: String
  }

  /// Returns the library's tables, without those of SQLite and of full-text indexes.
  static func tables(_ connection: Connection) throws -> [(name: String, hasRowID: Bool)] {
    var tables: [(String, Bool)] = []
    try connection.visit("PRAGMA main.table_list") { row in
      let name = row.text(1)
      if row.text(2) == "table", !name.hasPrefix("sqlite_") { tables.append((name, !row.flag(4))) }
    }
    return tables.ordered { $0.0 < $1.0 }
  }

  private func columns(of table: String) throws -> [Column] {
    var columns: [Column] = []
    try connection.visit("PRAGMA main.table_info(\(RecoveredTable.quoted(table)))") { row in
      let isKey = row.anyInteger(5) > 0
      columns.append(
        Column(name: row.text(1), type: row.text(2), isNullable: !row.flag(3) && !isKey, isKey: isKey))
    }
    return columns
  }

  func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (table, _) in try Self.tables(connection) {
      var count = 0
      try visit(table) { fault, row in
        count += 1
        if count <= Self.maxFindings {
          findings.append(
            StoreFinding(code: table, message: "\(table).\(fault.column) of \(row): \(fault.reason)"))
        }
      }
      if count > Self.maxFindings {
        findings.append(
          StoreFinding(code: table, message: "\(table): \(count - Self.maxFindings) more invalid values"))
      }
    }
    return findings
  }

  private func visit(_ table: String, _ find: (Fault, String) throws -> Void) throws {
    let columns = try columns(of: table)
    guard !columns.isEmpty else { return }
    let names = columns.map { RecoveredTable.quoted($0.name) }.joined(separator: ", ")
    try connection.visit("SELECT \(names) FROM main.\(RecoveredTable.quoted(table))") { row in
      for (index, column) in columns.enumerated() {
        guard let reason = reason(row, Int32(index), column: column, table: table, columns: columns) else {
          continue
        }
        try find(Fault(table: table, column: column.name, reason: reason), Self.name(row, columns))
      }
    }
  }

  /// Returns the reason why a value is invalid; nil for a valid one.
  private func reason(
    _ row: Statement, _ index: Int32, column: Column, table: String, columns: [Column]
  ) -> String? {
    let type = row.type(index)
    if type == SQLITE_NULL { return column.isNullable ? nil : "is NULL" }
    let name = "\(table).\(column.name)"
    switch column.type {
    case "INTEGER":
      guard type == SQLITE_INTEGER else { return "is not an integer" }
      let range = rules.bounds[name] ?? StoredRange.usual
      let value = row.anyInteger(index)
      return range.contains(value) ? nil : "\(value) is outside \(range.lowerBound)...\(range.upperBound)"
    case "TEXT":
      guard type == SQLITE_TEXT else { return "is not a string" }
      let bytes = row.bytes(index)
      guard String(validating: bytes, as: UTF8.self) != nil else { return "is not UTF-8" }
      return rules.documents.contains(name) ? Self.fault(ofDocument: bytes) : nil
    case "BLOB":
      guard type == SQLITE_BLOB else { return "is not a blob" }
      return rules.documents.contains(name) ? Self.fault(ofDocument: row.bytes(index)) : nil
    default: return nil
    }
  }

  private static func fault(ofDocument bytes: UnsafeRawBufferPointer) -> String? {
    // An absent declaration is stored as empty.
    if bytes.isEmpty { return nil }
    do {
      try JSONScanner.check(bytes)
      return nil
    } catch {
      return "is not JSON: \(error)"
    }
  }

  /// Describes a row by its key.
  private static func name(_ row: Statement, _ columns: [Column]) -> String {
    let keys = columns.enumerated().filter { $0.element.isKey }.prefix(3).map { index, column in
      "\(column.name) \(row.type(Int32(index)) == SQLITE_BLOB ? "…" : String(row.text(Int32(index)).prefix(60)))"
    }
    return keys.isEmpty ? "a row" : keys.joined(separator: ", ")
  }

  // MARK: Repair

  /// Repairs all invalid values: a nullable value becomes NULL; another integer that is not a key becomes 0,
  /// or the lower bound of its range; in all other cases the row is deleted.
  ///
  /// - Returns: the columns in which values were changed or rows deleted
  func repair() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (table, hasRowID) in try Self.tables(connection) {
      for column in try columns(of: table) {
        let count = try repair(table, column, hasRowID: hasRowID)
        guard count > 0 else { continue }
        findings.append(
          StoreFinding(
            code: table,
            message:
              "\(table).\(column.name): \(count) values were invalid, and were reset or deleted with their rows"
          ))
      }
    }
    return findings
  }

  private func repair(_ table: String, _ column: Column, hasRowID: Bool) throws -> Int {
    let (quoted, name) = (RecoveredTable.quoted(table), RecoveredTable.quoted(column.name))
    let key = "\(table).\(column.name)"
    let wrong: String
    var remedy = "DELETE FROM \(quoted)"
    switch column.type {
    case "INTEGER":
      let range = rules.bounds[key] ?? StoredRange.usual
      wrong =
        "typeof(\(name)) <> 'integer' OR \(name) < \(Self.literal(range.lowerBound)) OR \(name) > \(Self.literal(range.upperBound))"
      if !column.isKey {
        let value = range.contains(0) ? 0 : range.lowerBound
        remedy =
          "UPDATE OR IGNORE \(quoted) SET \(name) = \(column.isNullable ? "NULL" : Self.literal(value))"
      }
    case "TEXT": wrong = "typeof(\(name)) <> 'text'"
    case "BLOB": wrong = "typeof(\(name)) <> 'blob'"
    default: return 0
    }
    if column.isNullable, column.type != "INTEGER" { remedy = "UPDATE \(quoted) SET \(name) = NULL" }
    let condition = column.isNullable ? "\(name) IS NOT NULL AND (\(wrong))" : wrong
    try connection.execute("\(remedy) WHERE \(condition)")
    var count = connection.changes
    if remedy.hasPrefix("UPDATE OR IGNORE") {
      // Rows that would then violate a unique constraint.
      try connection.execute("DELETE FROM \(quoted) WHERE \(condition)")
      count += connection.changes
    }
    if rules.documents.contains(key) {
      count += try repairDocuments(quoted, name, hasRowID: hasRowID, by: remedy)
    }
    return Int(clamping: count)
  }

  /// Repairs the documents that are not JSON, as `fault` finds them: SQLite's functions take a blob for its own format.
  private func repairDocuments(_ table: String, _ column: String, hasRowID: Bool, by remedy: String) throws
    -> Int64
  {
    var (rows, values) = ([Int64](), [[UInt8]]())
    try connection.visit(
      "SELECT \(column), \(hasRowID ? "rowid" : "0") FROM \(table) WHERE \(column) IS NOT NULL"
    ) { row in
      guard Self.fault(ofDocument: row.bytes(0)) != nil else { return }
      if hasRowID { rows.append(row.anyInteger(1)) } else { values.append(Array(row.bytes(0))) }
    }
    var count: Int64 = 0
    let statement = try connection.compile(
      "\(remedy) WHERE \(hasRowID ? "rowid = ?" : "CAST(\(column) AS BLOB) = ?")")
    for row in rows {
      try statement.bind(.integer(row), at: 1)
      _ = try statement.step()
      count += connection.changes
      statement.reset()
    }
    for value in values {
      try statement.bindCopy(value, at: 1)
      _ = try statement.step()
      count += connection.changes
      statement.reset()
    }
    return count
  }

  /// SQLite parses the digits of the smallest integer as a real.
  private static func literal(_ value: Int64) -> String {
    value == .min ? "(-9223372036854775807 - 1)" : "\(value)"
  }
}

extension Database {
  /// Returns the differences between the store's schema and the one that the library creates.
  package func checkSchema(_ migrations: [Migration], _ subjects: [SubjectSchema]) throws -> [StoreFinding] {
    try read { try SchemaCheck(migrations: migrations, subjects: subjects).findings($0) }
      .map { StoreFinding(code: "schema", message: $0) }
  }

  /// Returns the invalid values of all tables.
  package func checkValues(_ rules: StoredRules, _ subjects: [SubjectSchema]) throws -> [StoreFinding] {
    let rules = subjects.reduce(rules) { $0.merging($1.rules) }
    return try read { try ValueCheck(connection: $0, rules: rules).findings() }
  }
}
