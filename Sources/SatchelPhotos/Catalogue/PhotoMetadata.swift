import SatchelCore
import SatchelJSON
import SatchelStorage

/// The local-only columns of a photo. They are never uploaded, and imports leave them unchanged.
public struct PhotoMetadata: Sendable, Equatable {
  public var cameraMake: String?
  public var cameraModel: String?
  /// The EXIF orientation: 1 to 8.
  public var orientation: Int64?
  /// Degrees, positive in the north.
  public var latitude: Double?
  /// Degrees, positive in the east.
  public var longitude: Double?
  /// The f-number.
  public var aperture: Double?
  /// The exposure time in seconds, as a fraction or a decimal number: "1/200", "2.5".
  public var shutterSpeed: String?
  public var iso: Int64?
  /// Millimetres.
  public var focalLength: Double?
  /// The offset of the time on the wall where the photo was taken: seconds east of UTC.
  public var utcOffset: Int64?
  /// When a thumbnail was last cached: Unix milliseconds.
  public var thumbnailCachedAt: Int64?
  /// When a preview was last cached: Unix milliseconds.
  public var previewCachedAt: Int64?

  public init() {}

  /// - Throws: `SatchelError` (`invalid`) that names the column
  package func validate() throws {
    func check(_ name: String, _ value: Double?, in range: ClosedRange<Double>) throws {
      guard let value, !value.isFinite || !range.contains(value) else { return }
      throw SatchelError(.invalid, "\(name): \(value) is not from \(range.lowerBound) to \(range.upperBound)")
    }
    try check("latitude", latitude, in: -90...90)
    try check("longitude", longitude, in: -180...180)
    for (name, value) in [
      ("aperture", aperture), ("focal_length", focalLength),
    ] {
      try check(name, value, in: 0...Double.greatestFiniteMagnitude)
    }
    if let shutterSpeed, !ShutterSpeed.isValid(shutterSpeed) {
      throw SatchelError(
        .invalid,
        "shutter_speed: \"\(shutterSpeed.prefix(32))\" is not a time in seconds, such as \"1/200\" or \"2.5\""
      )
    }
    if let utcOffset, !(-86_400...86_400).contains(utcOffset) {
      throw SatchelError(.invalid, "utc_offset: \(utcOffset) is not from -86400 to 86400 seconds")
    }
    if let orientation, !(1...8).contains(orientation) {
      throw SatchelError(.invalid, "orientation: \(orientation) is not from 1 to 8")
    }
    if let iso, iso < 0 { throw SatchelError(.invalid, "iso: \(iso) must not be negative") }
  }
}

extension PhotoMetadata: JSONConvertible {
  /// The names of the JSON members.
  static let keys: Set = [
    "camera_make", "camera_model", "orientation", "latitude", "longitude", "aperture", "shutter_speed", "iso",
    "focal_length", "utc_offset", "thumbnail_cached_at", "preview_cached_at",
  ]

  /// The metadata as a JSON object; unknown values are null.
  public var json: JSONValue {
    var members = JSONMemberList()
    add(to: &members)
    return members.json
  }

  func add(to members: inout some (JSONMemberSink & ~Copyable)) {
    members.add("camera_make", cameraMake)
    members.add("camera_model", cameraModel)
    members.add("orientation", orientation)
    members.add("latitude", latitude)
    members.add("longitude", longitude)
    members.add("aperture", aperture)
    members.add("shutter_speed", shutterSpeed)
    members.add("iso", iso)
    members.add("focal_length", focalLength)
    members.add("utc_offset", utcOffset)
    members.add("thumbnail_cached_at", thumbnailCachedAt)
    members.add("preview_cached_at", previewCachedAt)
  }

  /// Reads an object that `json` wrote.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the key
  package init(json: JSONValue) throws {
    self.init()
    try update(JSONReading("local columns", json, keys: Self.keys))
    try validate()
  }

  /// Sets the members that are given; null removes a value.
  mutating func update(_ object: JSONReading) throws {
    if object.has("camera_make") { cameraMake = try object.string("camera_make") }
    if object.has("camera_model") { cameraModel = try object.string("camera_model") }
    if object.has("orientation") { orientation = try object.integer("orientation") }
    if object.has("latitude") { latitude = try object.real("latitude") }
    if object.has("longitude") { longitude = try object.real("longitude") }
    if object.has("aperture") { aperture = try object.real("aperture") }
    if object.has("shutter_speed") { shutterSpeed = try Self.shutterSpeed(object) }
    if object.has("iso") { iso = try object.integer("iso") }
    if object.has("focal_length") { focalLength = try object.real("focal_length") }
    if object.has("utc_offset") { utcOffset = try object.integer("utc_offset") }
    if object.has("thumbnail_cached_at") { thumbnailCachedAt = try object.integer("thumbnail_cached_at") }
    if object.has("preview_cached_at") { previewCachedAt = try object.integer("preview_cached_at") }
  }

  /// A string, or a number of seconds.
  private static func shutterSpeed(_ object: JSONReading) throws -> String? {
    guard object.isNumber("shutter_speed") else { return try object.string("shutter_speed") }
    guard let seconds = try object.real("shutter_speed") else { return nil }
    guard let text = ShutterSpeed.text(exactly: seconds) else {
      throw object.fault("shutter_speed", "must be from 0.000001 to 10000000 seconds, is \(seconds)")
    }
    return text
  }
}
