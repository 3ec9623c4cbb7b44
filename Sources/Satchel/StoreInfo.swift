import SatchelJSON
import SatchelStorage

/// Properties of a store; encoded with the names of its JSON form.
public struct StoreInfo: Sendable, Equatable, Codable, JSONConvertible {
  /// The path of the file.
  public var path: String
  /// Whether it was opened read-only.
  public var isReadOnly: Bool
  /// The version of the store's tables.
  public var schemaVersion: Int64
  /// The size of the file and its WAL.
  public var fileBytes: Int64
  /// The size of the WAL. It grows while a connection, perhaps of another process, stays in a read transaction.
  public var walBytes: Int64
  /// The version of the loaded SQLite.
  public var sqliteVersion: String
  /// Whether that version has the WAL-reset bug, which Satchel prevents on any version.
  public var hasWALResetBug: Bool
  /// The new path of a file that could not be opened and was quarantined; nil when none was.
  public var quarantined: String?
  /// The latest correction of a clock that was ahead; nil when it never was.
  public var clockCorrection: ClockCorrection?

  enum CodingKeys: String, CodingKey {
    case path
    case isReadOnly = "read_only"
    case schemaVersion = "schema_version"
    case fileBytes = "file_bytes"
    case walBytes = "wal_bytes"
    case sqliteVersion = "sqlite_version"
    case hasWALResetBug = "sqlite_wal_reset_bug"
    case quarantined
    case clockCorrection = "clock_correction"
  }

  public var json: JSONValue {
    [
      "path": .string(path), "read_only": .bool(isReadOnly), "schema_version": .int(schemaVersion),
      "file_bytes": .int(fileBytes), "wal_bytes": .int(walBytes), "sqlite_version": .string(sqliteVersion),
      "sqlite_wal_reset_bug": .bool(hasWALResetBug), "quarantined": quarantined.map { .string($0) } ?? .null,
      "clock_correction": clockCorrection?.json ?? .null,
    ]
  }
}

/// The usage of a store's file, from `Store.statistics()`.
public struct StoreStatistics: Equatable, Sendable {
  /// A named number of items.
  public struct Count: Equatable, Sendable {
    /// The kind of item: "photos", "records".
    public var name: String
    public var count: Int
  }

  /// The size and contents of one subject.
  public struct Subject: Equatable, Sendable {
    /// "catalogue", "photos", "stories", "records", "state", "assets", "outbox" or "remote"; "store" for shared tables.
    public var name: String
    /// The size of its tables and indexes, in whole pages; nil when SQLite was built without `dbstat`.
    public var bytes: Int64?
    public var counts: [Count]
  }

  /// The size and contents of one collection of records.
  public struct Collection: Equatable, Sendable {
    public var name: String
    public var version: Int
    public var records: Int
    /// The size of the documents alone.
    public var bytes: Int64
    /// The number of changes that are not uploaded yet.
    public var pending: Int
    /// The number of open conflicts and of local versions that lost a conflict.
    public var conflicts: Int
  }

  public var path: String
  /// The size on disk, including the WAL.
  public var fileBytes: Int64
  /// The size of the WAL.
  public var walBytes: Int64
  public var pages: Int
  /// The number of unused pages, which SQLite reuses.
  public var freePages: Int
  public var pageSize: Int64
  /// The subjects of the store, the largest first.
  public var subjects: [Subject]
  /// The collections, ordered by name.
  public var collections: [Collection]
  /// The assets, in the file and in the folder next to it.
  public var assets: AssetStatistics
  /// The counts of offline regions and of requests to sources, and the age of the content.
  public var catalogue: CatalogueStatistics
  /// The number of spooled changes in the outbox file next to the store.
  public var spooled: Int
  /// The damaged parts of the outbox file, one message each.
  public var outboxDamages: [String]
  /// The number of spooled changes that the store rejected when the outbox was drained.
  public var rejected: Int
}

extension StoreStatistics: JSONConvertible {
  /// The JSON that `satchel store stats --json` prints.
  public var json: JSONValue {
    [
      "path": .string(path), "file_bytes": .int(fileBytes), "wal_bytes": .int(walBytes),
      "pages": .int(Int64(pages)),
      "page_size": .int(pageSize), "free_pages": .int(Int64(freePages)),
      "subjects": .array(subjects.map(\.json)), "collections": .array(collections.map(\.json)),
      "assets": assets.json, "catalogue": catalogue.json,
      "spooled": .int(Int64(spooled)), "outbox_damages": .array(outboxDamages.map { .string($0) }),
      "rejected": .int(Int64(rejected)),
    ]
  }
}

extension StoreStatistics.Subject: JSONConvertible {
  public var json: JSONValue {
    let counts = JSONObject(counts.map { ($0.name, JSONValue.int(Int64($0.count))) })
    return ["name": .string(name), "bytes": bytes.map { .int($0) } ?? .null, "counts": .object(counts)]
  }
}

extension StoreStatistics.Collection: JSONConvertible {
  public var json: JSONValue {
    [
      "name": .string(name), "version": .int(Int64(version)), "records": .int(Int64(records)),
      "bytes": .int(bytes), "pending": .int(Int64(pending)), "conflicts": .int(Int64(conflicts)),
    ]
  }
}
