import SatchelCore
import SatchelJSON
import SatchelStorage

/// The index of the positions of delivered locations, an R*Tree.
///
/// It is deferred: contexts after setting 'located_through' are not in it yet, and are scanned. Where SQLite
/// was built without R*Trees, all contexts are scanned: the results are the same, in time that grows with
/// their number.
package struct PositionIndex {
  package static let subject = SubjectSchema(
    name: "position", migrations: [Migration(version: 1, sql: schema)])

  private static let table = PositionTable(
    name: "context_position", schema: schema,
    PositionTable.Statements(
      insert:
        "INSERT OR REPLACE INTO context_position(id, south, north, west, east) VALUES(?1, ?2, ?2, ?3, ?3)",
      delete: "DELETE FROM context_position WHERE id = ?",
      all: "SELECT id, south, north, west, east FROM context_position",
      check: "SELECT rtreecheck('context_position')"))

  private static let schema = """
    -- The bounds are those of one point, each rounded outwards to 32 bits. `id` is that of the context.
    CREATE VIRTUAL TABLE context_position USING rtree(id, south, north, west, east);
    """

  /// Whether SQLite was built with R*Trees.
  package static var isAvailable: Bool { PositionTable.isAvailable }

  /// The number of contexts that may wait to be added: adding one at a time would make persisting write two
  /// more pages.
  static let maxPending: Int64 = 32

  let connection: Connection

  /// A delivered location with a position.
  struct Entry {
    var context: Int64
    var location: Location
    /// In metres.
    var distance: Double
  }

  private static let through = "SELECT value FROM setting WHERE key = 'located_through'" as StaticString

  /// Returns the last context that the R*Tree contains; 0 when there is no R*Tree that can be read.
  private func indexedThrough() throws -> Int64 {
    guard try Self.table.exists(connection) else { return 0 }
    return try connection.number(Self.through)
  }

  /// Returns the delivered locations within a distance of a position, in no order.
  func entries(around latitude: Double, _ longitude: Double, within metres: Double) throws -> [Entry] {
    var found: [Entry] = []
    func add(_ row: Statement) throws {
      guard let location = try? Location(json: JSONValue(parsing: row.bytes(1))),
        let other = location.latitude, let otherLongitude = location.longitude
      else { return }
      let distance = GreatCircle.distance(from: (latitude, longitude), to: (other, otherLongitude))
      guard distance <= metres else { return }
      found.append(Entry(context: try row.integer(0), location: location, distance: distance))
    }
    var through = try indexedThrough()
    do {
      if through > 0 {
        try PositionTable.each(
          """
          SELECT c.id, c.location FROM context_position p JOIN context c ON c.id = p.id
          WHERE p.south <= ? AND p.north >= ? AND p.west <= ? AND p.east >= ? AND c.id <= ?
          """, around: latitude, longitude, within: metres, .integer(through), connection: connection,
          visit: add)
      }
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // Damaged: all contexts are scanned, until the next merge makes the R*Tree again.
      (found, through) = ([], 0)
    }
    try connection.each(
      "SELECT id, location FROM context WHERE id > ? AND coordinate <> 0", .integer(through), visit: add)
    // A position on the antimeridian can be in both boxes.
    var known: Set<Int64> = []
    return found.filter { known.insert($0.context).inserted }
  }

  /// The distances in metres within which levels are resolved.
  struct Limits {
    /// For the coordinate, the sublocality and the locality.
    var narrow: Double
    /// For the admin area and the country.
    var wide: Double

    subscript(level: Level) -> Double { level >= .locality ? narrow : wide }
  }

  /// Returns, for each level, the nearest delivered location that has a place at it, by the level's number; of several
  /// at the same distance the most recently updated.
  ///
  /// - Parameter country: only locations of this country, and those without a country; nil for all
  func nearest(
    to latitude: Double, _ longitude: Double, within limits: Limits, in country: Int64?
  ) throws -> [ResolvedPlaces.Neighbour?] {
    // Half of the circumference of the earth is the maximum distance.
    let widest = min(max(limits.narrow, limits.wide), .pi * GreatCircle.radius)
    var search = NearestSearch(connection, (latitude, longitude), limits, country)
    let through = try indexedThrough()
    // In small steps: a city may have thousands of delivered locations within the whole distance.
    var radius = through > 0 ? min(50, widest) : widest
    try search.scan(after: through)
    do {
      while through > 0 {
        try search.visit(within: radius, through: through)
        guard radius < widest, !search.isSettled(within: radius) else { break }
        radius = min(radius * 8, widest)
      }
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // Damaged: all contexts are scanned, until the next merge makes the R*Tree again.
      try search.scan(after: 0)
    }
    return search.found
  }

  // MARK: Writing

  /// Adds the waiting contexts, if there are enough of them.
  static func mergeIfNeeded(_ database: Database, in transaction: Transaction) throws {
    guard isAvailable else { return }
    let connection = transaction.connection
    let pending = try connection.number(
      """
      SELECT count(*) FROM context WHERE coordinate <> 0
      AND id > ifnull((SELECT value FROM setting WHERE key = 'located_through'), 0)
      """)
    guard pending > maxPending else { return }
    try database.prepare(subject)
    do {
      try merge(connection)
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // All of it is derived from the contexts.
      try PositionIndex(connection: connection).clear()
      try merge(connection)
    }
  }

  private static func merge(_ connection: Connection) throws {
    let through = try connection.number(Self.through)
    var added: [(row: Int64, latitude: Double, longitude: Double)] = []
    var last = through
    try connection.each("SELECT id, location FROM context WHERE id > ? ORDER BY id", .integer(through)) {
      last = try $0.integer(0)
      guard let location = try? Location(json: JSONValue(parsing: $0.bytes(1))),
        let latitude = location.latitude, let longitude = location.longitude
      else { return }
      added.append((last, latitude, longitude))
    }
    for entry in added {
      try table.insert(entry.row, entry.latitude, entry.longitude, connection)
    }
    try connection.run(
      "INSERT INTO setting(key, value) VALUES('located_through', ?1) ON CONFLICT DO UPDATE SET value = ?1",
      .integer(last))
  }

  /// Removes a context. Where SQLite has no R*Trees its entry stays, and refers to no context.
  func remove(_ context: Int64) throws {
    guard try indexedThrough() >= context else { return }
    // The next merge makes a damaged R*Tree again; until then, an entry without a context is not found.
    try Self.table.deleteIfSound(context, connection)
  }

  /// Removes all entries, so that the next merge adds all contexts.
  func clear() throws {
    if try indexedThrough() > 0 { try Self.table.remake(connection) }
    try connection.run("DELETE FROM setting WHERE key = 'located_through'")
  }

  /// Returns the first defect of the R*Tree; nil when it is sound.
  func fault() throws -> String? {
    let through = try indexedThrough()
    guard through > 0 else { return nil }
    return try Self.table.fault(connection) { visit in
      try connection.each(
        "SELECT id, location FROM context WHERE coordinate <> 0 AND id <= ?", .integer(through)
      ) { row in
        guard let location = try? Location(json: JSONValue(parsing: row.bytes(1))),
          let latitude = location.latitude, let longitude = location.longitude
        else { return }
        visit(row.anyInteger(0), latitude, longitude)
      }
    }
  }
}
