import SatchelJSON
import SatchelStorage

extension PhotoMetadata {
  /// The names of its members.
  static let keys: Set = [
    "camera_make", "camera_model", "orientation", "latitude", "longitude", "aperture", "shutter_speed", "iso",
    "focal_length", "thumbnail_cached_at", "preview_cached_at",
  ]

  /// As it crosses the C boundary; what is not known is null.
  public var json: JSONValue {
    var object = JSONObject()
    write(into: &object)
    return .object(object)
  }

  func write(into object: inout JSONObject) {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int64?) -> JSONValue { value.map { .int($0) } ?? .null }
    func real(_ value: Double?) -> JSONValue { value.map { .double($0) } ?? .null }
    object["camera_make"] = text(cameraMake)
    object["camera_model"] = text(cameraModel)
    object["orientation"] = number(orientation)
    object["latitude"] = real(latitude)
    object["longitude"] = real(longitude)
    object["aperture"] = real(aperture)
    object["shutter_speed"] = real(shutterSpeed)
    object["iso"] = number(iso)
    object["focal_length"] = real(focalLength)
    object["thumbnail_cached_at"] = number(thumbnailCachedAt)
    object["preview_cached_at"] = number(previewCachedAt)
  }

  /// Reads what `json` gave.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the key
  public init(json: JSONValue) throws {
    self.init()
    try update(JSONReading("local columns", json, keys: Self.keys))
    try validate()
  }

  /// Sets what is given; null takes a value away.
  mutating func update(_ object: JSONReading) throws {
    if object.has("camera_make") { cameraMake = try object.text("camera_make") }
    if object.has("camera_model") { cameraModel = try object.text("camera_model") }
    if object.has("orientation") { orientation = try object.number("orientation") }
    if object.has("latitude") { latitude = try object.real("latitude") }
    if object.has("longitude") { longitude = try object.real("longitude") }
    if object.has("aperture") { aperture = try object.real("aperture") }
    if object.has("shutter_speed") { shutterSpeed = try object.real("shutter_speed") }
    if object.has("iso") { iso = try object.number("iso") }
    if object.has("focal_length") { focalLength = try object.real("focal_length") }
    if object.has("thumbnail_cached_at") { thumbnailCachedAt = try object.number("thumbnail_cached_at") }
    if object.has("preview_cached_at") { previewCachedAt = try object.number("preview_cached_at") }
  }
}
