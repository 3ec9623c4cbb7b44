import SatchelJSON

/// How far a scan has come. Told several times a second, also while a large file is read.
public struct ScanProgress: Sendable, Equatable {
  /// What it does.
  public enum Phase: String, Sendable {
    /// Looks for files.
    case walking
    /// Reads those that are new or changed.
    case reading
  }

  public var phase: Phase
  /// Photos found, whether they are read or not.
  public var filesFound: Int64
  /// Files that were read, or could not be.
  public var filesDone: Int64 = 0
  /// Files to read; nil while walking.
  public var filesTotal: Int64?
  /// Bytes that were read.
  public var bytesDone: Int64 = 0
  /// Bytes to read; nil while walking.
  public var bytesTotal: Int64?

  /// As it crosses the C boundary.
  package var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "files_found": .int(filesFound), "files_done": .int(filesDone),
      "files_total": filesTotal.map { .int($0) } ?? .null, "bytes_done": .int(bytesDone),
      "bytes_total": bytesTotal.map { .int($0) } ?? .null,
    ]
  }
}
