import SatchelCore
import SatchelStorage

/// Where photos were taken: a part of the earth.
public enum PhotoPlace: Sendable, Equatable {
  /// Between two latitudes and two longitudes, in degrees; the bounds are included. A box whose west is larger than its
  /// east crosses the antimeridian.
  case box(south: Double, west: Double, north: Double, east: Double)
  /// Within a distance of a position: degrees, and metres on the earth as a sphere of its mean radius.
  case near(latitude: Double, longitude: Double, metres: Double)

  /// - Throws: `SatchelError` (`invalid`) for what is not on the earth
  func validate() throws {
    let isPlace =
      switch self {
      case .box(let south, let west, let north, let east):
        (-90...90).contains(south) && (south...90).contains(north) && (-180...180).contains(west)
          && (-180...180).contains(east)
      case .near(let latitude, let longitude, let metres):
        (-90...90).contains(latitude) && (-180...180).contains(longitude) && (0...1e9).contains(metres)
      }
    guard isPlace else {
      throw SatchelError(
        .invalid,
        "query: \"place\" must have latitudes from -90 to 90, south not above north, longitudes from -180 to 180, and "
          + "metres from 0 to 1e9"
      ).at(subject: Change.Subject.photos.rawValue, pointer: "/place")
    }
  }

  /// The boxes that contain the place.
  var boxes: [GreatCircle.Box] {
    switch self {
    case .box(let south, let west, let north, let east) where west > east:
      [
        GreatCircle.Box(south: south, north: north, west: west, east: 180),
        GreatCircle.Box(south: south, north: north, west: -180, east: east),
      ]
    case .box(let south, let west, let north, let east):
      [GreatCircle.Box(south: south, north: north, west: west, east: east)]
    case .near(let latitude, let longitude, let metres):
      GreatCircle.boxes(around: latitude, longitude, within: metres)
    }
  }

  /// Whether a position in one of the boxes is in the place.
  func contains(latitude: Double, longitude: Double) -> Bool {
    guard case .near(let centre, let meridian, let metres) = self else { return true }
    return GreatCircle.distance(from: (centre, meridian), to: (latitude, longitude)) <= metres
  }
}

extension PhotoPlace {
  /// Reads an object: south, west, north and east, or latitude, longitude and metres.
  init(_ object: JSONReading) throws {
    func number(_ key: String) throws -> Double { try object.required(key, try object.real(key)) }
    if object.has("metres") {
      self = .near(
        latitude: try number("latitude"), longitude: try number("longitude"), metres: try number("metres"))
    } else {
      self = .box(
        south: try number("south"), west: try number("west"), north: try number("north"),
        east: try number("east"))
    }
  }

  static let keys: Set = ["south", "west", "north", "east", "latitude", "longitude", "metres"]
}
