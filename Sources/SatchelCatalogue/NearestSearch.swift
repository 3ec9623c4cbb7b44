import SatchelCore
import SatchelJSON
import SatchelStorage

/// The search for the nearest delivered location at each level.
struct NearestSearch {
  private let connection: Connection
  private let position: (latitude: Double, longitude: Double)
  private let limits: PositionIndex.Limits
  private let country: Int64?
  /// By the level's number.
  private(set) var found = [ResolvedPlaces.Neighbour?](repeating: nil, count: Scope.allCases.count)

  /// The R*Tree has 32-bit numbers: a position in it is at most so many metres from the delivered one.
  private static let rounding: Double = 5

  init(
    _ connection: Connection, _ position: (latitude: Double, longitude: Double),
    _ limits: PositionIndex.Limits, _ country: Int64?
  ) {
    (self.connection, self.position, self.limits, self.country) = (connection, position, limits, country)
  }

  /// Whether no location farther than a radius is needed.
  func isSettled(within radius: Double) -> Bool {
    Level.allCases.allSatisfy { level in
      radius >= limits[level] || (found[level.rawValue].map { $0.distance <= radius } ?? false)
    }
  }

  /// Examines the locations that are not in the R*Tree: all after a context.
  mutating func scan(after context: Int64) throws {
    var search = self
    try connection.each(
      """
      SELECT id, country, adminarea, locality, sublocality, coordinate, location FROM context
      WHERE id > ? AND coordinate <> 0
      """, .integer(context)
    ) { row in
      try search.consider(row, PlaceChain(row, from: 1), location: 6)
    }
    self = search
  }

  /// Examines the locations in the R*Tree within a radius.
  mutating func visit(within radius: Double, through: Int64) throws {
    var search = self
    try PositionTable.each(
      """
      SELECT c.id, c.country, c.adminarea, c.locality, c.sublocality, c.coordinate, c.location, p.south, p.west
      FROM context_position p JOIN context c ON c.id = p.id
      WHERE p.south <= ? AND p.north >= ? AND p.west <= ? AND p.east >= ? AND c.id <= ?
      """, around: position.latitude, position.longitude, within: radius, .integer(through),
      connection: connection
    ) { row in
      let chain = try PlaceChain(row, from: 1)
      let about = GreatCircle.distance(from: search.position, to: (row.real(7), row.real(8)))
      // Most locations are farther than the nearest one, so that theirs need not be parsed.
      if search.isUseful(chain, at: about - Self.rounding) { try search.consider(row, chain, location: 6) }
    }
    self = search
  }

  /// Whether a location is not in another country than the wanted one.
  private func isAllowed(_ chain: PlaceChain) -> Bool {
    country == nil || chain[.country] == 0 || chain[.country] == country
  }

  /// Whether a location is the nearest one at some level.
  private func isUseful(_ chain: PlaceChain, at distance: Double) -> Bool {
    guard isAllowed(chain) else { return false }
    return Level.allCases.contains { level in
      guard chain[level] != 0, distance <= limits[level] else { return false }
      return found[level.rawValue].map { distance <= $0.distance } ?? true
    }
  }

  private mutating func consider(_ row: Statement, _ chain: PlaceChain, location column: Int32) throws {
    guard isAllowed(chain),
      let location = try? Location(json: JSONValue(parsing: row.bytes(column))),
      let latitude = location.latitude, let longitude = location.longitude
    else { return }
    let distance = GreatCircle.distance(from: position, to: (latitude, longitude))
    guard isUseful(chain, at: distance) else { return }
    let neighbour = ResolvedPlaces.Neighbour(
      context: try row.integer(0), chain: chain, location: location, distance: distance)
    for level in Level.allCases where chain[level] != 0 && distance <= limits[level] {
      if try isNearer(neighbour, than: found[level.rawValue]) { found[level.rawValue] = neighbour }
    }
  }

  private func isNearer(_ one: ResolvedPlaces.Neighbour, than other: ResolvedPlaces.Neighbour?) throws -> Bool
  {
    guard let other, other.context != one.context else { return other == nil }
    if one.distance != other.distance { return one.distance < other.distance }
    let contexts = ContextTable(connection: connection)
    let (revision, known) = (
      try contexts.revision(of: one.context, one.chain) ?? 0,
      try contexts.revision(of: other.context, other.chain) ?? 0
    )
    return (revision, one.context) > (known, other.context)
  }
}
