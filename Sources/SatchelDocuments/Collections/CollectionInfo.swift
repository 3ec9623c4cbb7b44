import SatchelCore
import SatchelJSON
import SatchelSync
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
  /// The paths of the fields that are stored encrypted.
  public var sensitive: [String]
  public var onConflict: ConflictPolicy
  /// Whether `Store.sync` sends and applies the records.
  public var isSynced: Bool
  /// The keywords of the schema that have no effect; see `JSONSchema.warnings`.
  public var warnings: [String]

  public var json: JSONValue {
    [
      "name": .string(name), "version": .int(Int64(version)), "count": .int(Int64(count)), "indexes": indexes,
      "relations": relations, "sensitive": .array(sensitive.map { .string($0) }),
      "on_conflict": .string(onConflict.rawValue), "synced": .bool(isSynced),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}

extension RecordCollection {
  /// The keywords of the collection's schema that have no effect, such as "/properties/n/minimun: unknown
  /// keyword, without effect: did you mean "minimum"?".
  public var warnings: [String] {
    get throws {
      try read { connection, row in try store.shape(of: row, connection).schema?.warnings ?? [] }
    }
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
        AND record.id < (collection.id + 1) << 40), declaration FROM record_collection AS collection
        WHERE version > 0 AND id > 0 ORDER BY name
        """
      ) { row in
        let declaration = try JSONValue(parsing: row.bytes(3))
        list.append(
          CollectionInfo(
            name: row.text(0), version: Int(try row.integer(1, in: RecordRow.versions)),
            count: Int(try row.integer(2, in: 0...RecordRow.numbers.upperBound * 2)),
            indexes: declaration["indexes"] ?? [], relations: declaration["relations"] ?? [:],
            sensitive: (declaration["sensitive"]?.arrayValue ?? []).compactMap(\.stringValue),
            onConflict: declaration["on_conflict"]?.stringValue.flatMap { ConflictPolicy(rawValue: $0) }
              ?? .newestWins,
            isSynced: declaration["synced"]?.boolValue ?? true,
            warnings: RecordSchemaCheck.warnings(of: declaration["schema"])))
      }
      return list
    }
  }
}
