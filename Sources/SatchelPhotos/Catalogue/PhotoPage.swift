import SatchelJSON

/// Some of the photos that a query found.
public struct PhotoPage: Sendable, Equatable {
  public var photos: [PhotoDetails]
  /// For `PhotoQuery.cursor`; nil when there are no more. A photo that comes or goes between two pages neither
  /// hides nor doubles another one.
  public var next: String?

  /// As it crosses the C boundary: photos, next.
  public var json: JSONValue {
    ["photos": .array(photos.map(\.json)), "next": next.map { .string($0) } ?? .null]
  }
}
