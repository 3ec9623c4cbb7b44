import SatchelStorage

/// The entries of declared indexes.
struct ValueTable {
  let connection: Connection

  func insert(_ index: Int64, _ value: UnsafeRawBufferPointer, _ row: Int64) throws {
    let statement = try connection.prepared(
      "INSERT INTO record_value(index_id, value, record) VALUES(?, ?, ?)")
    try run(statement, index, value, row)
  }

  func delete(_ index: Int64, _ value: UnsafeRawBufferPointer, _ row: Int64) throws {
    let statement = try connection.prepared(
      "DELETE FROM record_value WHERE index_id = ? AND value = ? AND record = ?")
    try run(statement, index, value, row)
  }

  private func run(_ statement: Statement, _ index: Int64, _ value: UnsafeRawBufferPointer, _ row: Int64)
    throws
  {
    defer { statement.reset() }
    try statement.bind(.integer(index), at: 1)
    try statement.bind(.blob(value), at: 2)
    try statement.bind(.integer(row), at: 3)
    _ = try statement.step()
  }

  /// The rows that have a value.
  func rows(_ index: Int64, _ value: UnsafeRawBufferPointer) throws -> [Int64] {
    let statement = try connection.prepared(
      "SELECT record FROM record_value WHERE index_id = ? AND value = ?")
    defer { statement.reset() }
    try statement.bind(.integer(index), at: 1)
    try statement.bind(.blob(value), at: 2)
    var rows: [Int64] = []
    while try statement.step() { rows.append(statement.anyInteger(0)) }
    return rows
  }
}
