import SatchelJSON

/// The groups in which `PhotoCatalogue.counts` counts photos.
public enum PhotoGroup: String, Sendable, CaseIterable {
  /// By the month in which they were taken, on the clock of the query.
  case month
  /// By the day, on the clock of the query.
  case day
  /// By the camera's model.
  case camera
  /// By the folder of their files on this device; a photo counts once in each folder that it is in.
  case folder
}

/// The number of photos in a group.
public struct PhotoCount: Sendable, Equatable, JSONConvertible {
  /// A month as "2024-02", a day as "2024-02-29", the model of a camera, or a folder's path relative to the catalogue's
  /// directory, "" for the directory itself. Nil for photos without a known camera.
  public var key: String?
  public var photos: Int64

  /// The count as a JSON object: key, photos.
  public var json: JSONValue { ["key": key.map { .string($0) } ?? .null, "photos": .int(photos)] }
}
