import SatchelCore
import SatchelJSON
import SatchelStorage

/// The index of the positions at the declared paths of a collection's documents.
///
/// A position is an object with `latitude` and `longitude`, `lat` and `lon` or `lat` and `lng`, or a Point of GeoJSON. The
/// index is made and kept as that of texts. Where SQLite was built without R*Trees, all records are examined.
package final class RecordPositionIndex: Sendable {
  package static let subject = SubjectSchema(
    name: "points", migrations: [Migration(version: 1, sql: schema)], needs: [RecordSearchState.subject])

  private static let schema = """
    -- The bounds are those of one point, each rounded outwards to 32 bits. `id` is four times that of the record, plus
    -- the number of the declared path.
    CREATE VIRTUAL TABLE record_position USING rtree(id, south, north, west, east);
    """

  private static let table = PositionTable(
    name: "record_position", schema: schema,
    PositionTable.Statements(
      insert:
        "INSERT OR REPLACE INTO record_position(id, south, north, west, east) VALUES(?1, ?2, ?2, ?3, ?3)",
      delete: "DELETE FROM record_position WHERE id = ?",
      all: "SELECT id, south, north, west, east FROM record_position",
      check: "SELECT rtreecheck('record_position')"))

  /// The maximum number of declared paths.
  package static let maxPaths = 4

  package typealias Match = (row: Int64, metres: Double)

  private let state: RecordSearchState
  let paths: [DocumentPath]

  /// - Throws: `.invalid` for an invalid path, and for too many
  package init(collection: Int64, paths: [String]) throws {
    guard (1...Self.maxPaths).contains(paths.count) else {
      throw SatchelError(
        .invalid, "a collection has 1 to \(Self.maxPaths) paths of positions, not \(paths.count)")
    }
    self.paths = try paths.map { try DocumentPath($0) }
    state = RecordSearchState(collection, .position, self.paths)
  }

  // MARK: Positions

  /// Returns the position at a path of a document; nil for none, or one that is not on the earth.
  static func position(
    at path: DocumentPath, of document: UnsafeRawBufferPointer
  ) -> (latitude: Double, longitude: Double)? {
    let reader = DocumentReader(document)
    guard let found = reader.find(path), found.kind == .object else { return nil }
    let position = DocumentReader(reader.slice(found))
    var numbers: (Double, Double)?
    for (latitude, longitude) in Self.members {
      guard let latitude = number(position.field(latitude)), let longitude = number(position.field(longitude))
      else { continue }
      numbers = (latitude, longitude)
      break
    }
    guard let (latitude, longitude) = numbers, abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    return (latitude, longitude)
  }

  /// The members of a position, in the order in which they are looked for. All of them are paths.
  private static let members: [(DocumentPath, DocumentPath)] = [
    ("latitude", "longitude"), ("lat", "lon"), ("lat", "lng"), ("/coordinates/1", "/coordinates/0"),
  ].compactMap { latitude, longitude in
    guard let latitude = try? DocumentPath(latitude), let longitude = try? DocumentPath(longitude) else {
      return nil
    }
    return (latitude, longitude)
  }

  private static func number(_ value: FieldValue) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  private static func point(_ row: Int64, _ path: Int) -> Int64 { row << 2 | Int64(path) }

  // MARK: Writing

  /// Adds a record that was written, or moves it; in the transaction that writes it.
  ///
  /// - Parameter isKnown: whether the tables are known to exist
  package func changed(
    _ row: Int64, _ document: UnsafeRawBufferPointer, _ connection: Connection, isKnown: Bool = false
  ) throws {
    if try removed(row, connection, isKnown: isKnown) { try insertIfSound(row, document, connection) }
  }

  /// Removes a record; in the transaction that deletes it.
  ///
  /// - Parameter isKnown: whether the tables are known to exist
  /// - Returns: whether the index had the record's row
  @discardableResult
  package func removed(_ row: Int64, _ connection: Connection, isKnown: Bool = false) throws -> Bool {
    guard let through = try state.through(connection, isKnown: isKnown), row <= through else { return false }
    guard PositionTable.isAvailable else {
      // The table stays for a SQLite that has R*Trees, whose next search adds all records to it.
      try state.clear(connection)
      return false
    }
    for path in paths.indices { try Self.table.deleteIfSound(Self.point(row, path), connection) }
    return true
  }

  /// Whether the positions of two versions of a document are the same.
  func hasSamePositions(_ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer) -> Bool {
    let (old, new) = (DocumentReader(old), DocumentReader(new))
    return paths.allSatisfy { RecordSearches.isSame($0, old, new) }
  }

  private func insertIfSound(
    _ row: Int64, _ document: UnsafeRawBufferPointer, _ connection: Connection
  ) throws {
    do {
      try insert(row, document, connection)
    } catch let error as SatchelError where error.mayBeAboutIndex {
      // The next search remakes it.
      try state.clear(connection)
    }
  }

  private func insert(_ row: Int64, _ document: UnsafeRawBufferPointer, _ connection: Connection) throws {
    for (index, path) in paths.enumerated() {
      guard let (latitude, longitude) = Self.position(at: path, of: document) else { continue }
      try Self.table.insert(Self.point(row, index), latitude, longitude, connection)
    }
  }

  /// Removes all records; the next search adds those that there are then. For a collection that is cleared or dropped,
  /// or declares other paths.
  package func clear(_ connection: Connection) throws { try Self.clear(state.collection, connection) }

  static func clear(_ collection: Int64, _ connection: Connection) throws {
    try RecordSearchState.clear(collection, .position, connection)
    guard try table.exists(connection) else { return }
    do {
      if try !RecordSearchState.hasAny(.position, connection) {
        let isEmpty = try connection.numberIfAny("SELECT id FROM record_position LIMIT 1") == nil
        if !isEmpty { try remake(connection) }
        return
      }
      try connection.run(
        "DELETE FROM record_position WHERE id BETWEEN ? AND ?",
        .integer(point(RecordRow.base(of: collection), 0)),
        .integer(point(RecordRow.base(of: collection + 1) - 1, maxPaths - 1)))
    } catch let error as SatchelError where error.mayBeAboutIndex {
      try remake(connection)
    }
  }

  /// Makes the index again, empty, for all collections; the next searches fill it.
  package static func remake(_ connection: Connection) throws {
    try table.remake(connection)
    try RecordSearchState.clearAll(.position, connection)
  }

  static func removeAll(_ connection: Connection) throws {
    if try table.exists(connection) { try remake(connection) }
    try RecordSearchState.clearAll(.position, connection)
  }

  // MARK: Searching

  /// The number of records that a search examines without the index, rather than adding them to it first.
  static let maxPending: Int64 = 64

  /// Whether so many records are missing from the index that a search adds them first.
  func needsUpdate(_ connection: Connection) throws -> Bool {
    guard PositionTable.isAvailable else { return false }
    let through = try state.through(connection) ?? state.first
    return try state.lacks(Self.maxPending + 1, after: through, connection)
  }

  /// Brings the index of a store that is opened writable up to date.
  package func update(_ database: Database) throws {
    guard PositionTable.isAvailable else { return }
    if try database.read({ try state.isCurrent($0) }) { return }
    try database.prepare(Self.subject)
    try RecordSearchState.update(database, by: updateChunk, remaking: Self.remake)
  }

  /// Adds a number of records.
  ///
  /// - Returns: whether there may be more
  package func updateChunk(_ connection: Connection) throws -> Bool {
    if try state.through(connection) == nil { try clear(connection) }
    return try state.advance(connection) { try insert($0, $1, connection) }
  }

  /// Returns the records whose position at a path is within a distance, the nearest first; of several at the same
  /// distance the older one. Records that the index does not have are examined: it need not be up to date, or be at all.
  ///
  /// - Throws: `.invalid` for a path that is not declared, and for a position or a distance that cannot be
  package func near(
    _ path: String, _ latitude: Double, _ longitude: Double, within metres: Double, _ connection: Connection
  ) throws -> [Match] {
    let wanted = try DocumentPath(path)
    guard let number = paths.firstIndex(of: wanted) else {
      throw SatchelError(
        .invalid,
        "“\(path)” has no positions; the declared paths are \(paths.map(\.text).joined(separator: ", "))")
    }
    guard abs(latitude) <= 90, abs(longitude) <= 180, metres >= 0 else {
      throw SatchelError(
        .invalid, "a position is \(latitude), \(longitude), and the distance \(metres) metres")
    }
    var matches: [Match] = []
    func consider(_ row: Int64, _ document: UnsafeRawBufferPointer) {
      guard let found = Self.position(at: wanted, of: document) else { return }
      let distance = GreatCircle.distance(from: (latitude, longitude), to: found)
      if distance <= metres { matches.append((row, distance)) }
    }
    var through = try Self.table.exists(connection) ? state.through(connection) ?? state.first : state.first
    do {
      if through > state.first {
        try PositionTable.each(
          """
          SELECT r.id, r.body FROM record_position p JOIN record r ON r.id = p.id >> 2
          WHERE p.south <= ? AND p.north >= ? AND p.west <= ? AND p.east >= ?
          AND p.id BETWEEN ? AND ? AND p.id & 3 = ?
          """, around: latitude, longitude, within: metres, .integer(Self.point(state.first, 0)),
          .integer(Self.point(through, 3)), .integer(Int64(number)), connection: connection
        ) { consider($0.anyInteger(0), $0.bytes(1)) }
      }
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // Damaged: all records are examined, until the index is made again.
      (matches, through) = ([], state.first)
    }
    try connection.each(
      "SELECT id, body FROM record WHERE id > ? AND id <= ?", .integer(through), .integer(state.last)
    ) { consider($0.anyInteger(0), $0.bytes(1)) }
    matches = matches.ordered { $0.metres != $1.metres ? $0.metres < $1.metres : $0.row < $1.row }
    // A position on the antimeridian is in two boxes; its two entries are adjacent.
    var last: Int64?
    matches.removeAll { match in
      defer { last = match.row }
      return match.row == last
    }
    return matches
  }

  // MARK: Checking

  /// Returns the first defect of the collection's part of the index; nil when it is sound.
  package func fault(_ connection: Connection) throws -> String? {
    guard let through = try state.through(connection), try Self.table.exists(connection) else { return nil }
    return try Self.table.fault(connection) { visit in
      try connection.each(
        "SELECT id, body FROM record WHERE id > ? AND id <= ?", .integer(state.first), .integer(through)
      ) { row in
        for (index, path) in paths.enumerated() {
          guard let (latitude, longitude) = Self.position(at: path, of: row.bytes(1)) else { continue }
          visit(Self.point(row.anyInteger(0), index), latitude, longitude)
        }
      }
    }
  }
}
