import SatchelCore
import SatchelStorage

/// Reads and writes the entries of declared indexes.
struct ValueTable {
  let connection: Connection

  func insert(_ index: Int64, _ value: UnsafeRawBufferPointer, row: Int64) throws {
    let statement = try connection.prepared(
      "INSERT INTO record_value(index_id, value, record) VALUES(?, ?, ?)")
    try run(statement, index, value: value, row: row)
  }

  func delete(_ index: Int64, _ value: UnsafeRawBufferPointer, row: Int64) throws {
    let statement = try connection.prepared(
      "DELETE FROM record_value WHERE index_id = ? AND value = ? AND record = ?")
    try run(statement, index, value: value, row: row)
  }

  private func run(_ statement: Statement, _ index: Int64, value: UnsafeRawBufferPointer, row: Int64)
    throws
  {
    defer { statement.reset() }
    try statement.bind(.integer(index), at: 1)
    try statement.bind(.blob(value), at: 2)
    try statement.bind(.integer(row), at: 3)
    _ = try statement.step()
  }

  /// Returns the rows that have a value; at most `limit`, if given.
  func rows(_ index: Int64, _ value: UnsafeRawBufferPointer, limit: Int64 = -1) throws -> [Int64] {
    let statement = try connection.prepared(
      "SELECT record FROM record_value WHERE index_id = ? AND value = ? LIMIT ?")
    defer { statement.reset() }
    try statement.bind(.integer(index), at: 1)
    try statement.bind(.blob(value), at: 2)
    try statement.bind(.integer(limit), at: 3)
    var rows: [Int64] = []
    while try statement.step() { rows.append(statement.anyInteger(0)) }
    return rows
  }

  /// Returns the first row with a value in a range; nil when there is none.
  func first(_ index: Int64, _ range: KeyRange) throws -> Int64? {
    try range.bound { lower, upper in
      try connection.first(
        "SELECT record FROM record_value WHERE index_id = ? AND value >= ? AND value < ? ORDER BY value LIMIT 1",
        .integer(index), .blob(lower), .blob(upper)
      ) { $0.anyInteger(0) }
    }
  }
}

/// Reads and writes the references between records.
struct ReferenceTable {
  let connection: Connection

  func insert(_ relation: CollectionRelation, _ target: [UInt8], source: Int64) throws {
    try target.withUnsafeBytes {
      try connection.run(
        """
        INSERT OR IGNORE INTO record_reference(target_collection, target_key, source, relation)
        VALUES(?, ?, ?, ?)
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    }
  }

  func delete(_ relation: CollectionRelation, _ target: [UInt8], source: Int64) throws {
    try target.withUnsafeBytes {
      try connection.run(
        """
        DELETE FROM record_reference
        WHERE target_collection = ? AND target_key = ? AND source = ? AND relation = ?
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    }
  }

  func has(_ relation: CollectionRelation, _ target: [UInt8], source: Int64) throws -> Bool {
    try target.withUnsafeBytes {
      try connection.number(
        """
        SELECT count(*) FROM record_reference
        WHERE target_collection = ? AND target_key = ? AND source = ? AND relation = ?
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    } > 0
  }

  /// Returns the number of records that refer to a record by one relation; at most `limit`, if given.
  func count(_ relation: CollectionRelation, _ target: [UInt8], limit: Int?) throws -> Int {
    let number = try target.withUnsafeBytes {
      try connection.number(
        """
        SELECT count(*) FROM (SELECT 1 FROM record_reference WHERE target_collection = ? AND target_key = ?
        AND source > ? AND source < ? AND relation = ? LIMIT ?)
        """, .integer(relation.target), .textBytes($0), .integer(RecordRow.base(of: relation.source)),
        .integer(RecordRow.base(of: relation.source + 1)), .integer(relation.id), .integer(Int64(limit ?? -1))
      )
    }
    return Int(number)
  }

  /// Returns the rows of the records that refer to a record by one relation, in order.
  func sources(of target: [UInt8], by relation: CollectionRelation) throws -> [Int64] {
    var sources: [Int64] = []
    try target.withUnsafeBytes {
      try connection.each(
        """
        SELECT source FROM record_reference WHERE target_collection = ? AND target_key = ?
        AND source > ? AND source < ? AND relation = ? ORDER BY source
        """, .integer(relation.target), .textBytes($0), .integer(RecordRow.base(of: relation.source)),
        .integer(RecordRow.base(of: relation.source + 1)), .integer(relation.id)
      ) { sources.append($0.anyInteger(0)) }
    }
    return sources
  }

  /// Returns the records that refer to a record: their rows and the relations, in order.
  func sources(of target: [UInt8], in collection: Int64) throws -> [(row: Int64, relation: Int64)] {
    var sources: [(Int64, Int64)] = []
    try target.withUnsafeBytes {
      try connection.each(
        """
        SELECT source, relation FROM record_reference WHERE target_collection = ? AND target_key = ?
        ORDER BY source, relation
        """, .integer(collection), .textBytes($0)
      ) { sources.append(($0.anyInteger(0), $0.anyInteger(1))) }
    }
    return sources
  }
}
