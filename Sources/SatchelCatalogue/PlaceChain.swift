import SatchelStorage

/// The rows of the places that a location lies in, by level; 0 where it has none, or where nothing was ever
/// delivered for that place.
struct PlaceChain: Equatable {
  private var rows = SIMD8<Int64>(repeating: 0)
  /// Whether all places of the location are known. Otherwise it must not be taken for one that has fewer.
  private(set) var isComplete = true

  init() {}

  subscript(level: Level) -> Int64 {
    get { rows[level.rawValue] }
    set { rows[level.rawValue] = newValue }
  }

  /// The levels it has a place at, the most specific first.
  var levels: [Level] { Level.mostSpecificFirst.filter { self[$0] != 0 } }

  /// The place that an entity of a scope belongs to: none for `global`, nil where the location has no such place.
  func place(of scope: Scope) -> Int64? {
    guard let level = scope.level else { return 0 }
    return self[level] == 0 ? nil : self[level]
  }

  /// Looks a location's places up.
  init(_ location: Location, in connection: Connection) throws {
    for key in location.keys {
      let row = try Self.find(key, in: connection)
      self[key.level] = row
      if row == 0 { isComplete = false }
    }
  }

  /// Looks a location's places up, and makes those that are new.
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

  /// Reads the five columns of a context, the first of them at `column`, in the order of `context`.
  init(_ row: Statement, from column: Int32) throws {
    self[.country] = try row.integer(column)
    self[.adminarea] = try row.integer(column + 1)
    self[.locality] = try row.integer(column + 2)
    self[.sublocality] = try row.integer(column + 3)
    self[.coordinate] = try row.integer(column + 4)
  }
}

/// Which scopes of another context's content cover a location.
struct Coverage: Equatable {
  private var bits = 0

  static let everything = Coverage(bits: 0b11_1111)

  private init(bits: Int) { self.bits = bits }

  /// Content covers a location at the scopes at which both have the same key, and at `global`.
  init(of location: PlaceChain, by context: PlaceChain) {
    bits = 1
    for level in Level.allCases where location[level] != 0 && location[level] == context[level] {
      bits |= 1 << level.rawValue
    }
  }

  func contains(_ scope: Scope) -> Bool { bits & (1 << scope.rawValue) != 0 }
}
