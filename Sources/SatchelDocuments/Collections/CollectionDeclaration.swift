import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// A description of a collection.
public struct CollectionInfo: Equatable, Sendable, JSONConvertible {
  public var name: String
  public var version: Int
  public var count: Int
  /// As declared: `[{"path", "unique"}]`, or with `paths`, and with `where`.
  public var indexes: JSONValue
  /// As declared: `{path: type}`.
  public var types: JSONValue
  /// As declared: `{path: {"collection", "on_delete", "many"}}`.
  public var relations: JSONValue
  /// The paths of the fields that are stored encrypted.
  public var sensitive: [String]
  /// The paths of the texts that `RecordCollection.search` finds.
  public var search: [String]
  /// The paths of the positions that `RecordCollection.near` finds.
  public var positions: [String]
  public var onConflict: ConflictPolicy
  /// Whether `Store.sync` sends and applies the records.
  public var isSynced: Bool
  /// How long records exist; nil for records that never expire.
  public var ttl: RecordLifetime?
  /// The keywords of the schema that have no effect; see `JSONSchema.warnings`.
  public var warnings: [String]

  public var json: JSONValue {
    [
      "name": .string(name), "version": .int(Int64(version)), "count": .int(Int64(count)), "indexes": indexes,
      "types": types,
      "relations": relations, "sensitive": .array(sensitive.map { .string($0) }),
      "search": .array(search.map { .string($0) }), "positions": .array(positions.map { .string($0) }),
      "on_conflict": .string(onConflict.rawValue), "synced": .bool(isSynced), "ttl": ttl?.json ?? .null,
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}

extension RecordCollection {
  /// Warnings of what is probably wrong with the declaration: the keywords of the schema that have no effect, such as
  /// "/properties/n/minimun: unknown keyword, without effect: did you mean "minimum"?", and the steps of the migration that
  /// opening the collection has run which found no value in any record. With them, the paths of queries of this object that
  /// have looked at all records, and that none had: "query: no record has "titel": did you mean "title"?"; at most 20.
  public var warnings: [String] {
    get throws {
      try read { try $1.rules.schema?.warnings ?? [] } + migrationWarnings + queryWarnings.withLock { $0 }
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
        func paths(_ name: String) -> [String] {
          (declaration[name]?.arrayValue ?? []).compactMap(\.stringValue)
        }
        list.append(
          CollectionInfo(
            name: row.text(0), version: Int(try row.integer(1, in: RecordRow.versions)),
            count: Int(try row.integer(2, in: 0...RecordRow.numbers.upperBound * 2)),
            indexes: declaration["indexes"] ?? [], types: declaration["types"] ?? [:],
            relations: declaration["relations"] ?? [:],
            sensitive: paths("sensitive"), search: paths("search"), positions: paths("positions"),
            onConflict: declaration["on_conflict"]?.stringValue.flatMap { ConflictPolicy(rawValue: $0) }
              ?? .newestWins,
            isSynced: declaration["synced"]?.boolValue ?? (declaration["ttl"] == nil),
            ttl: try declaration["ttl"].map { try RecordLifetime($0, at: "/ttl") },
            warnings: RecordSchemaCheck.warnings(of: declaration["schema"])))
      }
      return list
    }
  }
}

/// An index of the values at one path of the documents, or at several.
public struct RecordIndex: Equatable, Sendable {
  /// "a.b" or a JSON Pointer; "lines[*].sku" for the elements of an array, or "first(a)", "length(a)", "lower(a)",
  /// "year(a)", "month(a)", "day(a)". Of
  /// several, a "-" before one means that its order is descending.
  public var paths: [String]
  /// Whether two records must not have the same values. Null and missing values do not count.
  public var isUnique: Bool
  /// The conditions that records in the index fulfil; nil for all records. Queries use the index where they have the same
  /// conditions.
  public var filter: RecordFilter?
  /// The type of the values at the path of an index of one path: the same as in the `types` of the declaration.
  public var type: RecordType?

  public init(
    _ path: String, unique: Bool = false, type: RecordType? = nil, where filter: RecordFilter? = nil
  ) {
    (paths, isUnique, self.type, self.filter) = ([path], unique, type, filter)
  }

