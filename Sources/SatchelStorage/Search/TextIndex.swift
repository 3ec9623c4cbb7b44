import SatchelCore

/// A full-text index of rows, by FTS5, of whatever the rows are.
///
/// It has tokens, not strings: `SearchTokenizer` makes them, so that FTS5's simplest tokenizer divides them, and any
/// program can check the file. All of it follows from the rows: one that is damaged, or of another version of FTS5, is
/// made again, empty, and its owner fills it.
package struct TextIndex: Sendable {
  /// The statements for the table; constant, since its name cannot be bound.
  package struct Statements: Sendable {
    let insert: StaticString
    let delete: StaticString
    let all: StaticString
    let matches: StaticString

    /// Creates the statements.
    ///
    /// - Parameters:
    ///   - insert: inserts the row ?1 with the tokens of each column, ?2 and on
    ///   - delete: deletes the row ?1
    ///   - all: selects the rowid and the columns of all rows; it may have parameters
    ///   - matches: selects rowid and rank of the rows that match ?1, the best first; it may join other tables, and have
    ///     further parameters
    package init(insert: StaticString, delete: StaticString, all: StaticString, matches: StaticString) {
      (self.insert, self.delete, self.all, self.matches) = (insert, delete, all, matches)
    }
  }

  /// The name of the table.
  package let name: String
  /// The plural of the things that are searched, for the message that FTS5 is missing: "entities".
  let content: String
  /// The statement that creates the table.
  private let schema: String
  private let statements: Statements

  package init(name: String, content: String, schema: String, _ statements: Statements) {
    (self.name, self.content, self.schema, self.statements) = (name, content, schema, statements)
  }

  // MARK: The table

  package func exists(_ connection: Connection) throws -> Bool { try connection.has(table: name) }

  /// Creates the empty index.
  package func make(_ connection: Connection) throws { try naming { try connection.execute(schema) } }

  /// Makes the index again, empty, whatever version of FTS5 wrote it.
  package func remake(_ connection: Connection) throws {
    try naming {
      try connection.remakeVirtualTable(name, ownTables: Connection.fullTextTables, sql: schema)
    }
  }

  /// Runs `body`, and throws a clear error when SQLite was built without full-text search.
  package func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SatchelError where error.isAboutMissingModule {
      throw SatchelError(
        .internal, "SQLite was built without FTS5, which the search of \(content) requires", underlying: error
      )
    }
  }

  // MARK: Rows

  /// Adds a row that the index does not have.
  ///
  /// - Parameter tokens: of each column
  package func insert(_ row: Int64, _ tokens: [[UInt8]], _ connection: Connection) throws {
    let statement = try connection.prepared(statements.insert)
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    try step(statement, tokens[...], at: 2)
  }

  /// Runs the statement with the tokens bound, which are not copied.
  private func step(_ statement: Statement, _ tokens: ArraySlice<[UInt8]>, at index: Int32) throws {
    guard let first = tokens.first else {
      while try statement.step() {}
      return
    }
    try first.withUnsafeBytes { bytes in
      try statement.bind(.textBytes(bytes), at: index)
      try step(statement, tokens.dropFirst(), at: index + 1)
    }
  }

  /// Removes a row, if the index has it.
  package func delete(_ row: Int64, _ connection: Connection) throws {
    try connection.run(statements.delete, .integer(row))
  }

  /// Removes a row. An index that is damaged keeps it, until it is made again.
  ///
  /// - Returns: whether it was removed
  package func deleteIfSound(_ row: Int64, _ connection: Connection) throws -> Bool {
    do {
      try delete(row, connection)
      return true
    } catch let error as SatchelError where error.isAboutVirtualTable || error.isAboutMissingModule {
      return false
    }
  }

  // MARK: Searching

  /// The query for the rows that match its first parameter, for an owner who joins it with other conditions and orders.
  package var matching: StaticString { statements.matches }

  /// Visits the rows that match, the best first, until `visit` returns false.
  ///
  /// - Parameters:
  ///   - others: the further parameters of the statement, ?2 and on
  ///   - visit: with the row and its score, of which a higher one is better
  package func matches(
    _ expression: String, _ others: [Binding] = [], _ connection: Connection,
    _ visit: (_ row: Int64, _ score: Double) throws -> Bool
  ) throws {
    try naming {
      let statement = try connection.prepared(statements.matches)
      defer { statement.reset() }
      try statement.bind([.text(expression)] + others)
      while try statement.step() {
        guard try visit(statement.anyInteger(0), -statement.real(1)) else { return }
      }
    }
  }

  // MARK: Checking

  /// Returns the tokens of all rows, by row.
  ///
  /// - Parameter parameters: of the statement
  package func rows(
    _ connection: Connection, columns: Int, _ parameters: [Binding] = []
  ) throws -> [Int64: [[UInt8]]] {
    var rows: [Int64: [[UInt8]]] = [:]
    let statement = try connection.prepared(statements.all)
    defer { statement.reset() }
    try statement.bind(parameters)
    while try statement.step() {
      rows[statement.anyInteger(0)] = (1...columns).map { Array(statement.bytes(Int32($0))) }
    }
    return rows
  }

  /// Returns the first defect that `body` finds; one of the index that prevents reading it is one, too.
  package func fault(_ body: () throws -> String?) throws -> String? {
    do {
      return try body()
    } catch let error as SatchelError where error.isAboutVirtualTable {
      return "the search index cannot be read; the next search rebuilds it: \(error.message)"
    }
  }
}
