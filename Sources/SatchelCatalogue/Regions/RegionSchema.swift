import SatchelCore
import SatchelJSON
import SatchelStorage

/// The tables of offline regions; created with the first region.
package enum RegionSchema {
  package static let subject = SubjectSchema(
    name: "regions", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "region.id": ids, "region.created_at": StoredRange.time, "region.updated_at": StoredRange.time,
        "region.downloaded_at": StoredRange.time, "region_item.region": ids, "region_item.outcome": 0...2,
        "region_item.asked_at": StoredRange.time, "region_skip.region": ids, "region_skip.source": ids,
        "region_skip.max_size": StoredRange.count,
      ],
      documents: ["region.definition", "region_item.location"],
      times: [
        "region.created_at": .stamp, "region.updated_at": .stamp, "region.downloaded_at": .stamp,
        "region_item.asked_at": .stamp,
      ]))

  /// Row ids, which are not used again.
  static var ids: ClosedRange<Int64> { 1...1 << 53 }

  private static let version1 = """
    -- Offline regions: named parts of the catalogue that no prune removes. `definition` is the JSON of a
    -- RegionDefinition. `downloaded_at` is when a download last had nothing left to do, NULL before the first time.
    CREATE TABLE region(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      definition TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      downloaded_at INTEGER
    ) STRICT;

    -- The requests for content that downloads of a region have made: for a location, and one section or ('') all of it.
    -- `outcome` is 0 for a failure, 1 for content, 2 where the source has none.
    CREATE TABLE region_item(
      region INTEGER NOT NULL,
      location TEXT NOT NULL,
      section TEXT NOT NULL,
      outcome INTEGER NOT NULL,
      asked_at INTEGER NOT NULL,
      error TEXT,
      PRIMARY KEY(region, location, section)
    ) STRICT, WITHOUT ROWID;

    -- The URLs whose bytes turned out to be larger than a region allowed, with its limit at the time.
    CREATE TABLE region_skip(
      region INTEGER NOT NULL,
      source INTEGER NOT NULL,
      max_size INTEGER NOT NULL,
      PRIMARY KEY(region, source)
    ) STRICT, WITHOUT ROWID;
    """

  static let invariants = [
    Invariant(
      "region_item", counted: "% requests of downloads belong to no region",
      offenders: "SELECT 1 FROM region_item WHERE region NOT IN (SELECT id FROM region)",
      mending: "DELETE FROM region_item WHERE region NOT IN (SELECT id FROM region)"),
    Invariant(
      "region_skip", counted: "% assets that are too large belong to no region",
      offenders: "SELECT 1 FROM region_skip WHERE region NOT IN (SELECT id FROM region)",
      mending: "DELETE FROM region_skip WHERE region NOT IN (SELECT id FROM region)"),
  ]
}

/// Reads and writes the tables of regions.
struct RegionTable {
  /// A row of `region`.
  struct Row: Sendable {
    var id: Int64
    var name: String
    var definition: RegionDefinition
    var createdAt: Int64
    var updatedAt: Int64
    var downloadedAt: Int64?
  }

  /// The answer to a request for content.
  enum Outcome: Int64 { case failed, content, absent }

  let connection: Connection

  func all() throws -> [Row] {
    guard try connection.has(table: "region") else { return [] }
    var rows: [Row] = []
    try connection.each(
      "SELECT id, name, definition, created_at, updated_at, downloaded_at FROM region ORDER BY name"
    ) { rows.append(try Self.read($0)) }
    return rows
  }

  func row(_ name: String) throws -> Row? {
    guard try connection.has(table: "region") else { return nil }
    return try connection.first(
      "SELECT id, name, definition, created_at, updated_at, downloaded_at FROM region WHERE name = ?",
      .text(name), read: Self.read)
  }

  private static func read(_ row: Statement) throws -> Row {
    let name = row.text(1)
    guard let definition = try? RegionDefinition(json: JSONValue(parsing: row.bytes(2))) else {
      throw SatchelError(.damaged, "region \(name): its definition cannot be read")
    }
    return Row(
      id: try row.integer(0, in: RegionSchema.ids), name: name, definition: definition,
      createdAt: try row.integer(3, in: StoredRange.time),
      updatedAt: try row.integer(4, in: StoredRange.time),
      downloadedAt: try row.integerIfAny(5, in: StoredRange.time))
  }

