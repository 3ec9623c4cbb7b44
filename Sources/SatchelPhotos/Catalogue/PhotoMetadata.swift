import SatchelStorage

/// What is known of a photo on this device only. It is never uploaded, and survives whatever is imported.
public struct PhotoMetadata: Sendable, Equatable {
  public var cameraMake: String?
  public var cameraModel: String?
  /// Of EXIF: 1 to 8.
  public var orientation: Int64?
  /// Degrees, north positive.
  public var latitude: Double?
  /// Degrees, east positive.
  public var longitude: Double?
  /// The f-number.
  public var aperture: Double?
  /// Seconds.
  public var shutterSpeed: Double?
  public var iso: Int64?
  /// Millimetres.
  public var focalLength: Double?
  /// When a thumbnail was last made: Unix milliseconds.
  public var thumbnailCachedAt: Int64?
  /// When a preview was last made: Unix milliseconds.
  public var previewCachedAt: Int64?

  public init() {}

  /// - Throws: `SatchelError` (`invalid`) that names the column
  public func validate() throws {
    func check(_ name: String, _ value: Double?, _ range: ClosedRange<Double>) throws {
      guard let value, !value.isFinite || !range.contains(value) else { return }
      throw SatchelError(.invalid, "\(name): \(value) is not from \(range.lowerBound) to \(range.upperBound)")
    }
    try check("latitude", latitude, -90...90)
    try check("longitude", longitude, -180...180)
    for (name, value) in [
      ("aperture", aperture), ("shutter_speed", shutterSpeed), ("focal_length", focalLength),
    ] {
      try check(name, value, 0...Double.greatestFiniteMagnitude)
    }
    if let orientation, !(1...8).contains(orientation) {
      throw SatchelError(.invalid, "orientation: \(orientation) is not from 1 to 8")
    }
    if let iso, iso < 0 { throw SatchelError(.invalid, "iso: \(iso) is less than nothing") }
  }
}
