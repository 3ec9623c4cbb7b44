import SatchelCore
import SatchelStorage

/// The table of digests of the mirrors' files.
package enum MirrorSchema {
  package static let subject = SubjectSchema(
    name: "mirrors", migrations: [Migration(version: 1, sql: version1)])

  private static let version1 = """
    -- SHA-256 of a mirror's whole file: `last` as it was written last, `before` as it was previously, because
    -- the process may have died between this row and the file. `state` is the digest of the collection's
    -- records, written as a file. `name` is the last component of the mirror's path, because an app's
    -- directory may move.
    CREATE TABLE record_mirror(
      collection INTEGER NOT NULL,
      name TEXT NOT NULL,
      last TEXT NOT NULL,
      before TEXT,
      state TEXT NOT NULL,
      PRIMARY KEY(collection, name)
    ) STRICT, WITHOUT ROWID;
    """
}

/// The digests of the files that a store wrote last to a mirror: the store has all records of a file with one
/// of them.
struct MirrorHistory: Equatable {
  /// SHA-256 of the whole file.
  var last: String?
  var before: String?
  var state: String?

  func knows(_ digest: String) -> Bool { digest == last || digest == before }
}

struct MirrorTable {
  let connection: Connection
  let collection: Int64
  let name: String

  func read() throws -> MirrorHistory {
    guard try Self.isThere(connection) else { return MirrorHistory() }
    return try connection.first(
      "SELECT last, before, state FROM record_mirror WHERE collection = ? AND name = ?", .integer(collection),
      .text(name)
    ) { MirrorHistory(last: $0.text(0), before: $0.textIfAny(1), state: $0.text(2)) } ?? MirrorHistory()
  }

  func write(_ history: MirrorHistory) throws {
    guard let last = history.last, let state = history.state else { return }
    try connection.run(
      "INSERT OR REPLACE INTO record_mirror(collection, name, last, before, state) VALUES(?, ?, ?, ?, ?)",
      .integer(collection), .text(name), .text(last), history.before.map { .text($0) } ?? .null, .text(state))
  }

  /// Deletes the digests of all mirrors: rows of the store may have been lost since they were written.
  static func forgetAll(_ connection: Connection) throws {
    if try isThere(connection) { try connection.run("DELETE FROM record_mirror") }
  }

  /// Deletes the digests of a collection's mirrors.
  static func forget(_ collection: Int64, _ connection: Connection) throws {
    if try isThere(connection) {
      try connection.run("DELETE FROM record_mirror WHERE collection = ?", .integer(collection))
    }
  }

  /// False in a store that was opened read-only and never had a mirror.
  private static func isThere(_ connection: Connection) throws -> Bool {
    try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'record_mirror'") > 0
  }
}