  /// Removes regions whose definitions cannot be read; what belongs to them stays, as other content.
  func removeUnreadable() throws {
    var ids: [Int64] = []
    try connection.each("SELECT id, definition FROM region") { row in
      if (try? RegionDefinition(json: JSONValue(parsing: row.bytes(1)))) == nil {
        ids.append(row.anyInteger(0))
      }
    }
    for id in ids { try remove(id) }
  }

  func insert(_ name: String, _ definition: RegionDefinition, now: Int64) throws -> Int64 {
    try connection.run(
      "INSERT INTO region(name, definition, created_at, updated_at) VALUES(?1, ?2, ?3, ?3)", .text(name),
      .text(try definition.json.text), .integer(now))
    return connection.lastInsertedRow
  }

  func define(_ region: Int64, _ definition: RegionDefinition, now: Int64) throws {
    try connection.run(
      "UPDATE region SET definition = ?2, updated_at = ?3 WHERE id = ?1", .integer(region),
      .text(try definition.json.text), .integer(now))
  }

  func noteDownloaded(_ region: Int64, now: Int64) throws {
    try connection.run("UPDATE region SET downloaded_at = ? WHERE id = ?", .integer(now), .integer(region))
  }

  func remove(_ region: Int64) throws {
    try connection.run("DELETE FROM region_item WHERE region = ?", .integer(region))
    try connection.run("DELETE FROM region_skip WHERE region = ?", .integer(region))
    try connection.run("DELETE FROM region WHERE id = ?", .integer(region))
  }

  // MARK: Requests

  /// Returns the outcome of the last request, and why it failed; nil when none was made.
  func answer(_ region: Int64, _ item: RegionItem) throws -> (outcome: Outcome?, error: String?)? {
    try connection.first(
      "SELECT outcome, error FROM region_item WHERE region = ? AND location = ? AND section = ?",
      .integer(region), .text(try item.location.json.text), .text(item.section ?? "")
    ) { (Outcome(rawValue: try $0.integer(0, in: 0...2)), $0.textIfAny(1)) }
  }

  func set(_ region: Int64, _ item: RegionItem, to outcome: Outcome, error: String?, now: Int64) throws {
    // The region may have been deleted meanwhile.
    try connection.run(
      """
      INSERT OR REPLACE INTO region_item(region, location, section, outcome, asked_at, error)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS(SELECT 1 FROM region WHERE id = ?1)
      """, .integer(region), .text(try item.location.json.text), .text(item.section ?? ""),
      .integer(outcome.rawValue), .integer(now), Binding(error))
  }

  func hasItems(_ region: Int64) throws -> Bool {
    try connection.number("SELECT EXISTS(SELECT 1 FROM region_item WHERE region = ?)", .integer(region)) == 1
  }

  // MARK: Assets that are too large

  func skip(_ region: Int64, source: Int64, maxSize: Int64) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO region_skip(region, source, max_size)
      SELECT ?1, ?2, ?3 WHERE EXISTS(SELECT 1 FROM region WHERE id = ?1)
      """, .integer(region), .integer(source), .integer(maxSize))
  }

  /// Returns the URLs whose bytes are larger than `maxSize`.
  func skipped(_ region: Int64, maxSize: Int64) throws -> Set<Int64> {
    var sources: Set<Int64> = []
    try connection.each(
      "SELECT source FROM region_skip WHERE region = ? AND max_size >= ?", .integer(region), .integer(maxSize)
    ) { sources.insert(try $0.integer(0)) }
    return sources
  }
}

/// A request for content: for all of a location, or for one section of it.
struct RegionItem: Sendable {
  var location: Location
  var section: String?
  /// Whether it was never answered.
  var isLeft = false
  /// Whether it is left, or something of its content is missing or expired.
  var isDue = false
  /// Whether all that is stored of it has an entity tag.
  var hasETag = false

  init(_ location: Location, _ section: String?) { (self.location, self.section) = (location, section) }

  /// Whether a store has content of it.
  func isStored(in connection: Connection) throws -> Bool {
    try isStored(
      as: ContextTable(connection: connection).exact(PlaceChain(location, in: connection)), connection)
  }

  /// - Parameter context: the row of the location; 0 when nothing was delivered for it
  func isStored(as context: Int64, _ connection: Connection) throws -> Bool {
    try context != 0 && !SectionTable(connection: connection).records(section, of: context).isEmpty
  }
}
