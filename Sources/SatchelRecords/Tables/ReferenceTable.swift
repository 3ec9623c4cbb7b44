import SatchelStorage

/// Which records name which.
struct ReferenceTable {
  let connection: Connection

  func insert(_ relation: CollectionShape.Relation, _ target: [UInt8], source: Int64) throws {
    try target.withUnsafeBytes {
      try connection.run(
        """
        INSERT OR IGNORE INTO record_reference(target_collection, target_key, source, relation)
        VALUES(?, ?, ?, ?)
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    }
  }

  func delete(_ relation: CollectionShape.Relation, _ target: [UInt8], source: Int64) throws {
    try target.withUnsafeBytes {
      try connection.run(
        """
        DELETE FROM record_reference
        WHERE target_collection = ? AND target_key = ? AND source = ? AND relation = ?
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    }
  }

  func has(_ relation: CollectionShape.Relation, _ target: [UInt8], source: Int64) throws -> Bool {
    try target.withUnsafeBytes {
      try connection.number(
        """
        SELECT count(*) FROM record_reference
        WHERE target_collection = ? AND target_key = ? AND source = ? AND relation = ?
        """, .integer(relation.target), .textBytes($0), .integer(source), .integer(relation.id))
    } > 0
  }

  /// Who names a record: their rows and by which relation, in order.
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
