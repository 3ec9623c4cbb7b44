import SatchelJSON

/// What became of the files of a directory that a catalogue was written to.
public struct ExportReport: Sendable, Equatable {
  /// Photos in the files.
  public var photos: Int64 = 0
  /// Names of files that were written.
  public var written: [String] = []
  /// Names of files that were as they should be.
  public var unchanged: [String] = []

  mutating func add(_ file: String, isNew: Bool) {
    if isNew { written.append(file) } else { unchanged.append(file) }
  }

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "photos": .int(photos), "written": .array(written.map { .string($0) }),
      "unchanged": .array(unchanged.map { .string($0) }),
    ]
  }
}