  public init(paths: [String], unique: Bool = false, where filter: RecordFilter? = nil) {
    (self.paths, isUnique, self.filter) = (paths, unique, filter)
  }
}

/// A relation: a field with the id, or an array of ids, of records of a collection.
public struct RecordRelation: Equatable, Sendable {
  /// The action on a record when the record that it refers to is deleted.
  public enum OnDelete: String, Sendable, CaseIterable {
    /// The referenced record cannot be deleted while this one refers to it.
    case restrict
    /// This record is deleted, too.
    case cascade
    /// The field becomes null; from an array the id is removed.
    case nullify
  }

  /// The referenced collection; may be the relation's own.
  public var collection: String
  public var onDelete: OnDelete
  /// Whether the field is an array of ids.
  public var isMany: Bool

  public init(_ collection: String, onDelete: OnDelete = .restrict, many: Bool = false) {
    self.collection = collection
    self.onDelete = onDelete
    isMany = many
  }
}

/// The declaration of a collection when it is opened. It adds indexes, relations and a schema to those in the
/// store, and removes none, except with `redeclare`. A declaration with only a name opens the collection as
/// it is.
public struct CollectionDeclaration: Sendable {
  /// [a-z][a-z0-9_]{0,63}
  public var name: String
  public var indexes: [RecordIndex]?
  /// The types of the values at paths, which decide how they are compared and put in order.
  public var types: [String: RecordType]?
  /// By path.
  public var relations: [String: RecordRelation]?
  /// The paths of fields that are stored encrypted, "a.b" or JSON Pointers. They cannot be indexed, queried or
  /// sorted by. See `StateStore.setKey`.
  public var sensitive: [String]?
  /// The paths of the texts that `RecordCollection.search` finds, 1 to 8: strings, or arrays and objects of them.
  public var search: [String]?
  /// The paths of the positions that `RecordCollection.near` finds, 1 to 4: objects with `latitude` and `longitude`,
  /// `lat` and `lon` or `lat` and `lng`, or Points of GeoJSON.
  public var positions: [String]?
  /// The JSON Schema (2020-12) that documents must satisfy when they are written.
  public var schema: JSONValue?
  /// The version of the documents; 1 when nil.
  public var version: Int?
  /// The migrations of documents from version 1 to 2, from 2 to 3, and so on.
  public var migrations: [RecordMigration] = []
  /// Whether this is the complete declaration: indexes, relations, a schema and the paths of searches that it lacks
  /// are dropped, those that it declares differently are replaced. Handles that were opened with the earlier
  /// declaration can then only read, unless only paths of searches were dropped.
  public var redeclare: Bool
  /// The conflict policy for a record that was changed both locally and remotely; nil for the stored policy,
  /// `newestWins` at first.
  public var onConflict: ConflictPolicy?
  /// Whether `Store.sync` sends and applies the records; nil for the stored setting, true at first, and false for
  /// records that expire. Entries that were sent before stay in the remote.
  public var isSynced: Bool?
  /// How long the records exist; nil for records that never expire. An expired record is not found any more; it is deleted a minute later
  /// where a handle of the collection is open, otherwise by a write, a day later. An index of the field by which
  /// they expire is declared with it. Not possible for a synchronized collection, nor for one to which a relation refers
  /// that restricts deletions.
  public var ttl: RecordLifetime?
  /// The host's function for migrations that an older or newer version of the app declared as a callback.
  var callback: RecordCallback.Body?

  public init(
    _ name: String, indexes: [RecordIndex]? = nil, types: [String: RecordType]? = nil,
    relations: [String: RecordRelation]? = nil, sensitive: [String]? = nil, search: [String]? = nil,
    positions: [String]? = nil, schema: JSONValue? = nil, version: Int? = nil,
    migrations: [RecordMigration] = [], onConflict: ConflictPolicy? = nil, synced: Bool? = nil,
    ttl: RecordLifetime? = nil, redeclare: Bool = false
  ) {
    self.name = name
    self.indexes = indexes
    self.types = types
    self.relations = relations
    self.sensitive = sensitive
    self.search = search
    self.positions = positions
    self.schema = schema
    self.version = version
    self.migrations = migrations
    self.onConflict = onConflict
    isSynced = synced
    self.ttl = ttl
    self.redeclare = redeclare
  }

  /// Whether the declaration has only a name, and perhaps types: it is of no version.
  var isBare: Bool {
    indexes == nil && relations == nil && sensitive == nil && search == nil && positions == nil
      && schema == nil && version == nil && onConflict == nil && isSynced == nil && ttl == nil
  }
}
