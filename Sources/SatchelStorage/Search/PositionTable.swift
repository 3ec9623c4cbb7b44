import SatchelCore

/// An index of positions on the earth, an R*Tree, of whatever has them.
///
/// Each is a point, rounded outwards to 32 bits: the owner has the exact one, and computes distances. All of it
/// follows from the owner's rows: one that is damaged is made again, empty. Where SQLite was built without R*Trees there is no
/// such table, and owners examine all of their rows.
package struct PositionTable: Sendable {
  /// The statements for the table; constant, since its name cannot be bound.
  package struct Statements: Sendable {
    let insert: StaticString
    let delete: StaticString
    let all: StaticString
    let check: StaticString

    /// Creates the statements.
    ///
    /// - Parameters:
    ///   - insert: inserts or replaces the point ?1 at the latitude ?2 and the longitude ?3
    ///   - delete: deletes the point ?1
    ///   - all: selects id, south, north, west and east of all points
    ///   - check: selects rtreecheck of the table
    package init(insert: StaticString, delete: StaticString, all: StaticString, check: StaticString) {
      (self.insert, self.delete, self.all, self.check) = (insert, delete, all, check)
    }
  }

  /// Whether SQLite was built with R*Trees.
  package static var isAvailable: Bool { SQLiteVersion.hasRTree }

  /// The name of the table.
  package let name: String
  /// The statement that creates the table.
  private let schema: String
  private let statements: Statements

  package init(name: String, schema: String, _ statements: Statements) {
    (self.name, self.schema, self.statements) = (name, schema, statements)
  }

  package func exists(_ connection: Connection) throws -> Bool {
    try Self.isAvailable && connection.has(table: name)
  }

  /// Makes the table again, empty.
  package func remake(_ connection: Connection) throws {
    try connection.remakeVirtualTable(name, ownTables: Connection.rTreeTables, sql: schema)
  }

  /// Adds a point, or moves it.
  package func insert(
    _ id: Int64, _ latitude: Double, _ longitude: Double, _ connection: Connection
  ) throws {
    try connection.run(statements.insert, .integer(id), .real(latitude), .real(longitude))
  }

  /// Removes a point. A table that is damaged keeps it, until it is made again.
  package func deleteIfSound(_ id: Int64, _ connection: Connection) throws {
    do {
      try connection.run(statements.delete, .integer(id))
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // Its row no longer exists, so that it is not found.
    }
  }

  /// Visits the points that may be within a distance of a position; one on the antimeridian may be visited twice.
  ///
  /// - Parameters:
  ///   - query: with the north, south, east and west of a box as its first parameters, which the south, north, west and
  ///     east of a point are compared with
  ///   - others: the further parameters, ?5 and on
  package static func each(
    _ query: StaticString, around latitude: Double, _ longitude: Double, within metres: Double,
    _ others: Binding..., connection: Connection, visit: (Statement) throws -> Void
  ) throws {
    for box in GreatCircle.boxes(around: latitude, longitude, within: metres) {
      let statement = try connection.prepared(query)
      defer { statement.reset() }
      try statement.bind(
        [.real(box.north), .real(box.south), .real(box.east), .real(box.west)] + others)
      while try statement.step() { try visit(statement) }
    }
  }

  /// Returns the first defect of the R*Tree, and otherwise of its points; nil when it is sound.
  ///
  /// - Parameter positions: visits all points that it should have
  package func fault(
    _ connection: Connection,
    positions: (_ visit: (_ id: Int64, _ latitude: Double, _ longitude: Double) -> Void) throws -> Void
  ) throws -> String? {
    let report = try connection.first(statements.check) { $0.text(0) }
    if let report, report != "ok" { return "the R*Tree of positions is damaged: \(report.prefix(200))" }
    var known: [Int64: GreatCircle.Box] = [:]
    try connection.each(statements.all) { row in
      known[row.anyInteger(0)] = GreatCircle.Box(
        south: row.real(1), north: row.real(2), west: row.real(3), east: row.real(4))
    }
    var missing = 0
    try positions { id, latitude, longitude in
      guard let found = known[id], found.south <= latitude, found.north >= latitude, found.west <= longitude,
        found.east >= longitude
      else {
        missing += 1
        return
      }
    }
    return missing == 0 ? nil : "\(missing) positions are missing from the R*Tree, or are elsewhere in it"
  }
}
