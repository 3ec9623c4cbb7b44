import SatchelCore
import SatchelStorage

/// A context that serves a location, and the part of its content that covers the location.
struct ServingContext {
  var row: Int64
  var coverage: Coverage
  /// The level at which it was found.
  var level: Level
  /// Whether it is the location's own context.
  var isExact: Bool
}

/// Reads and writes the tables `context` and `context_at`.
struct ContextTable {
  let connection: Connection

  /// Returns the row of a location's own context; 0 when it has none.
  func exact(_ chain: PlaceChain) throws -> Int64 {
    guard chain.isComplete, !chain.levels.isEmpty else { return 0 }
    return try connection.number(
      """
      SELECT id FROM context WHERE coordinate = ? AND sublocality = ? AND locality = ? AND adminarea = ?
      AND country = ?
      """, .integer(chain[.coordinate]), .integer(chain[.sublocality]), .integer(chain[.locality]),
      .integer(chain[.adminarea]), .integer(chain[.country]))
  }

  /// Returns the context that serves a location: its own, else the one that shares the most specific level
  /// with it.
  func serving(_ location: Location) throws -> ServingContext? {
    let chain = try PlaceChain(location, in: connection)
    if let own = try own(location, chain) { return own }
    for level in chain.levels where level != .coordinate {
      if let (row, other) = try latest(at: chain[level]) {
        return ServingContext(
          row: row, coverage: Coverage(of: chain, by: other), level: level, isExact: false)
      }
    }
    return nil
  }

  /// Visits all contexts that share a level with the location, by specificity and then the latest first.
  func sharing(_ location: Location, visit: (ServingContext) throws -> Void) throws {
    let chain = try PlaceChain(location, in: connection)
    var seen: Set<Int64> = []
    if let own = try own(location, chain) {
      seen.insert(own.row)
      try visit(own)
    }
    for level in chain.levels {
      for (row, other) in try all(at: chain[level]) where seen.insert(row).inserted {
        try visit(
          ServingContext(row: row, coverage: Coverage(of: chain, by: other), level: level, isExact: false))
      }
    }
  }

  private func own(_ location: Location, _ chain: PlaceChain) throws -> ServingContext? {
    guard let level = location.mostSpecificLevel else { return nil }
    let row = try exact(chain)
    if row != 0 { return ServingContext(row: row, coverage: .everything, level: level, isExact: true) }
    // The same coordinate with other place names. A location with only a coordinate sees everything that was
    // delivered for it: offline, reverse geocoding does not provide names.
    guard chain[.coordinate] != 0, let (row, other) = try latest(at: chain[.coordinate]) else { return nil }
    let isBare = location.keys.allSatisfy { $0.level == .coordinate }
    let coverage = isBare ? .everything : Coverage(of: chain, by: other)
    return ServingContext(row: row, coverage: coverage, level: .coordinate, isExact: isBare)
  }

  private func latest(at place: Int64) throws -> (Int64, PlaceChain)? {
    try connection.first(
      """
      SELECT c.id, c.country, c.adminarea, c.locality, c.sublocality, c.coordinate FROM (
        SELECT * FROM (SELECT revision, context FROM context_at WHERE place = ?1 AND own = 0
                       ORDER BY revision DESC, context DESC LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT revision, context FROM context_at WHERE place = ?1 AND own = 1
                       ORDER BY revision DESC, context DESC LIMIT 1)
      ) a JOIN context c ON c.id = a.context ORDER BY a.revision DESC, a.context DESC LIMIT 1
      """, .integer(place)
    ) { (try $0.integer(0), try PlaceChain($0, from: 1)) }
  }

  private func all(at place: Int64) throws -> [(Int64, PlaceChain)] {
    var found: [(Int64, PlaceChain)] = []
    try connection.each(
      """
      SELECT c.id, c.country, c.adminarea, c.locality, c.sublocality, c.coordinate
      FROM context_at a JOIN context c ON c.id = a.context
      WHERE a.place = ? ORDER BY a.revision DESC, a.context DESC
      """, .integer(place)
    ) { found.append((try $0.integer(0), try PlaceChain($0, from: 1))) }
    return found
  }

  // MARK: Writing

