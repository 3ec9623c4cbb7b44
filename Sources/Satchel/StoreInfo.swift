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
