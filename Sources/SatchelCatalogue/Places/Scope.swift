/// How far content reaches: the whole world, or the places that share a level. The greater scope is the more
/// specific one.
public enum Scope: Int, CaseIterable, Sendable, Comparable {
  case global = 0
  case country = 1
  case adminarea = 2
  case locality = 3
  case sublocality = 4
  case coordinate = 5

  /// The scope of that name, in any letter case; nil when there is none.
  public init?(name: String) {
    // The names are ASCII: nothing else folds onto them.
    let lower = name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard let scope = Scope.allCases.first(where: { $0.name.utf8.elementsEqual(lower) }) else { return nil }
    self = scope
  }

  /// The scope of a level.
  public init(_ level: Level) {
    switch level {
    case .country: self = .country
    case .adminarea: self = .adminarea
    case .locality: self = .locality
    case .sublocality: self = .sublocality
    case .coordinate: self = .coordinate
    }
  }

  /// The level whose key places it; nil for global.
  public var level: Level? { Level(rawValue: rawValue) }

  /// Its name: "global", or the level's name.
  public var name: String { level?.name ?? "global" }

  public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}
