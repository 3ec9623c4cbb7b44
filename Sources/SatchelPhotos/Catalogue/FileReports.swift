import SatchelCore
import SatchelJSON
import SatchelStorage

/// The result of importing a shard's file.
public struct ImportReport: Sendable, Equatable, JSONConvertible {
  /// Photos in the file.
  public var photos: Int64
  /// Lines that were rejected. All but duplicates stay in the shard.
  public var rejected: [RejectedRow]
  /// Local changes that the file overwrote; they are in the conflict log.
  public var conflicts: Int

  package init(photos: Int64, rejected: [RejectedRow], conflicts: Int) {
    self.photos = photos
    self.rejected = rejected
    self.conflicts = conflicts
  }

  /// The report as a JSON object: photos, rejected, conflicts.
  public var json: JSONValue {
    ["photos": .int(photos), "rejected": .array(rejected.map(\.json)), "conflicts": .int(Int64(conflicts))]
  }
}

/// The result of importing a directory.
public struct DirectoryReport: Sendable, JSONConvertible {
  /// Photos in the files.
  public var photos: Int64 = 0
  /// Lines that were rejected, by shard. All but duplicates stay in their shards.
  public var rejected: [Shard.Index: [RejectedRow]] = [:]
  /// Local changes that files overwrote; they are in the conflict log.
  public var conflicts = 0
  /// Shards whose content changed.
  public var changed: [Shard.Index] = []
  /// Shards without a file; they are unchanged.
  public var missing: [Shard.Index] = []
  /// Whether the directory has a manifest.json. Without one, truncated files cannot be detected.
  public var hasManifest = false
  /// Shards whose file could not be read, or differs from the manifest; they are unchanged.
  public var failed: [ShardFailure] = []

  /// The report as a JSON object.
  public var json: JSONValue {
    let rows = rejected.ordered { $0.key < $1.key }.flatMap { shard, rows in rows.map { $0.json(in: shard) } }
    func numbers(_ shards: [Shard.Index]) -> JSONValue { .array(shards.map { .int(Int64($0.number)) }) }
    return [
      "photos": .int(photos), "rejected": .array(rows), "conflicts": .int(Int64(conflicts)),
      "changed": numbers(changed), "missing": numbers(missing), "has_manifest": .bool(hasManifest),
      "failed": .array(failed.map(\.json)),
    ]
  }
}

/// The result of exporting a catalogue to a directory.
public struct ExportReport: Sendable, Equatable, JSONConvertible {
  /// Photos in the files.
  public var photos: Int64 = 0
  /// Names of the files that were written.
  public var written: [String] = []
  /// Names of the files that already had the right content.
  public var unchanged: [String] = []

  mutating func add(_ file: String, isNew: Bool) {
    if isNew { written.append(file) } else { unchanged.append(file) }
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    [
      "photos": .int(photos), "written": .array(written.map { .string($0) }),
      "unchanged": .array(unchanged.map { .string($0) }),
    ]
  }
}

/// A shard that failed while the others continued, and the error.
public struct ShardFailure: Sendable, JSONConvertible {
  public var shard: Shard.Index
  public var error: SatchelError

  /// The failure as a JSON object; `code` is the number of a `satchel_status`.
  public var json: JSONValue {
    [
      "shard": .int(Int64(shard.number)), "code": .int(Int64(error.code.rawValue)),
      "message": .string(error.message),
    ]
  }
}
