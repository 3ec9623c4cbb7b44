import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Returns the records whose position at a declared path is within a distance, the nearest first; of several at the
  /// same distance the older one.
  ///
  /// A position is an object with `latitude` and `longitude`, `lat` and `lon` or `lat` and `lng`, or a Point of
  /// GeoJSON. Uses an R*Tree, which is made by the first search of more than a few records; where SQLite was built
  /// without, it examines all records.
  ///
  /// - Parameters:
  ///   - latitude: degrees, -90 to 90
  ///   - longitude: degrees, -180 to 180
  ///   - within: metres
  ///   - path: a declared path; may be nil where one is declared
  ///   - filter: finds only records that match
  ///   - limit: the maximum number of records; nil for all
  /// - Throws: `SatchelError` `.invalid` for a collection that declares no positions, for a path that is not declared,
  ///   for a position or a distance that cannot be, and for an invalid filter
  public func near(
    latitude: Double, longitude: Double, within: Double, path: String? = nil,
    where filter: RecordFilter? = nil, limit: Int? = nil
  ) throws -> [NearbyRecord] {
    var search = NearSearch()
    (search.latitude, search.longitude, search.distance) = (latitude, longitude, within)
    (search.path, search.filter, search.limit) = (path, filter, limit)
    var found: [NearbyRecord] = []
    try each(search) { candidate, distance in
      found.append(NearbyRecord(record: try candidate.record(withDocument: true), distance: distance))
    }
    return found
  }

  /// Appends the records as a JSON array in the form of the public interfaces.
  ///
  /// - Parameter query: `{"latitude", "longitude", "within", "path", "where", "limit"}`
  package func writeNear(json query: JSONValue, into bytes: inout [UInt8]) throws {
    try write(NearSearch(json: query), into: &bytes) { _, _ in }
  }

  /// Appends the hits of a search, and calls `visit` with each.
  func write(
    _ search: NearSearch, into bytes: inout [UInt8], _ visit: (borrowing Candidate, Double) throws -> Void
  ) throws {
    bytes.append(UInt8(ascii: "["))
    try each(search) { candidate, distance in
      try visit(candidate, distance)
      try candidate.writeHit(into: &bytes)
      bytes.append(contentsOf: #","distance":"#.utf8)
      bytes.append(contentsOf: try JSONValue.double(distance).serialized())
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "]"))
  }

  func each(_ search: NearSearch, _ visit: (borrowing Candidate, Double) throws -> Void) throws {
    if let limit = search.limit, limit < 0 { throw SatchelError(.invalid, "limit: \(limit) is negative") }
    try updatePositions()
    try readInterruptibly { connection, row in
      let positions = try self.positions(row)
      let run = try QueryRun(self, connection, row: row)
      let filter = try run.unexpired(search.filter).map { try CompiledFilter($0, run.rules.types) }
      if let filter { try run.check(filter) }
      let path = try search.path ?? onlyPath(of: positions)
      var left = search.limit ?? Int.max
      for match in try positions.near(
        path, search.latitude, search.longitude, within: search.distance, connection)
      {
        if left == 0 { return }
        _ = try run.fetch.one(match.row) { candidate in
          if let filter, try !filter.matches(candidate) { return }
          try visit(candidate, match.metres)
          left -= 1
        }
      }
    }
  }

  /// Returns the index of positions.
  ///
  /// - Throws: `.invalid` where none are declared
  private func positions(_ row: CollectionState) throws -> RecordPositionIndex {
    if let positions = try row.rules.searches?.positions { return positions }
    throw SatchelError(
      .invalid, "\(name): no positions are declared: declare their paths, as in \"positions\": [\"place\"]")
  }

  private func onlyPath(of positions: RecordPositionIndex) throws -> String {
    if positions.paths.count == 1, let path = positions.paths.first { return path.text }
    throw SatchelError(
      .invalid,
      "\(name): path: several are declared, so that one must be given: "
        + positions.paths.map(\.text).joined(separator: ", "))
  }

  /// Adds the records that the index lacks, if there are enough of them. Without that, a search examines them: it runs
  /// also where the store cannot be written now.
  private func updatePositions() throws {
    let needed = try read { connection, row -> RecordPositionIndex? in
      let positions = try self.positions(row)
      return try positions.needsUpdate(connection) ? positions : nil
    }
    guard let needed, !database.options.isReadOnly, !database.isInTransaction else { return }
    do {
      try needed.update(database)
    } catch let error as SatchelError where error.isAboutStore {}
  }
}
