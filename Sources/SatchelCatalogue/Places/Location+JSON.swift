import SatchelJSON

extension Location {
  /// Reads a location: an object with latitude, longitude, sublocality, locality, admin_area, country_code and
  /// country_name. Null counts as absent; other keys are ignored.
  ///
  /// - Throws: `JSONError` with a pointer such as "/latitude".
  public init(json: JSONValue) throws {
    guard case .object(let object) = json else {
      throw JSONError("a location is an object, not \(json.kind)", pointer: "")
    }
    try self.init(
      latitude: Location.number("latitude", of: object), longitude: Location.number("longitude", of: object),
      sublocality: Location.text("sublocality", of: object), locality: Location.text("locality", of: object),
      adminArea: Location.text("admin_area", of: object),
      countryCode: Location.text("country_code", of: object),
      countryName: Location.text("country_name", of: object))
  }

  /// The location as an object; what is missing is absent.
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

  private static func number(_ key: String, of object: JSONObject) throws -> Double? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let number = value.doubleValue else {
      throw JSONError("\"\(key)\" is \(value.kind), not a number", pointer: "/\(key)")
    }
    return number
  }

  private static func text(_ key: String, of object: JSONObject) throws -> String? {
    guard let value = object[key], !value.isNull else { return nil }
    guard case .string(let text) = value else {
      throw JSONError("\"\(key)\" is \(value.kind), not a string", pointer: "/\(key)")
    }
    return text
  }
}
