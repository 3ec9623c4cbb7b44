import SatchelJSON

/// Options of a scan.
public struct ScanOptions: Sendable, Equatable {
  /// The zone of dates that name none. The default is UTC, so that a photo has the same date wherever it is
  /// scanned.
  public var timeZone: PhotoTimeZone
  /// Whether photos are deleted from the catalogue when none of their files is left; the next sync deletes
  /// them from the remote, too. Photos in directories that could not be read are kept.
  public var deleteMissing: Bool
  /// Whether files that look unchanged are read again.
  public var forceRehash: Bool
  /// The number of files that are read at the same time: 1 to 16.
  public var parallel: Int
  /// Rules for files and directories that are left out, one a line, as in a file `.satchelignore` of the
  /// catalogue's directory.
  public var exclude: String
  /// Whether a scan may delete more than a half of the photos, if these are more than 100, and may scan an
  /// empty directory where an earlier scan has found photos.
  public var allowMassDeletion: Bool
  /// Whether only dates in the photo's file are used, and the file's time; not those of sidecars, of the JSON files of
  /// Google Takeout, and of names.
  public var embeddedDatesOnly: Bool

  /// - Parameter parallel: clamped to the range
  public init(
    timeZone: PhotoTimeZone = .utc, deleteMissing: Bool = false, forceRehash: Bool = false, parallel: Int = 2,
    exclude: String = "", allowMassDeletion: Bool = false,
    embeddedDatesOnly: Bool = false
  ) {
    self.exclude = exclude
    self.allowMassDeletion = allowMassDeletion
    self.timeZone = timeZone
    self.deleteMissing = deleteMissing
    self.forceRehash = forceRehash
    self.parallel = min(max(parallel, 1), 16)
    self.embeddedDatesOnly = embeddedDatesOnly
  }
}

/// The progress of a scan, reported several times a second, also while a large file is read.
public struct ScanProgress: Sendable, Equatable, JSONConvertible {
  /// The phase of a scan.
  public enum Phase: String, Sendable {
    /// Finding files.
    case walking
    /// Reading files that are new or changed.
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

  /// The progress as a JSON object.
  public var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "files_found": .int(filesFound), "files_done": .int(filesDone),
      "files_total": filesTotal.map { .int($0) } ?? .null, "bytes_done": .int(bytesDone),
      "bytes_total": bytesTotal.map { .int($0) } ?? .null,
    ]
  }
}
