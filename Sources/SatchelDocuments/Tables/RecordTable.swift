import SatchelCore
import SatchelStorage

/// Reads and writes the rows of documents.
struct RecordTable {
  let connection: Connection

  struct Head {
    var revision: Int64
    var created: Int64
    /// The document, if requested.
    var body: [UInt8] = []
  }

  func head(_ row: Int64, withBody: Bool) throws -> Head? {
    if withBody {
      return try connection.first(
        "SELECT revision, created, body FROM record WHERE id = ?", .integer(row)
      ) {
        Head(
          revision: try $0.integer(0, in: RecordRow.revisions), created: try $0.integer(1),
          body: Array($0.bytes(2)))
      }
    }
    return try connection.first("SELECT revision, created FROM record WHERE id = ?", .integer(row)) {
      Head(revision: try $0.integer(0, in: RecordRow.revisions), created: try $0.integer(1))
    }
  }

  /// Returns the id of a record; nil when it does not exist.
  func key(_ row: Int64) throws -> [UInt8]? {
    try connection.first("SELECT key FROM record WHERE id = ?", .integer(row)) { Array($0.bytes(0)) }
  }

  /// Returns a document as it is stored, and whether fields of it are sealed.
  func document(_ row: Int64) throws -> (body: [UInt8], isSealed: Bool)? {
    try connection.first("SELECT body, is_sealed FROM record WHERE id = ?", .integer(row)) {
      (Array($0.bytes(0)), $0.flag(1))
    }
  }

  /// Returns a document as it is stored.
  func body(_ row: Int64) throws -> [UInt8]? {
    try connection.first("SELECT body FROM record WHERE id = ?", .integer(row)) { Array($0.bytes(0)) }
  }

  func insert(
    _ row: Int64, _ key: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, revision: Int64,
    created: Int64, modified: Int64, isSealed: Bool
  ) throws {
    let statement = try connection.prepared(
      "INSERT INTO record(id, key, revision, created, modified, body, is_sealed) VALUES(?, ?, ?, ?, ?, ?, ?)")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    try statement.bind(.textBytes(key), at: 2)
    try statement.bind(.integer(revision), at: 3)
    try statement.bind(.integer(created), at: 4)
    try statement.bind(.integer(modified), at: 5)
    try statement.bind(.blob(body), at: 6)
    try statement.bind(.integer(isSealed ? 1 : 0), at: 7)
    _ = try statement.step()
  }

  func update(
    _ row: Int64, _ body: UnsafeRawBufferPointer, revision: Int64, modified: Int64, isSealed: Bool
  ) throws {
    let statement = try connection.prepared(
      "UPDATE record SET revision = ?, modified = ?, body = ?, is_sealed = ? WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(revision), at: 1)
    try statement.bind(.integer(modified), at: 2)
    try statement.bind(.blob(body), at: 3)
    try statement.bind(.integer(isSealed ? 1 : 0), at: 4)
    try statement.bind(.integer(row), at: 5)
    _ = try statement.step()
  }

  func setTimes(_ row: Int64, revision: Int64, created: Int64, modified: Int64) throws {
    try connection.run(
      "UPDATE record SET revision = ?, created = ?, modified = ? WHERE id = ?", .integer(revision),
      .integer(created), .integer(modified), .integer(row))
  }

  func delete(_ row: Int64) throws {
    try connection.run("DELETE FROM record WHERE id = ?", .integer(row))
  }
}
