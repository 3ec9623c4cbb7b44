import CSQLite

/// A table of the new store that rows are put into as they stood in the damaged file.
final class RecoveredTable {
  let name: String
  /// Whether it has row numbers.
  let isKeyed: Bool
  /// In the order of the file.
  let columns: [String]
  /// The column that is the row number under another name.
  private let keyColumn: Int?
  private let connection: Connection
  private let replaces: Bool
  /// Whether SQLite gives each row a number greater than all before: one that is near the end of the integers would be
  /// followed by none.
  private let countsRows: Bool
  private var statements: [Int: Statement] = [:]
  private(set) var rows = 0
  private(set) var refused = 0

  init(_ name: String, isKeyed: Bool, on connection: Connection) throws {
    self.name = name
    self.isKeyed = isKeyed
    self.connection = connection
    var found: [(name: String, type: String, place: Int64)] = []
    try connection.visit("PRAGMA table_info(\(Self.quoted(name)))") { row in
      found.append((row.text(1), row.text(2), try row.integer(5)))
    }
    let keys = found.filter { $0.place > 0 }.sorted { $0.place < $1.place }
    columns = isKeyed ? found.map(\.name) : (keys + found.filter { $0.place == 0 }).map(\.name)
    let isAlias = isKeyed && keys.count == 1 && keys.first?.type.uppercased() == "INTEGER"
    keyColumn = isAlias ? found.firstIndex { $0.place > 0 } : nil
    countsRows = try isKeyed && Self.isCounting(name, connection)
    // Rows that every store begins with give way to those that were saved.
    var hasRows = false
    try connection.visit("SELECT 1 FROM \(Self.quoted(name)) LIMIT 1") { _ in hasRows = true }
    replaces = hasRows
  }

  /// What the numbers of AUTOINCREMENT can be: a store never gets so many.
  static let sequenceBounds: ClosedRange<Int64> = 0...(1 << 52)

  private static func isCounting(_ name: String, _ connection: Connection) throws -> Bool {
    try connection.first(
      "SELECT instr(sql, 'AUTOINCREMENT') FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)
    ) { $0.anyInteger(0) > 0 } ?? false
  }

  /// Puts a row in; one that breaks the table's rules is counted.
  func add(key: Int64, _ values: [StoredValue]) throws {
    guard values.count <= columns.count, !countsRows || Self.sequenceBounds.contains(key) else {
      refused += 1
      return
    }
    let statement = try statement(for: values.count)
    defer { statement.reset() }
    for (column, value) in values.enumerated() {
      let place = Int32(column + 1)
      switch value {
      case _ where column == keyColumn: try statement.bind(.integer(key), at: place)
      case .null: try statement.bind(.null, at: place)
      case .integer(let value): try statement.bind(.integer(value), at: place)
      case .real(let value): try statement.bind(.real(value), at: place)
      case .text(let bytes): try statement.bind(.text(String(decoding: bytes, as: UTF8.self)), at: place)
      case .blob(let bytes): try statement.bindCopy(bytes, at: place)
      }
    }
    if isKeyed, keyColumn == nil { try statement.bind(.integer(key), at: Int32(values.count + 1)) }
    do {
      _ = try statement.step()
      rows += 1
    } catch let error as SatchelError where [.internal, .invalid, .damaged].contains(error.code) {
      // A constraint: the row is not what was once written.
      refused += 1
    }
  }

  /// Rows that were written before a column was added have fewer values; the others get their defaults.
  private func statement(for count: Int) throws -> Statement {
    if let statement = statements[count] { return statement }
    var names = columns.prefix(count).map(Self.quoted)
    if isKeyed, keyColumn == nil { names.append("rowid") }
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
  /// A statement of its own for a text that is made at run time.
  func compile(_ sql: String) throws -> Statement {
    var compiled: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
    guard code == SQLITE_OK, let compiled else { throw error(code, "preparing “\(sql.prefix(60))”") }
    return Statement(compiled, connection: self)
  }

  /// Visits each row of a query that is made at run time.
  func visit(_ sql: String, _ row: (Statement) throws -> Void) throws {
    let statement = try compile(sql)
    defer { statement.reset() }
    while try statement.step() { try row(statement) }
  }
}
