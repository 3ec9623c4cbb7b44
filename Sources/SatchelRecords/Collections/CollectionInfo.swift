import SatchelCore
import SatchelJSON
import SatchelStorage

/// A description of a collection.
public struct CollectionInfo: Equatable, Sendable, JSONConvertible {
  public var name: String
  public var version: Int
  public var count: Int
  /// As declared: `[{"path", "unique"}]`.
  public var indexes: JSONValue
  /// As declared: `{path: {"collection", "on_delete", "many"}}`.
  public var relations: JSONValue
  /// The user whose records it is synchronized with; nil when it is not.
  public var user: String?

  public var json: JSONValue {
    [
      "name": .string(name), "version": .int(Int64(version)), "count": .int(Int64(count)), "indexes": indexes,
      "relations": relations, "user": user.map { .string($0) } ?? .null,
    ]
  }
}

extension RecordStore {
  /// Returns the collections that were declared, by name.
  package func collections() throws -> [CollectionInfo] {
    guard try database.has(RecordSchema.subject) else { return [] }
    return try read { connection in
      var list: [CollectionInfo] = []
      try connection.each(
        """
        SELECT name, version, count + (SELECT count(*) FROM record WHERE record.id >= (collection.id << 40) + next
        AND record.id < (collection.id + 1) << 40), declaration, sync FROM record_collection AS collection
        WHERE version > 0 ORDER BY name
        """
      ) { row in
        let declaration = try JSONValue(parsing: row.bytes(3))
        let sync = row.isNull(4) ? nil : try JSONValue(parsing: row.bytes(4))
        list.append(
          CollectionInfo(
            name: row.text(0), version: Int(try row.integer(1, in: RecordRow.versions)),
            count: Int(try row.integer(2, in: 0...RecordRow.numbers.upperBound * 2)),
            indexes: declaration["indexes"] ?? [], relations: declaration["relations"] ?? [:],
            user: sync?["user"]?.stringValue))
      }
      return list
    }
  }
}
