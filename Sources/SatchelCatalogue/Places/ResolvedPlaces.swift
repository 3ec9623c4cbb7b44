import SatchelJSON

/// A level of a location that was resolved by distance: the delivered location whose place it has.
public struct ResolvedLevel: Sendable, Equatable {
  public var level: Level
  /// The location as it was first delivered.
  public var location: Location
  /// Its distance in metres.
  public var metres: Double

  public init(level: Level, location: Location, metres: Double) {
    (self.level, self.location, self.metres) = (level, location, metres)
  }

  /// Creates them from the JSON object that the C interface returns, the most specific level first.
  static func all(_ json: JSONValue?) throws -> [ResolvedLevel] {
    guard let json, !json.isNull else { return [] }
    guard let object = json.objectValue else {
      throw JSONError("\"resolved\" is \(json.kind), not an object", pointer: "/resolved")
    }
    var found: [ResolvedLevel] = []
    for level in Level.mostSpecificFirst {
      guard let value = object[level.name] else { continue }
      let members = try MemberReader("a resolved level", value)
      found.append(
        ResolvedLevel(
          level: level,
          location: try members.required("location", members.value("location", as: Location.self)),
          metres: try members.required("metres", members.number("metres"))))
    }
    return found
  }

  /// The JSON object that the C interface returns: {level: {"location", "metres"}}.
  static func json(_ levels: [ResolvedLevel]) -> JSONValue {
    var object = JSONObject()
    for each in levels {
      object[each.level.name] = ["location": each.location.json, "metres": .double(each.metres)]
    }
    return .object(object)
  }
}

/// The places that a location has at each level when it is read: that of its own key, those of its key without
/// some of the broader names, which a delivery may lack, and that of the nearest delivered location.
///
/// All of them count, the location's own first: with only one of them, a name that is known in another
/// language would hide what its coordinates alone find.
struct ResolvedPlaces {
  /// A delivered location near a position.
  struct Neighbour {
    var context: Int64
    var chain: PlaceChain
    var location: Location
    /// In metres.
    var distance: Double
  }

  /// The places of the location's own keys; 0 where it has none, or where nothing was ever delivered for it.
  let own: PlaceChain
  /// By level; the place at the coordinate itself is not listed, because its contexts are found as such.
  private var places = [[Int64]](repeating: [], count: Scope.allCases.count)
  /// The levels that were resolved by distance, the most specific first.
  private(set) var resolved: [ResolvedLevel] = []

  init(own: PlaceChain) {
    self.own = own
    for level in own.levels { places[level.rawValue] = [own[level]] }
  }

  /// Returns the places at a level, the preferred one first.
  subscript(level: Level) -> [Int64] { places[level.rawValue] }

  mutating func add(_ place: Int64, at level: Level) {
    if place != 0, !places[level.rawValue].contains(place) { places[level.rawValue].append(place) }
  }

  /// Adds the place of the nearest delivered location at a level.
  mutating func add(_ neighbour: Neighbour, at level: Level) {
    let place = neighbour.chain[level]
    guard place != 0, !places[level.rawValue].contains(place) else { return }
    places[level.rawValue].append(place)
    resolved.append(
      ResolvedLevel(level: level, location: neighbour.location, metres: neighbour.distance))
  }

  func contains(_ place: Int64, at level: Level) -> Bool { places[level.rawValue].contains(place) }

  /// Returns the levels at which a context is visible only because they were resolved by distance.
  func resolved(for context: PlaceChain) -> [ResolvedLevel] {
    resolved.filter { each in
      context[each.level] != 0 && context[each.level] == places[each.level.rawValue].last
    }
  }

  /// Returns the places by which a context's nested entities are found: those that it shares with the location,
  /// otherwise the preferred ones.
  func chain(for context: PlaceChain) -> PlaceChain {
    var chain = own
    for level in Level.allCases {
      if context[level] != 0, contains(context[level], at: level) {
        chain[level] = context[level]
      } else if chain[level] == 0, let first = places[level.rawValue].first {
        chain[level] = first
      }
    }
    return chain
  }
}

extension PlaceKey {
  /// The keys of the same place by which locations name it that lack some of the broader names: a locality
  /// without its admin area, a sublocality without its admin area, its locality, or both.
  var withoutBroaderNames: [PlaceKey] {
    guard level == .locality || level == .sublocality else { return [] }
    // The name of the level, the country, the broader names, the name.
    let components = identity.split(separator: "\u{1F}", omittingEmptySubsequences: false).dropFirst()
      .map { String($0) }
    let broader = Array(1..<max(1, components.count - 1)).filter { !components[$0].isEmpty }
    var keys: [PlaceKey] = []
    for omitted in 1..<(1 << broader.count) {
      var rest = components
      for (bit, index) in broader.enumerated() where omitted & (1 << bit) != 0 { rest[index] = "" }
      keys.append(PlaceKey(level: level, components: rest))
    }
    return keys
  }
}
