/// How precisely a place is named; the greater level is the more specific one.
public enum Level: Int, CaseIterable, Sendable, Comparable {
  case country = 1
  case adminarea = 2
  case locality = 3
  case sublocality = 4
  case coordinate = 5

  /// The level of that name, in any letter case; nil when there is none.
  public init?(name: String) {
    guard let level = Scope(name: name)?.level else { return nil }
    self = level
  }

  /// Its name: "country", "adminarea", "locality", "sublocality", "coordinate".
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
