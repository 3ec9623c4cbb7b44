import SatchelJSON

/// A backup that was made.
public struct BackupReport: Equatable, Sendable {
  /// Where it is.
  public var path: String
  /// Pages that were copied.
  public var pages: Int
  /// Its size.
  public var bytes: Int64
  /// How long it took.
  public var milliseconds: Int64
  /// Older backups that went to make room for it, by their paths.
  public var removed: [String] = []

  package var json: JSONValue {
    [
      "path": .string(path), "pages": .int(Int64(pages)), "bytes": .int(bytes),
      "milliseconds": .int(milliseconds), "removed": .array(removed.map { .string($0) }),
    ]
  }
}

/// Hears how far a copy has come, in pages done and in all; false stops it.
public typealias BackupProgress = (_ done: Int, _ total: Int) -> Bool
