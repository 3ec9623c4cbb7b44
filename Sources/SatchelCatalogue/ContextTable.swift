import SatchelCore
import SatchelJSON
import SatchelStorage

/// A context that serves a location, and the part of its content that covers the location.
struct ServingContext {
  var row: Int64
  var coverage: Coverage
  /// The level at which it was found; `global` when only its global content covers the location.
  var level: Scope
  /// Whether it is the location's own context.
  var isExact: Bool
  /// Whether the location inherits no sections from other contexts, if it is its own.
  var isComplete: Bool
  /// The places for looking up nested entities: the context's own when all of its content is visible,
  /// otherwise those of the location.
  var places: PlaceChain
}

/// Reads and writes the tables `context`, `context_at` and `section_at`.
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

  /// Returns the contexts that were delivered for a location, then those for its coordinate with other place
  /// names, the latest first.
  ///
  /// - Parameter joinsNames: whether a location with names sees everything that was delivered for its coordinate
  ///   with other names, as one without names does, except in another country
  func own(_ location: Location, _ chain: PlaceChain, joinsNames: Bool) throws -> [ServingContext] {
    guard let level = location.mostSpecificLevel else { return [] }
    var found: [ServingContext] = []
    let exact = try exact(chain)
    // A location with only a coordinate sees everything that was delivered for it: offline, reverse geocoding
    // does not provide names.
    let isBare = location.hasOnlyCoordinate
    if exact != 0 {
      found.append(
        ServingContext(
          row: exact, coverage: .everything, level: Scope(level), isExact: true,
          isComplete: try isComplete(exact),
          places: chain))
      if found[0].isComplete { return found }
    }
    guard chain[.coordinate] != 0 else { return found }
    for (row, other, _) in try own(at: chain[.coordinate]) where row != exact {
      let isElsewhere = other[.country] != 0 && other[.country] != chain[.country]
      let seesAll = isBare || joinsNames && (!isElsewhere || location.key(.country) == nil)
      found.append(
        ServingContext(
          row: row, coverage: seesAll ? .everything : Coverage(of: ResolvedPlaces(own: chain), by: other),
          level: .coordinate, isExact: isBare, isComplete: try isBare && isComplete(row),
          places: seesAll ? other : chain))
      if found.last?.isComplete == true { break }
    }
    return found
  }

  func isComplete(_ row: Int64) throws -> Bool {
    try connection.number("SELECT complete FROM context WHERE id = ?", .integer(row)) != 0
  }

  /// Returns the contexts whose most specific place this is, the latest first.
  func own(at place: Int64) throws -> [(row: Int64, chain: PlaceChain, revision: Int64)] {
    var found: [(Int64, PlaceChain, Int64)] = []
    try connection.each(
      """
      SELECT c.id, c.country, c.adminarea, c.locality, c.sublocality, c.coordinate, a.revision
      FROM context_at a JOIN context c ON c.id = a.context
      WHERE a.place = ? AND a.own = 1 ORDER BY a.revision DESC, a.context DESC
      """, .integer(place)
    ) { found.append((try $0.integer(0), try PlaceChain($0, from: 1), try $0.integer(6))) }
    return found
  }

  /// Returns the latest of the contexts of more specific places in a place.
  func latest(at place: Int64, count: Int64) throws -> [(row: Int64, revision: Int64)] {
    var found: [(Int64, Int64)] = []
    try connection.each(
      """
      SELECT context, revision FROM context_at WHERE place = ? AND own = 0
      ORDER BY revision DESC, context DESC LIMIT ?
      """, .integer(place), .integer(count)
    ) { found.append((try $0.integer(0), try $0.integer(1))) }
    return found
  }

  /// Returns the location of a context as it was first delivered; nil when the context was removed.
  func location(of row: Int64) throws -> Location? {
    try connection.first("SELECT location FROM context WHERE id = ?", .integer(row)) { row in
      guard let location = try? Location(json: JSONValue(parsing: row.bytes(0))) else {
        throw SatchelError(.damaged, "a context's location cannot be parsed")
      }
      return location
    }
  }

  func chain(of row: Int64) throws -> PlaceChain? {
    try connection.first(
      "SELECT country, adminarea, locality, sublocality, coordinate FROM context WHERE id = ?",
      .integer(row), read: { try PlaceChain($0, from: 0) })
  }

  // MARK: Inherited sections

  /// Returns the names of the sections that can be inherited in a place. Each takes one look-up, however many
  /// contexts have the section.
  func sectionNames(at place: Int64) throws -> [String] {
    var names: [String] = []
    while let name = try connection.first(
      "SELECT name FROM section_at WHERE place = ? AND name > ? ORDER BY name LIMIT 1", .integer(place),
      .text(names.last ?? ""), read: { $0.text(0) })
    {
      try RowOrder.check(name, after: names.last ?? "", of: "section_at")
      names.append(name)
    }
    return names
  }

  /// Whether a section of a context can be inherited in a place.
  func has(_ name: String, _ context: Int64, at place: Int64) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM section_at WHERE place = ? AND name = ? AND context = ?", .integer(place), .text(name),
      .integer(context), read: { _ in true }) ?? false
  }

  /// Returns all contexts that have a section that can be inherited in a place.
  func all(with name: String, at place: Int64) throws -> [Int64] {
    var rows: [Int64] = []
    try connection.each(
      "SELECT context FROM section_at WHERE place = ? AND name = ?", .integer(place), .text(name)
    ) { rows.append(try $0.integer(0)) }
    return rows
  }

  /// Records at which levels a section can be inherited; global content is listed at the place 0.
  ///
  /// - Parameters:
  ///   - counts: the number of its entities by scope; nil when it is removed
  ///   - before: the same before the change; nil when it is new
  static func list(
    _ name: String, of context: Int64, _ chain: PlaceChain, counts: [Int64]?, before: [Int64]?,
    in transaction: Transaction
  ) throws {
    let (new, old) = (
      counts.map(chain.inheritedLevels) ?? [], before.map(chain.inheritedLevels) ?? []
    )
    for level in new where !old.contains(level) {
      try transaction.connection.run(
        "INSERT OR IGNORE INTO section_at(place, name, context) VALUES(?, ?, ?)", .integer(chain[level]),
        .text(name), .integer(context))
    }
    for level in old where !new.contains(level) {
      try transaction.connection.run(
        "DELETE FROM section_at WHERE place = ? AND name = ? AND context = ?", .integer(chain[level]),
        .text(name), .integer(context))
    }
    let (isGlobal, wasGlobal) = ((counts?[0] ?? 0) > 0, (before?[0] ?? 0) > 0)
    if isGlobal != wasGlobal {
      try listGlobal(name, of: context, chain, isListed: isGlobal, in: transaction.connection)
    }
  }

  /// Records whether every location can inherit a section, and lists its context in the place 0 accordingly.
  private static func listGlobal(
    _ name: String, of context: Int64, _ chain: PlaceChain, isListed: Bool, in connection: Connection
  ) throws {
    if isListed {
      try connection.run(
        "INSERT OR IGNORE INTO section_at(place, name, context) VALUES(0, ?, ?)", .text(name),
        .integer(context))
    } else {
      try connection.run(
        "DELETE FROM section_at WHERE place = 0 AND name = ? AND context = ?", .text(name), .integer(context))
    }
    guard let revision = try ContextTable(connection: connection).revision(of: context, chain) else { return }
    if isListed {
      try connection.run(
        "INSERT OR IGNORE INTO context_at(place, own, revision, context) VALUES(0, 0, ?, ?)",
        .integer(revision), .integer(context))
      return
    }
    let others = try connection.number(
      "SELECT count(*) FROM section WHERE context = ? AND in_global > 0 AND name <> ?", .integer(context),
      .text(name))
    if others == 0 {
      try connection.run(
        "DELETE FROM context_at WHERE place = 0 AND own = 0 AND revision = ? AND context = ?",
        .integer(revision), .integer(context))
    }
  }

  // MARK: Writing

  /// Finds or inserts the context of a location, and makes it the latest of each of its places.
  static func touch(_ location: Location, _ chain: PlaceChain, in transaction: Transaction) throws
    -> (row: Int64, isNew: Bool)
  {
    let connection = transaction.connection
    let table = ContextTable(connection: connection)
    var row = try table.exact(chain)
    let isNew = row == 0
    var before: Int64?
    if row == 0 {
      try connection.run(
        """
        INSERT INTO context(country, adminarea, locality, sublocality, coordinate, created_at, used_at, complete,
        location) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6, 0, ?7)
        """, .integer(chain[.country]), .integer(chain[.adminarea]), .integer(chain[.locality]),
        .integer(chain[.sublocality]), .integer(chain[.coordinate]), .integer(transaction.now),
        .text(try location.json.text))
      row = connection.lastInsertedRow
    } else {
      before = try table.revision(of: row, chain)
      if before == transaction.revision { return (row, false) }
    }
    if let before, try table.removeEntries(of: row, chain, revision: before) {
      try connection.run(
        "INSERT INTO context_at(place, own, revision, context) VALUES(0, 0, ?, ?)",
        .integer(transaction.revision), .integer(row))
    }
    for level in chain.levels {
      try connection.run(
        "INSERT INTO context_at(place, own, revision, context) VALUES(?, ?, ?, ?)", .integer(chain[level]),
        .integer(level == chain.levels.first ? 1 : 0), .integer(transaction.revision), .integer(row))
    }
    return (row, isNew)
  }

  /// Records whether the last delivery of a location had all of its sections.
  static func setComplete(_ row: Int64, _ isComplete: Bool, in transaction: Transaction) throws {
    guard try ContextTable(connection: transaction.connection).isComplete(row) != isComplete else { return }
    try transaction.connection.run(
      "UPDATE context SET complete = ? WHERE id = ?", .integer(isComplete ? 1 : 0), .integer(row))
  }

  /// - Returns: whether it was listed in the place 0, because it has global content
  @discardableResult
  private func removeEntries(of row: Int64, _ chain: PlaceChain, revision: Int64) throws -> Bool {
    for level in chain.levels {
      try connection.run(
        "DELETE FROM context_at WHERE place = ? AND own = ? AND revision = ? AND context = ?",
        .integer(chain[level]), .integer(level == chain.levels.first ? 1 : 0), .integer(revision),
        .integer(row))
    }
    try connection.run(
      "DELETE FROM context_at WHERE place = 0 AND own = 0 AND revision = ? AND context = ?",
      .integer(revision), .integer(row))
    return connection.changes > 0
  }

  /// Returns the revision of the commit that last updated a context.
  func revision(of row: Int64, _ chain: PlaceChain) throws -> Int64? {
    guard let level = chain.levels.first else { return nil }
    return try connection.first(
      "SELECT revision FROM context_at WHERE place = ? AND own = 1 AND context = ?", .integer(chain[level]),
      .integer(row)
    ) { try $0.integer(0) }
  }

  /// Removes a context and its sections, and decrements the reference counts of their entities.
  static func remove(_ row: Int64, in transaction: Transaction) throws {
    let connection = transaction.connection
    let table = ContextTable(connection: connection)
    guard let chain = try table.chain(of: row) else { return }
    if let revision = try table.revision(of: row, chain) {
      try table.removeEntries(of: row, chain, revision: revision)
    }
    var names: [String] = []
    try connection.each("SELECT name FROM section WHERE context = ?", .integer(row)) {
      names.append($0.text(0))
    }
    for name in names { try SectionTable.remove(name, of: row, in: transaction) }
    try PositionIndex(connection: connection).remove(row)
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
    for (context, noted) in pending.ordered(by: { $0.key < $1.key }) {
      let time = StoreClock.credible(noted, at: transaction.now)
      try transaction.connection.run(
        "UPDATE context SET used_at = ? WHERE id = ? AND used_at < ?", .integer(time), .integer(context),
        .integer(time))
    }
  }
}
