import SatchelCore
import SatchelJSON
import SatchelStorage

/// A summary of a location that content was delivered for.
public struct ContextSummary: Sendable, Equatable, JSONConvertible {
  /// The location as it was first delivered.
  public var location: Location
  /// Its most specific level.
  public var level: Level
  public var sectionCount: Int
  /// The number of entities that its sections reference; an entity counts once for each section.
  public var entityCount: Int
  /// The size of these entities' content in bytes, each counted once; other contexts may share them.
  public var bytes: Int64
  /// Whether it was delivered as complete, so that it inherits no sections.
  public var isComplete: Bool
  /// When something was first delivered for it, in Unix milliseconds.
  public var createdAt: Int64
  /// When one of its sections was last delivered or renewed, in Unix milliseconds; 0 without sections.
  public var fetchedAt: Int64
  /// The entity tag of its sections; nil when they have none, or different ones.
  public var etag: String?
  /// When one of its sections was last written, in Unix milliseconds; 0 without sections.
  public var updatedAt: Int64
  /// When it was last written or read, in Unix milliseconds. Reads are recorded when the store closes or
  /// prunes, with a precision of one hour.
  public var usedAt: Int64

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "location": location.json, "level": level.json, "sections": .int(Int64(sectionCount)),
      "entities": .int(Int64(entityCount)), "bytes": .int(bytes), "complete": .bool(isComplete),
      "created_at": .int(createdAt), "fetched_at": .int(fetchedAt), "etag": etag.map { .string($0) } ?? .null,
      "updated_at": .int(updatedAt), "used_at": .int(usedAt),
    ]
  }
}

extension Catalogue {
  /// Returns all locations that content was delivered for, the most recently updated first. Reads all
  /// sections' references: time grows with the number of references.
  ///
  /// - Parameters:
  ///   - level: returns only those whose most specific level this is; nil returns all
  ///   - location: returns only that of this location; nil returns all
  public func contexts(level: Level? = nil, location: Location? = nil) throws -> [ContextSummary] {
    try database.query { connection in
      var summaries: [ContextSummary] = []
      // No context has a negative row.
      let only = try location.map {
        try ContextTable(connection: connection).exact(PlaceChain($0, in: connection))
      }
      try connection.each(
        """
        SELECT c.location, count(s.id), ifnull(max(s.updated_at), 0) AS updated, c.used_at, ifnull(sum(in_global
        + in_country + in_adminarea + in_locality + in_sublocality + in_coordinate), 0), c.id, c.complete,
        c.created_at, ifnull(max(s.fetched_at), 0),
        CASE WHEN count(DISTINCT s.etag) = 1 AND count(s.etag) = count(s.id) THEN max(s.etag) END
        FROM context c LEFT JOIN section s ON s.context = c.id WHERE ?1 < 0 OR c.id = ?1
        GROUP BY c.id ORDER BY updated DESC, c.id DESC
        """, .integer(only ?? -1)
      ) { row in
        guard let location = try? Location(json: JSONValue(parsing: row.bytes(0))),
          let own = location.mostSpecificLevel
        else { throw SatchelError(.damaged, "a context's location cannot be parsed") }
        guard level == nil || level == own else { return }
        summaries.append(
          ContextSummary(
            location: location, level: own, sectionCount: Int(try row.integer(1)),
            entityCount: Int(try row.integer(4)), bytes: try size(of: row.integer(5), connection),
            isComplete: row.flag(6), createdAt: try row.integer(7), fetchedAt: try row.integer(8),
            etag: row.textIfAny(9), updatedAt: try row.integer(2),
            usedAt: max(try row.integer(2), try row.integer(3))))
      }
      return summaries
    }
  }

  /// Returns the size of the content of a context's entities.
  private func size(of context: Int64, _ connection: Connection) throws -> Int64 {
    var rows: Set<Int64> = []
    try connection.each(
      "SELECT c.placeholders FROM section s JOIN section_content c ON c.section = s.id WHERE s.context = ?",
      .integer(context)
    ) { row in
      rows.formUnion(PlaceholderCoding.decodeSection(row.bytes(0)).map(\.target.entity))
    }
    return try rows.ordered().reduce(0) { sum, row in
      let size = try connection.first("SELECT size FROM entity WHERE id = ?", .integer(row)) {
        try $0.integerIfAny(0, in: StoredRange.length)
      }
      return sum + ((size ?? nil) ?? 0)
    }
  }
}

