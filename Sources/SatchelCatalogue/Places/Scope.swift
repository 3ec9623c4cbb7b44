import SatchelJSON

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
