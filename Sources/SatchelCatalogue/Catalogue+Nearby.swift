import SatchelCore
import SatchelJSON
import SatchelStorage

/// A location that content was delivered for, and its distance.
public struct NearbyLocation: Sendable, Equatable, JSONCodable {
  /// The location as it was first delivered.
  public var location: Location
  /// In metres.
  public var distance: Double

  public init(location: Location, distance: Double) {
    self.location = location
    self.distance = distance
  }

  /// Creates it from the JSON object that the C interface returns.
  public init(json: JSONValue) throws {
    let members = try MemberReader("a nearby location", json)
    self.init(
      location: try members.required("location", members.value("location", as: Location.self)),
      distance: try members.required("distance", members.number("distance")))
  }

  /// The JSON object that the C interface returns.
  public var json: JSONValue { ["location": location.json, "distance": .double(distance)] }
}

/// The options for inheriting sections that were not delivered for a location.
struct Inheritance {
  /// Whether it inherits sections at all.
  var inherits: Bool
  /// The maximum distance in metres of the locations by which levels are resolved; 0 for none.
  var nearby: Double

  init(inherits: Bool = true, nearby: Double = Catalogue.defaultNearby) throws {
    guard nearby >= 0 else {
      throw SatchelError(.invalid, "nearby: \(nearby) is not a distance in metres")
    }
    self.inherits = inherits
    self.nearby = nearby
  }
}

extension Catalogue {
  /// The distance in metres up to which the levels of a location are resolved by delivered ones.
  public static var defaultNearby: Double { 5000 }

  /// Returns the locations that content was delivered for within a distance, the nearest first.
  ///
  /// Uses an R*Tree; where SQLite was built without, it examines all delivered locations.
  ///
  /// - Parameters:
  ///   - latitude: degrees, -90 to 90
  ///   - longitude: degrees, -180 to 180
  ///   - within: metres
  /// - Throws: `JSONError` for an invalid coordinate, `SatchelError` `.invalid` for a negative distance
  public func locate(
    latitude: Double, longitude: Double, within: Double = Catalogue.defaultNearby
  ) throws -> [NearbyLocation] {
    _ = try Location(latitude: latitude, longitude: longitude)
    guard within >= 0 else {
      throw SatchelError(.invalid, "within: \(within) is not a distance in metres")
    }
    return try database.query { connection in
      try PositionIndex(connection: connection).entries(around: latitude, longitude, within: within)
        .ordered { ($0.distance, $0.context) < ($1.distance, $1.context) }
        .map { NearbyLocation(location: $0.location, distance: $0.distance) }
    }
  }
}
