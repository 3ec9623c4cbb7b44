import SatchelCore
import SatchelJSON
import SatchelStorage

/// A summary of a location that content was delivered for.
public struct ContextSummary: Sendable, Equatable, JSONConvertible {
  /// The location as it was first delivered.
  public var location: Location
  public var sectionCount: Int
  /// The number of entities that its sections reference; an entity counts once for each section.
  public var entityCount: Int
  /// When one of its sections was last written, in Unix milliseconds.
  public var updatedAt: Int64
  /// When it was last written or read, in Unix milliseconds. Reads are recorded when the store closes or
  /// prunes, with a precision of one hour.
  public var usedAt: Int64

  /// A JSON object with location, sections, entities, updated_at and used_at.
  public var json: JSONValue {
    [
      "location": location.json, "sections": .int(Int64(sectionCount)), "entities": .int(Int64(entityCount)),
      "updated_at": .int(updatedAt), "used_at": .int(usedAt),
    ]
  }
}

extension Catalogue {
  /// Returns all locations that content was delivered for, the most recently updated first. Reads all section
  /// headers: time grows with the number of sections.
  public func contexts() throws -> [ContextSummary] {
    try database.read { connection in
      var summaries: [ContextSummary] = []
      try connection.each(
        """
        SELECT c.location, count(s.id), ifnull(max(s.updated_at), 0) AS updated, c.used_at, ifnull(sum(in_global
        + in_country + in_adminarea + in_locality + in_sublocality + in_coordinate), 0)
        FROM context c LEFT JOIN section s ON s.context = c.id GROUP BY c.id ORDER BY updated DESC, c.id DESC
        """
      ) { row in
        guard let location = try? Location(json: JSONValue(parsing: row.bytes(0))) else {
          throw SatchelError(.damaged, "a context's location cannot be parsed")
        }
        summaries.append(
          ContextSummary(
            location: location, sectionCount: Int(try row.integer(1)), entityCount: Int(try row.integer(4)),
            updatedAt: try row.integer(2), usedAt: max(try row.integer(2), try row.integer(3))))
      }
      return summaries
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
