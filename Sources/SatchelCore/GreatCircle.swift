/// Distances on the earth, as a sphere of its mean radius: at most 0.6 % from those on the ellipsoid.
package enum GreatCircle {
  /// In metres.
  package static let radius = 6_371_008.8

  /// Returns the distance of two positions in metres, by the haversine formula.
  package static func distance(
    from one: (latitude: Double, longitude: Double), to other: (latitude: Double, longitude: Double)
  ) -> Double {
    let radians = Double.pi / 180
    let (sine, otherSine) = (
      sin((other.latitude - one.latitude) * radians / 2), sin((other.longitude - one.longitude) * radians / 2)
    )
    let square =
      sine * sine + cos(one.latitude * radians) * cos(other.latitude * radians) * otherSine * otherSine
    // Rounding can exceed 1 for antipodes.
    return 2 * radius * atan2(square.squareRoot(), max(0, 1 - square).squareRoot())
  }

  /// A range of latitudes and longitudes, in degrees.
  package struct Box: Equatable {
    package var south = -90.0
    package var north = 90.0
    package var west = -180.0
    package var east = 180.0

    package init(south: Double = -90, north: Double = 90, west: Double = -180, east: Double = 180) {
      (self.south, self.north, self.west, self.east) = (south, north, west, east)
    }
  }

  /// Returns boxes that contain every position within a distance: two where the antimeridian divides them.
  package static func boxes(around latitude: Double, _ longitude: Double, within metres: Double) -> [Box] {
    // The R*Tree stores 32-bit numbers, rounded outwards; this covers the rounding of the bounds.
    let margin = 1e-6
    let angle = metres / radius
    guard angle < .pi else { return [Box()] }
    let degrees = angle * 180 / .pi + margin
    let (south, north) = (latitude - degrees, latitude + degrees)
    guard south > -90, north < 90 else {
      // A pole is within the distance: all longitudes are.
      return [Box(south: max(-90, south), north: min(90, north))]
    }
    let width = asin(min(1, sin(angle) / cos(latitude * .pi / 180))) * 180 / .pi + margin
    let (west, east) = (longitude - width, longitude + width)
    if west < -180 {
      return [
        Box(south: south, north: north, west: -180, east: east),
        Box(south: south, north: north, west: west + 360, east: 180),
      ]
    }
    if east > 180 {
      return [
        Box(south: south, north: north, west: west, east: 180),
        Box(south: south, north: north, west: -180, east: east - 360),
      ]
    }
    return [Box(south: south, north: north, west: west, east: east)]
  }
}
