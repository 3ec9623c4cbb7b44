import SatchelJSON
import SatchelStorage

/// A location that content was delivered for, in short.
public struct ContextSummary: Sendable, Equatable {
  /// The location as it was delivered first.
  public var location: Location
  public var sectionCount: Int
  /// Entities that its sections refer to, counted in each.
  public var entityCount: Int
  /// When one of its sections was written last, in Unix milliseconds.
  public var updatedAt: Int64
  /// When it was written or read last, in Unix milliseconds; reading is noted when a store closes or prunes, and
  /// not more exactly than to the hour.
  public var usedAt: Int64

  /// As an object: location, sections, entities, updated_at, used_at.
  public var json: JSONValue {
    [
      "location": location.json, "sections": .int(Int64(sectionCount)), "entities": .int(Int64(entityCount)),
      "updated_at": .int(updatedAt), "used_at": .int(usedAt),
    ]
  }
}

extension Catalogue {
  /// All locations that content was delivered for, the most recently updated first. Reads all headers: time grows
  /// with the number of sections.
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
          throw SatchelError(.damaged, "a context's location cannot be read")
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
