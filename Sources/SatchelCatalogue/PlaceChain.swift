import SatchelCore
import SatchelStorage

/// The rows of a location's places, by level; 0 where it has no place, or where nothing was ever delivered
/// for that place.
struct PlaceChain: Equatable {
  private var rows = SIMD8<Int64>(repeating: 0)
  /// Whether all places of the location are stored. An incomplete chain must not match a location with fewer
  /// places.
  private(set) var isComplete = true

  init() {}

  subscript(level: Level) -> Int64 {
    get { rows[level.rawValue] }
    set { rows[level.rawValue] = newValue }
  }

  /// The levels that have a place, the most specific first.
  var levels: [Level] { Level.mostSpecificFirst.filter { self[$0] != 0 } }

  /// Returns the levels at which other locations inherit a section, in the order of `levels`: those broader
  /// than the most specific one at which an entity of it is visible.
  ///
  /// - Parameter counts: the number of the section's entities by scope
  func inheritedLevels(_ counts: [Int64]) -> [Level] {
    levels.dropFirst().filter { level in counts.prefix(level.rawValue + 1).contains { $0 > 0 } }
  }

  /// Returns the row of the place that an entity of a scope belongs to: 0 for `global`, nil where the
  /// location has no such place.
  func place(of scope: Scope) -> Int64? {
    guard let level = scope.level else { return 0 }
    return self[level] == 0 ? nil : self[level]
  }

  /// Looks up a location's places.
  init(_ location: Location, in connection: Connection) throws {
    for key in location.keys {
      let row = try Self.find(key, in: connection)
      self[key.level] = row
      if row == 0 { isComplete = false }
    }
  }

  /// Looks up a location's places, and inserts those that are new.
  init(making location: Location, in transaction: Transaction) throws {
    let connection = transaction.connection
    for key in location.keys {
      var row = try Self.find(key, in: connection)
      if row == 0 {
        try connection.run(
          "INSERT INTO place(level, identity, text) VALUES(?, ?, ?)", .integer(Int64(key.level.rawValue)),
          .text(key.identity), .text(key.text))
        row = connection.lastInsertedRow
      }
      self[key.level] = row
    }
  }

  private static func find(_ key: PlaceKey, in connection: Connection) throws -> Int64 {
    try connection.number("SELECT id FROM place WHERE identity = ?", .text(key.identity))
  }

  /// Reads the five columns of a context in the order of `context`, starting at `column`.
  init(_ row: Statement, from column: Int32) throws {
    self[.country] = try row.integer(column)
    self[.adminarea] = try row.integer(column + 1)
    self[.locality] = try row.integer(column + 2)
    self[.sublocality] = try row.integer(column + 3)
    self[.coordinate] = try row.integer(column + 4)
  }
}

/// The set of scopes at which a context's content covers a location.
struct Coverage: Equatable {
  private var bits = 0

  static let everything = Coverage(bits: 0b11_1111)

  private init(bits: Int) { self.bits = bits }

  /// Creates the set of the scopes at which both have the same key, and `global`.
  init(of location: PlaceChain, by context: PlaceChain) {
    bits = 1
    for level in Level.allCases where location[level] != 0 && location[level] == context[level] {
      bits |= 1 << level.rawValue
    }
  }

  func contains(_ scope: Scope) -> Bool { bits & (1 << scope.rawValue) != 0 }
}