/// A stored variant of an entity, without its content.
public struct StoredEntity: Sendable, Equatable, JSONConvertible {
  public var entityID: String
  public var scope: Scope
  /// The text of the key of its place; nil for `global`.
  public var place: String?
  public var displayName: String
  /// The size of its content in bytes.
  public var bytes: Int64
  /// The number of sections that reference it.
  public var referenceCount: Int
  /// In Unix milliseconds, as the next two.
  public var createdAt: Int64
  public var updatedAt: Int64
  public var expiresAt: Int64

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "entity_id": .string(entityID), "scope": scope.json, "place": place.map { .string($0) } ?? .null,
      "display_name": .string(displayName), "bytes": .int(bytes),
      "references": .int(Int64(referenceCount)), "created_at": .int(createdAt),
      "updated_at": .int(updatedAt), "expires_at": .int(expiresAt),
    ]
  }
}

extension Catalogue {
  /// Returns the stored entities of a section: those that sections of that name reference in any context, and
  /// those without references whose id names it; in the order of id, scope and place. An entity whose content was
  /// deleted or pruned is not listed, also where a section still references it.
  ///
  /// Time grows with the references of all sections of that name, and with the unreferenced entities.
  public func entities(of section: String) throws -> [StoredEntity] {
    try database.query { connection in
      var rows: Set<Int64> = []
      try connection.each(
        "SELECT c.placeholders FROM section s JOIN section_content c ON c.section = s.id WHERE s.name = ?",
        .text(section)
      ) { rows.formUnion(PlaceholderCoding.decodeSection($0.bytes(0)).map(\.target.entity)) }
      try connection.each("SELECT id, entity_id FROM entity WHERE reference_count = 0") {
        if EntityID.section(of: $0.text(1)).map({ $0.hasSameBytes(as: section) }) == true {
          rows.insert($0.anyInteger(0))
        }
      }
      let table = EntityTable(connection: connection)
      let entities = try rows.ordered().compactMap { row -> StoredEntity? in
        // One whose content was deleted is missing, until it is delivered again.
        guard let record = try table.record(row), let size = record.size else { return nil }
        let count = try connection.first("SELECT reference_count FROM entity WHERE id = ?", .integer(row)) {
          Int(try $0.integer(0, in: StoredRange.count))
        }
        return StoredEntity(
          entityID: record.entityID, scope: record.scope, place: try table.placeText(of: record),
          displayName: record.displayName,
          bytes: size, referenceCount: count ?? 0, createdAt: record.createdAt,
          updatedAt: record.updatedAt, expiresAt: record.expiresAt)
      }
      return entities.ordered { one, other in
        if !one.entityID.hasSameBytes(as: other.entityID) {
          return one.entityID.utf8.lexicographicallyPrecedes(other.entityID.utf8)
        }
        return (one.scope, one.place ?? "") < (other.scope, other.place ?? "")
      }
    }
  }
}

extension Catalogue {
  /// Stores the active location, which persists across restarts; nil removes it.
  public func setActiveLocation(_ location: Location?) throws {
    try database.write { transaction in
      try Self.set("active_location", location?.json, in: transaction)
    }
  }

  private static func set(_ key: String, _ value: JSONValue?, in transaction: Transaction) throws {
    guard let value else {
      return try transaction.connection.run("DELETE FROM setting WHERE key = ?", .text(key))
    }
    try transaction.connection.run(
      "INSERT INTO setting(key, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", .text(key),
      .text(try value.text))
  }

  /// Returns the active location; nil when none is set.
  public func activeLocation() throws -> Location? {
    try database.read { try Self.activeLocation($0) }
  }

  static func activeLocation(_ connection: Connection) throws -> Location? {
    try connection.first("SELECT value FROM setting WHERE key = 'active_location'") {
      try? Location(json: JSONValue(parsing: $0.text(0)))
    } ?? nil
  }
}

extension Catalogue {
  /// Stores the order in which sessions show sections; an empty one removes it.
  func setSectionOrder(_ names: [String]) throws {
    try database.write { transaction in
      try Self.set("section_order", names.isEmpty ? nil : .array(names.map { .string($0) }), in: transaction)
    }
  }

  /// Returns the order in which sessions show sections; empty when none is set.
  func sectionOrder() throws -> [String] {
    try database.read { connection in
      try connection.first("SELECT value FROM setting WHERE key = 'section_order'") {
        try? JSONValue(parsing: $0.text(0)).arrayValue?.compactMap(\.stringValue)
      } ?? nil
    } ?? []
  }
}