  /// Finds or inserts the context of a location, and makes it the latest of each of its places.
  static func touch(_ location: Location, _ chain: PlaceChain, in transaction: Transaction) throws -> Int64 {
    let connection = transaction.connection
    let table = ContextTable(connection: connection)
    var row = try table.exact(chain)
    var before: Int64?
    if row == 0 {
      try connection.run(
        """
        INSERT INTO context(country, adminarea, locality, sublocality, coordinate, used_at, location)
        VALUES(?, ?, ?, ?, ?, ?, ?)
        """, .integer(chain[.country]), .integer(chain[.adminarea]), .integer(chain[.locality]),
        .integer(chain[.sublocality]), .integer(chain[.coordinate]), .integer(transaction.now),
        .text(try location.json.text))
      row = connection.lastInsertedRow
    } else {
      before = try table.revision(of: row, chain)
      if before == transaction.revision { return row }
    }
    if let before { try table.removeEntries(of: row, chain, revision: before) }
    for level in chain.levels {
      try connection.run(
        "INSERT INTO context_at(place, own, revision, context) VALUES(?, ?, ?, ?)", .integer(chain[level]),
        .integer(level == chain.levels.first ? 1 : 0), .integer(transaction.revision), .integer(row))
    }
    return row
  }

  private func removeEntries(of row: Int64, _ chain: PlaceChain, revision: Int64) throws {
    for level in chain.levels {
      try connection.run(
        "DELETE FROM context_at WHERE place = ? AND own = ? AND revision = ? AND context = ?",
        .integer(chain[level]), .integer(level == chain.levels.first ? 1 : 0), .integer(revision),
        .integer(row))
    }
  }

  /// Returns the revision of the commit that last updated a context.
  private func revision(of row: Int64, _ chain: PlaceChain) throws -> Int64? {
    guard let level = chain.levels.first else { return nil }
    return try connection.first(
      "SELECT revision FROM context_at WHERE place = ? AND own = 1 AND context = ?", .integer(chain[level]),
      .integer(row)
    ) { try $0.integer(0) }
  }

  /// Removes a context and its sections, and decrements the reference counts of their entities.
  static func remove(_ row: Int64, in transaction: Transaction) throws {
    let connection = transaction.connection
    guard
      let chain = try connection.first(
        "SELECT country, adminarea, locality, sublocality, coordinate FROM context WHERE id = ?",
        .integer(row),
        read: { try PlaceChain($0, from: 0) })
    else { return }
    let table = ContextTable(connection: connection)
    if let revision = try table.revision(of: row, chain) {
      try table.removeEntries(of: row, chain, revision: revision)
    }
    var names: [String] = []
    try connection.each("SELECT name FROM section WHERE context = ?", .integer(row)) {
      names.append($0.text(0))
    }
    for name in names { try SectionTable.remove(name, of: row, in: transaction) }
    try connection.run("DELETE FROM context WHERE id = ?", .integer(row))
  }
}

/// The times at which contexts were last read. They are kept in memory, so that reads do not write, and
/// stored by the next prune or when the store closes; a crash only makes the least-recently-used order less
/// exact.
final class ContextUsage: Sendable {
  private static let maxCount = 65_536
  /// The precision of the order across restarts: one hour, in milliseconds.
  private static let tolerance: Int64 = 3_600_000
  private let times = Locked<[Int64: Int64]>([:])

  func note(_ context: Int64, at time: Int64) {
    times.withLock { times in
      if times.count >= Self.maxCount { times.removeAll() }
      times[context] = time
    }
  }

  /// Whether the stored times are old enough that closing must write them, even when nothing else was
  /// written.
  func needsWrite(_ connection: Connection) throws -> Bool {
    try times.withLock { times in
      try times.contains { context, time in
        try connection.number("SELECT used_at FROM context WHERE id = ?", .integer(context)) < time
          - Self.tolerance
      }
    }
  }

  func write(in transaction: Transaction) throws {
    let pending = times.withLock { times in
      let pending = times
      times = [:]
      return pending
    }
    for (context, time) in pending.sorted(by: { $0.key < $1.key }) {
      try transaction.connection.run(
        "UPDATE context SET used_at = ? WHERE id = ? AND used_at < ?", .integer(time), .integer(context),
        .integer(time))
    }
  }
}
