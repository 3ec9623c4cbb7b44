import SatchelCore
import SatchelJSON
import SatchelStorage

/// The scope of content: the whole world, or the places that share a level. A greater scope is more specific.
public enum Scope: Int, CaseIterable, Sendable, Comparable {
  case global = 0
  case country = 1
  case adminarea = 2
  case locality = 3
  case sublocality = 4
  case coordinate = 5

  /// Creates the scope with a name, ignoring case; nil when there is no such scope.
  public init?(name: String) {
    // The names are ASCII, so folding ASCII letters suffices.
    func fold(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    let scopes = Scope.allCases
    guard
      let scope = scopes.first(where: { $0.name.hasSameBytes(as: name) })
        ?? scopes.first(where: { $0.name.utf8.elementsEqual(name.utf8.lazy.map(fold)) })
    else { return nil }
    self = scope
  }

  /// Creates the scope of a level.
  public init(_ level: Level) {
    switch level {
    case .country: self = .country
    case .adminarea: self = .adminarea
    case .locality: self = .locality
    case .sublocality: self = .sublocality
    case .coordinate: self = .coordinate
    }
  }

  /// The level of the scope's key; nil for global.
  public var level: Level? { Level(rawValue: rawValue) }

  /// The name: "global", or the level's name.
  public var name: String { level?.name ?? "global" }

  public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}

/// The precision of a place. A greater level is more specific.
public enum Level: Int, CaseIterable, Sendable, Comparable {
  case country = 1
  case adminarea = 2
  case locality = 3
  case sublocality = 4
  case coordinate = 5

  /// Creates the level with a name, ignoring case; nil when there is no such level.
  public init?(name: String) {
    guard let level = Scope(name: name)?.level else { return nil }
    self = level
  }

  /// The name: "country", "adminarea", "locality", "sublocality", "coordinate".
  public var name: String {
    switch self {
    case .country: return "country"
    case .adminarea: return "adminarea"
    case .locality: return "locality"
    case .sublocality: return "sublocality"
    case .coordinate: return "coordinate"
    }
  }

  /// All levels, the most specific first.
  public static var mostSpecificFirst: [Level] { allCases.reversed() }

  public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
}

/// The JSON form is the name.
extension Scope: JSONCodable {
  public var json: JSONValue { .string(name) }
  public var description: String { name }

  public init(json: JSONValue) throws {
    guard let scope = json.stringValue.flatMap(Scope.init(name:)) else {
      throw JSONError("must be the name of a scope, such as \"global\"", pointer: "")
    }
    self = scope
  }

  public init(from decoder: any Decoder) throws { self = try Self.decode(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try encodeJSON(to: encoder) }
}

/// The JSON form is the name.
extension Level: JSONCodable {
  public var json: JSONValue { .string(name) }
  public var description: String { name }

  public init(json: JSONValue) throws {
    guard let level = json.stringValue.flatMap(Level.init(name:)) else {
      throw JSONError("must be the name of a level, such as \"country\"", pointer: "")
    }
    self = level
  }

  public init(from decoder: any Decoder) throws { self = try Self.decode(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try encodeJSON(to: encoder) }
}

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

  /// Returns the row of a place; 0 where nothing was ever delivered for it.
  static func find(_ key: PlaceKey, in connection: Connection) throws -> Int64 {
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

  /// Creates the set of the scopes at which a context has a place of the location, and `global`.
  init(of location: ResolvedPlaces, by context: PlaceChain) {
    bits = 1
    for level in Level.allCases
    where context[level] != 0 && location.contains(context[level], at: level) {
      bits |= 1 << level.rawValue
    }
  }

  func contains(_ scope: Scope) -> Bool { bits & (1 << scope.rawValue) != 0 }
}
