import SatchelCore
import SatchelJSON

/// The result of a scan. Each photo's file is counted in one of `added`, `changed`, `unchanged`, `returned`,
/// `hidden`, `duplicatesCount` or `skippedCount`. A list has at most `maxListed` elements; its count includes all.
public struct ScanReport: Sendable, Equatable, JSONConvertible {
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

  /// Counts of the files of a format that were read.
  public struct FormatCount: Sendable, Equatable {
    public var files: Int64 = 0
    /// Files with a date in them; that of the others is from elsewhere.
    public var dated: Int64 = 0
    /// Files whose size in pixels is known.
    public var sized: Int64 = 0

    package init() {}
  }

  /// New photos.
  public var added: Int64 = 0
  /// Photos with another name, another time or other bytes than at the last scan.
  public var changed: Int64 = 0
  /// Photos that did not change since the last scan.
  public var unchanged: Int64 = 0
  /// Photos whose rows had gone though their files are here, and are there again.
  public var returned: Int64 = 0
  /// Files of photos that were deleted on this device.
  public var hidden: Int64 = 0
  /// Films: of their own, or those of live photos.
  public var films: Int64 = 0
  /// Files that programs and cameras keep beside photos.
  public var sidecars: Int64 = 0
  /// The numbers of files that no scan reads, by the extensions of their names.
  public var others: [String: Int64] = [:]
  /// Files and directories that rules have left out.
  public var excluded: Int64 = 0
  /// Files with the same bytes as an earlier file in the order of paths.
  public var duplicates: [Duplicate] = []
  public var duplicatesCount: Int64 = 0
  /// Paths of photos without any remaining file. They are reported by each scan, until they are removed.
  public var missing: [String] = []
  public var missingCount: Int64 = 0
  /// Photos that were deleted from the catalogue, as the options requested.
  public var removed: Int64 = 0
  public var bytesRead: Int64 = 0
  /// The skipped files: links, directories and files that cannot be read, files that changed while they were
  /// read.
  public var skipped: [Remark] = []
  public var skippedCount: Int64 = 0
  /// The number of skipped links, which are never followed.
  public var skippedLinksCount: Int64 = 0
  /// Photos that were added, although parts of them could not be read.
  public var remarks: [Remark] = []
  public var remarksCount: Int64 = 0
  /// The number of files that were read, by the source of their dates.
  public var dateSources: [PhotoDateSource: Int64] = [:]
  /// The files that were read, by their format. Those of formats that are not read are under the suffix of their names.
  public var formats: [String: FormatCount] = [:]
  /// Missing libraries, without which some dates are unknown.
  public var missingLibraries: [String] = []
  /// Whether the caller cancelled. Photos read before are kept; missing files were not searched for.
  public var isCancelled = false

  package init() {}

  /// Counts what a walk has found beside photos.
  mutating func countFound(_ found: PhotoFindings) {
    (others, excluded) = (found.others, found.excluded)
    for (_, kind) in found.companions {
      if kind == .film { films += 1 } else { sidecars += 1 }
    }
  }

  mutating func skip(_ path: String, _ reason: String) {
    skippedCount += 1
    if reason == OpenFile.Fault.link.reason { skippedLinksCount += 1 }
    if skipped.count < Self.maxListed { skipped.append(Remark(path: path, reason: reason)) }
  }

  mutating func remark(_ path: String, _ reason: String) {
    remarksCount += 1
    if remarks.count < Self.maxListed { remarks.append(Remark(path: path, reason: reason)) }
  }

  mutating func addMissing(_ path: String) {
    missingCount += 1
    if missing.count < Self.maxListed { missing.append(path) }
  }

  mutating func addDuplicate(_ duplicate: @autoclosure () -> Duplicate) {
    duplicatesCount += 1
    if duplicates.count < Self.maxListed { duplicates.append(duplicate()) }
  }

  /// Counts a file that was read.
  mutating func addRead(_ facts: ImageFacts, named name: String) {
    let source = facts.dateSource ?? .file
    dateSources[source, default: 0] += 1
    let isRead = facts.format != .other
    let format =
      isRead ? facts.format.rawValue : String(decoding: FileName.suffix(Array(name.utf8)), as: UTF8.self)
    formats[format, default: FormatCount()].files += 1
    if source.isInFile { formats[format]?.dated += 1 }
    if facts.width != nil { formats[format]?.sized += 1 }
    guard let library = facts.missingLibrary, !missingLibraries.contains(library) else { return }
    missingLibraries.append(library)
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    func list(_ remarks: [Remark]) -> JSONValue {
      .array(remarks.map { ["path": .string($0.path), "reason": .string($0.reason)] })
    }
    var sources = JSONObject()
    for source in PhotoDateSource.allCases { sources[source.rawValue] = .int(dateSources[source] ?? 0) }
    var others = JSONObject()
    for (suffix, count) in self.others.ordered(by: { $0.key < $1.key }) { others[suffix] = .int(count) }
    var formats = JSONObject()
    for (format, count) in self.formats.ordered(by: { $0.key < $1.key }) {
      formats[format] = [
        "files": .int(count.files), "dated": .int(count.dated), "sized": .int(count.sized),
      ]
    }
    let duplicates = duplicates.map { file -> JSONValue in
      ["path": .string(file.path), "first": .string(file.first), "md5": .string(file.md5.description)]
    }
    return [
      "added": .int(added), "changed": .int(changed), "unchanged": .int(unchanged),
      "returned": .int(returned), "hidden": .int(hidden), "films": .int(films), "sidecars": .int(sidecars),
      "others": .object(others), "excluded": .int(excluded),
      "duplicates": .array(duplicates), "duplicates_count": .int(duplicatesCount),
      "missing": .array(missing.map { .string($0) }), "missing_count": .int(missingCount),
      "removed": .int(removed), "bytes_read": .int(bytesRead), "skipped": list(skipped),
      "skipped_count": .int(skippedCount), "skipped_links_count": .int(skippedLinksCount),
      "remarks": list(remarks), "remarks_count": .int(remarksCount), "date_sources": .object(sources),
      "formats": .object(formats),
      "missing_libraries": .array(missingLibraries.map { .string($0) }), "cancelled": .bool(isCancelled),
    ]
  }
}
