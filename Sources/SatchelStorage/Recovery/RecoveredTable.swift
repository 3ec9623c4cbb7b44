import CSQLite
import SatchelCore

/// A table of the new store, into which rows of the damaged file are inserted unchanged.
final class RecoveredTable {
  let name: String
  /// Whether it has row numbers, as opposed to WITHOUT ROWID.
  let hasRowID: Bool
  /// The columns, in the order of the file.
  let columns: [String]
  /// The index of the INTEGER PRIMARY KEY column, an alias of the row number.
  private let keyColumn: Int?
  private let connection: Connection
  private let replaces: Bool
  /// Whether the next row gets the number after the greatest one: a number near the maximum would prevent further rows.
  private let countsRows: Bool
  private var statements: [Int: Statement] = [:]
  private(set) var rows = 0
  private(set) var rejected = 0

  init(_ name: String, hasRowID: Bool, on connection: Connection) throws {
    self.name = name
    self.hasRowID = hasRowID
    self.connection = connection
    var found: [(name: String, type: String, offset: Int64)] = []
    try connection.visit("PRAGMA table_info(\(Self.quoted(name)))") { row in
      found.append((row.text(1), row.text(2), try row.integer(5)))
    }
    let keys = found.filter { $0.offset > 0 }.ordered { $0.offset < $1.offset }
    columns = hasRowID ? found.map(\.name) : (keys + found.filter { $0.offset == 0 }).map(\.name)
    let isAlias = hasRowID && keys.count == 1 && keys.first?.type.uppercased() == "INTEGER"
    keyColumn = isAlias ? found.firstIndex { $0.offset > 0 } : nil
    countsRows = try hasRowID && Self.isCounting(name, connection)
    // Recovered rows replace those that every new store begins with.
    var hasRows = false
    try connection.visit("SELECT 1 FROM \(Self.quoted(name)) LIMIT 1") { _ in hasRows = true }
    replaces = hasRows
  }

  private static func isCounting(_ name: String, _ connection: Connection) throws -> Bool {
    // Counted without AUTOINCREMENT.
    if ["change", "entity", "section_content"].contains(name) { return true }
    return try connection.first(
      "SELECT instr(sql, 'AUTOINCREMENT') FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)
    ) { $0.anyInteger(0) > 0 } ?? false
  }

  /// Inserts a row; one that violates a constraint is counted as lost.
  func add(key: Int64, _ values: [StoredValue]) throws {
    guard values.count <= columns.count, !countsRows || StoredRange.counted.contains(key) else {
      rejected += 1
      return
    }
    let statement = try statement(for: values.count)
    defer { statement.reset() }
    for (column, value) in values.enumerated() {
      let offset = Int32(column + 1)
      switch value {
      case _ where column == keyColumn: try statement.bind(.integer(key), at: offset)
      case .null: try statement.bind(.null, at: offset)
      case .integer(let value): try statement.bind(.integer(value), at: offset)
      case .real(let value): try statement.bind(.real(value), at: offset)
      case .text(let bytes): try statement.bind(.text(String(decoding: bytes, as: UTF8.self)), at: offset)
      case .blob(let bytes): try statement.bindCopy(bytes, at: offset)
      }
    }
    if hasRowID, keyColumn == nil { try statement.bind(.integer(key), at: Int32(values.count + 1)) }
    do {
      _ = try statement.step()
      rows += 1
    } catch let error as SatchelError where [.internal, .invalid, .damaged].contains(error.code) {
      // A violated constraint: the row was not written so.
      rejected += 1
    }
  }

  /// Returns the INSERT statement for rows with `count` values. Rows that were written before a column was
  /// added have fewer values; the other columns get their defaults.
  private func statement(for count: Int) throws -> Statement {
    if let statement = statements[count] { return statement }
    var names = columns.prefix(count).map(Self.quoted)
    if hasRowID, keyColumn == nil { names.append("rowid") }
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let sql =
      "INSERT \(replaces ? "OR REPLACE " : "")INTO \(Self.quoted(name))(\(names.joined(separator: ", "))) VALUES(\(marks))"
    let statement = try connection.compile(sql)
    statements[count] = statement
    return statement
  }

  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}

extension Connection {
  /// Prepares SQL that is built at run time.
  package func compile(_ sql: String) throws -> Statement {
    var compiled: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
    guard code == SQLITE_OK, let compiled else { throw error(code, "preparing “\(sql.prefix(60))”") }
    return Statement(compiled, connection: self)
  }

  /// Visits each row of a query that is built at run time.
  func visit(_ sql: String, _ row: (Statement) throws -> Void) throws {
    let statement = try compile(sql)
    defer { statement.reset() }
    while try statement.step() { try row(statement) }
  }
}
