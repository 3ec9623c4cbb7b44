import SatchelJSON

/// What a scan found. Each file that was looked at is one of `added`, `changed`, `unchanged`, `duplicates` or
/// `skippedCount`.
public struct ScanReport: Sendable, Equatable {
  /// How many entries of each list are kept; the counts are of all.
  public static let listed = 1000

  /// A file or directory, and what is to be said of it.
  public struct Remark: Sendable, Equatable {
    /// Relative to the catalogue's directory; a name that is not UTF-8 is mended.
    public var path: String
    public var reason: String
  }

  /// A file whose bytes another file has as well.
  public struct Duplicate: Sendable, Equatable {
    public var path: String
    /// The first file, in the order of paths: the one that the photo is named after.
    public var first: String
    public var md5: MD5
  }

  /// Photos that no scan had seen.
  public var added: Int64 = 0
  /// Photos with another name, another time or other bytes than at the last scan.
  public var changed: Int64 = 0
  /// Photos as they were at the last scan.
  public var unchanged: Int64 = 0
  /// Files with the bytes of a file before them.
  public var duplicates: Int64 = 0
  public var duplicateFiles: [Duplicate] = []
  /// Files whose photos have no file any more. They are told at each scan, until they are removed.
  public var missing: Int64 = 0
  /// Paths of the missing.
  public var missingFiles: [String] = []
  /// Photos that were deleted from the catalogue, because the options asked for it.
  public var removed: Int64 = 0
  public var bytesRead: Int64 = 0
  /// What was not taken: links, directories and files that cannot be read, files that changed meanwhile.
  public var skipped: [Remark] = []
  public var skippedCount: Int64 = 0
  /// How many of those are links, which are never followed.
  public var skippedLinks: Int64 = 0
  /// Photos that were taken, though something of them could not be read.
  public var remarks: [Remark] = []
  public var remarksCount: Int64 = 0
  /// Libraries that are not there, without which sizes and camera data of new photos stay unknown.
  public var missingLibraries: [String] = []
  /// Whether the caller gave up. What was read until then is kept; missing files were not looked for.
  public var isCancelled = false

  public init() {}

  mutating func skip(_ path: String, _ reason: String) {
    skippedCount += 1
    if reason == OpenFile.Fault.link.reason { skippedLinks += 1 }
    if skipped.count < Self.listed { skipped.append(Remark(path: path, reason: reason)) }
  }

  mutating func remark(_ path: String, _ reason: String) {
    remarksCount += 1
    if remarks.count < Self.listed { remarks.append(Remark(path: path, reason: reason)) }
  }

  mutating func tellMissing(_ path: String) {
    missing += 1
    if missingFiles.count < Self.listed { missingFiles.append(path) }
  }

  /// As it crosses the C boundary.
  package var json: JSONValue {
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
