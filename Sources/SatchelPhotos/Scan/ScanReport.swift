import SatchelJSON

/// The result of a scan. Each file is counted in one of `added`, `changed`, `unchanged`, `duplicates` or
/// `skippedCount`.
public struct ScanReport: Sendable, Equatable, JSONConvertible {
  /// The most entries in each list; the counts include all.
  public static let maxListed = 1000

  /// A file or directory, and a reason.
  public struct Remark: Sendable, Equatable {
    /// The path relative to the catalogue's directory; bytes that are not UTF-8 are replaced.
    public var path: String
    public var reason: String
  }

  /// A file with the same bytes as another file.
  public struct Duplicate: Sendable, Equatable {
    public var path: String
    /// The first file, in the order of paths, which gives the photo its name.
    public var first: String
    public var md5: MD5
  }

  /// New photos.
  public var added: Int64 = 0
  /// Photos with another name, another time or other bytes than at the last scan.
  public var changed: Int64 = 0
  /// Photos that did not change since the last scan.
  public var unchanged: Int64 = 0
  /// Files with the same bytes as an earlier file in the order of paths.
  public var duplicates: Int64 = 0
  public var duplicateFiles: [Duplicate] = []
  /// Photos whose files are all gone. They are reported by each scan, until they are removed.
  public var missing: Int64 = 0
  /// Paths of the missing files.
  public var missingFiles: [String] = []
  /// Photos that were deleted from the catalogue, as the options requested.
  public var removed: Int64 = 0
  public var bytesRead: Int64 = 0
  /// What was skipped: links, directories and files that cannot be read, files that changed while they were
  /// read.
  public var skipped: [Remark] = []
  public var skippedCount: Int64 = 0
  /// How many of the skipped are links, which are never followed.
  public var skippedLinks: Int64 = 0
  /// Photos that were added, although parts of them could not be read.
  public var remarks: [Remark] = []
  public var remarksCount: Int64 = 0
  /// Missing libraries, without which sizes and camera data of new photos are unknown.
  public var missingLibraries: [String] = []
  /// Whether the caller cancelled. What was read before is kept; missing files were not looked for.
  public var isCancelled = false

  package init() {}

  mutating func skip(_ path: String, _ reason: String) {
    skippedCount += 1
    if reason == OpenFile.Fault.link.reason { skippedLinks += 1 }
    if skipped.count < Self.maxListed { skipped.append(Remark(path: path, reason: reason)) }
  }

  mutating func remark(_ path: String, _ reason: String) {
    remarksCount += 1
    if remarks.count < Self.maxListed { remarks.append(Remark(path: path, reason: reason)) }
  }

  mutating func addMissing(_ path: String) {
    missing += 1
    if missingFiles.count < Self.maxListed { missingFiles.append(path) }
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    func list(_ remarks: [Remark]) -> JSONValue {
      .array(remarks.map { ["path": .string($0.path), "reason": .string($0.reason)] })
    }
    let duplicateFiles = duplicateFiles.map { file -> JSONValue in
      ["path": .string(file.path), "first": .string(file.first), "md5": .string(file.md5.description)]
    }
    return [
      "added": .int(added), "changed": .int(changed), "unchanged": .int(unchanged),
      "duplicates": .int(duplicates), "duplicate_files": .array(duplicateFiles), "missing": .int(missing),
      "missing_files": .array(missingFiles.map { .string($0) }), "removed": .int(removed),
      "bytes_read": .int(bytesRead), "skipped": list(skipped), "skipped_count": .int(skippedCount),
      "skipped_links": .int(skippedLinks),
      "remarks": list(remarks), "remarks_count": .int(remarksCount),
      "missing_libraries": .array(missingLibraries.map { .string($0) }), "cancelled": .bool(isCancelled),
    ]
  }
}
