import SatchelJSON

/// A place as a person's device names it; every field may be missing, but it yields at least one key.
///
/// Its keys are derived once, when it is made.
public struct Location: Sendable, Equatable {
  /// Degrees, -90 to 90.
  public let latitude: Double?
  /// Degrees, -180 to 180.
  public let longitude: Double?
  public let sublocality: String?
  public let locality: String?
  public let adminArea: String?
  /// The code makes keys; the country's name alone makes none.
  public let countryCode: String?
  public let countryName: String?

  /// The keys of all levels that have one, the most specific first.
  public let keys: [PlaceKey]

  /// Makes a location.
  ///
  /// - Throws: `JSONError` with a pointer such as "/latitude" for coordinates that are not finite, out of range or
  ///   without their pair, and for a location that yields no key.
  public init(
    latitude: Double? = nil, longitude: Double? = nil, sublocality: String? = nil, locality: String? = nil,
    adminArea: String? = nil, countryCode: String? = nil, countryName: String? = nil
  ) throws {
    try Location.check(latitude, within: 90, "latitude")
    try Location.check(longitude, within: 180, "longitude")
    if latitude == nil, longitude != nil {
      throw JSONError("a longitude needs a latitude", pointer: "/latitude")
    }
    if longitude == nil, latitude != nil {
      throw JSONError("a latitude needs a longitude", pointer: "/longitude")
    }
    self.latitude = latitude
    self.longitude = longitude
    self.sublocality = sublocality
    self.locality = locality
    self.adminArea = adminArea
    self.countryCode = countryCode
    self.countryName = countryName

    var keys: [PlaceKey] = []
    if let latitude, let longitude {
      let components = [Coordinate(degrees: latitude).text, Coordinate(degrees: longitude).text]
      keys.append(PlaceKey(level: .coordinate, components: components))
    }
    if let country = countryCode.flatMap(PlaceText.normalize) {
      let area = adminArea.flatMap(PlaceText.normalize)
      let town = locality.flatMap(PlaceText.normalize)
      if let part = sublocality.flatMap(PlaceText.normalize) {
        keys.append(PlaceKey(level: .sublocality, components: [country, area ?? "", town ?? "", part]))
      }
      if let town { keys.append(PlaceKey(level: .locality, components: [country, area ?? "", town])) }
      if let area { keys.append(PlaceKey(level: .adminarea, components: [country, area])) }
      keys.append(PlaceKey(level: .country, components: [country]))
    }
    guard !keys.isEmpty else {
      throw JSONError("the location yields no key: no coordinates and no country code", pointer: "")
    }
    self.keys = keys
  }

  /// The key at a level; nil when the location has none there.
  public func key(_ level: Level) -> PlaceKey? { keys.first { $0.level == level } }

  /// The most specific level that has a key. A location always has one.
  public var mostSpecificLevel: Level? { keys.first?.level }

  private static func check(_ degrees: Double?, within limit: Double, _ name: String) throws {
    guard let degrees else { return }
    guard degrees.isFinite, degrees.magnitude <= limit else {
      throw JSONError("the \(name) \(degrees) is not within ±\(Int(limit))", pointer: "/\(name)")
    }
  }
}
