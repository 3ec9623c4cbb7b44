import SatchelCore
import SatchelJSON

/// A location as a device reports it. Every field is optional, but a location has at least one key.
///
/// The initializer derives the keys.
public struct Location: Sendable, Equatable, JSONCodable {
  /// Degrees, -90 to 90.
  public let latitude: Double?
  /// Degrees, -180 to 180.
  public let longitude: Double?
  public let sublocality: String?
  public let locality: String?
  public let adminArea: String?
  /// The ISO code, which is part of the keys; the country's name alone yields no key.
  public let countryCode: String?
  public let countryName: String?

  /// The keys of all levels that have a key, the most specific first.
  public let keys: [PlaceKey]

  /// Creates a location.
  ///
  /// - Throws: `JSONError` with a pointer such as "/latitude", for a coordinate that is not finite, out of
  ///   range or without its counterpart, and for a location that yields no key
  public init(
    latitude: Double? = nil, longitude: Double? = nil, sublocality: String? = nil, locality: String? = nil,
    adminArea: String? = nil, countryCode: String? = nil, countryName: String? = nil
  ) throws {
    try Location.check(latitude, within: 90, "latitude")
    try Location.check(longitude, within: 180, "longitude")
    if latitude == nil, longitude != nil {
      throw JSONError("the longitude has no latitude", pointer: "/latitude")
    }
    if longitude == nil, latitude != nil {
      throw JSONError("the latitude has no longitude", pointer: "/longitude")
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
      let components = Coordinate.components(latitude, longitude)
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

  /// Returns the key at a level; nil when the location has no key at that level.
  public func key(_ level: Level) -> PlaceKey? { keys.first { $0.level == level } }

  /// The most specific level that has a key; never nil for a location that was created.
  public var mostSpecificLevel: Level? { keys.first?.level }

  /// Whether its only key is that of the coordinate.
  var hasOnlyCoordinate: Bool { keys.allSatisfy { $0.level == .coordinate } }

  private static func check(_ degrees: Double?, within limit: Double, _ name: String) throws {
    guard let degrees else { return }
    guard degrees.isFinite, degrees.magnitude <= limit else {
      throw JSONError("the \(name) \(degrees) is not within ±\(Int(limit))", pointer: "/\(name)")
    }
  }
}

extension Location {
  /// Creates a location from an object with latitude, longitude, sublocality, locality, admin_area,
  /// country_code and country_name. Null is equivalent to a missing key; other keys are ignored.
  ///
  /// - Throws: `JSONError` with a pointer such as "/latitude".
  public init(json: JSONValue) throws {
    let members = try MemberReader("a location", json)
    try self.init(
      latitude: members.number("latitude"), longitude: members.number("longitude"),
      sublocality: members.string("sublocality"), locality: members.string("locality"),
      adminArea: members.string("admin_area"), countryCode: members.string("country_code"),
      countryName: members.string("country_name"))
  }

  /// The location as a JSON object, without the keys of fields that are nil.
  public var json: JSONValue {
    var object = JSONObject()
    object["latitude"] = latitude.map(JSONValue.double)
    object["longitude"] = longitude.map(JSONValue.double)
    object["sublocality"] = sublocality.map(JSONValue.string)
    object["locality"] = locality.map(JSONValue.string)
    object["admin_area"] = adminArea.map(JSONValue.string)
    object["country_code"] = countryCode.map(JSONValue.string)
    object["country_name"] = countryName.map(JSONValue.string)
    return .object(object)
  }
}

/// The key of a place at one level.
public struct PlaceKey: Hashable, Sendable {
  /// The level at which it identifies the place.
  public let level: Level
  /// The text for display and lookup, such as "cn_shanghai". Different places can have the same text.
  public let text: String
  /// The unique identity of the place: the level's name and the components, joined by U+001F, which no
  /// component can contain.
  public let identity: String

  init(level: Level, components: [String]) {
    self.level = level
    text = components.joined(separator: "_")
    identity = ([level.name] + components).joined(separator: "\u{1F}")
  }

  public static func == (left: PlaceKey, right: PlaceKey) -> Bool { left.identity == right.identity }

  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// A latitude or longitude rounded to four decimals, about eleven metres, for use in a key.
struct Coordinate: Equatable, Sendable {
  /// The value in ten-thousandths of a degree.
  let units: Int

  /// - Parameter degrees: finite and within ±180, which `Location` checks
  init(degrees: Double) {
    let magnitude = min(degrees.magnitude, 360)
    let product = magnitude * 10_000
    let whole = product.rounded(.down)
    // The rounding error of the multiplication decides when the product appears to be exactly one half.
    let lost = (-product).addingProduct(magnitude, 10_000)
    let fraction = product - whole
    let rounded = Int(whole) + (fraction > 0.5 || (fraction == 0.5 && lost >= 0) ? 1 : 0)
    units = degrees < 0 ? -rounded : rounded
  }

  /// Returns the texts of a position. A position has one pair of them: the antimeridian is 180 degrees, and the
  /// longitude of a pole 0.
  static func components(_ latitude: Double, _ longitude: Double) -> [String] {
    let (parallel, meridian) = (Coordinate(degrees: latitude), Coordinate(degrees: longitude))
    let isPole = parallel.units.magnitude == 900_000
    let east = meridian.units == -1_800_000 ? Coordinate(degrees: 180) : meridian
    return [parallel.text, isPole ? Coordinate(degrees: 0).text : east.text]
  }

  /// The shortest decimal text with at least one digit after the point: "31.2305", "10.0", "-0.1"; never
  /// "-0.0".
  var text: String {
    var digits = String(units.magnitude % 10_000)
    digits = String(repeating: "0", count: 4 - digits.utf8.count) + digits
    while digits.utf8.count > 1, digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
    return (units < 0 ? "-" : "") + String(units.magnitude / 10_000) + "." + digits
  }
}
