import SatchelStorage

/// The table of what was written last to each mirror.
package enum MirrorSchema {
  package static let subject = SubjectSchema(
    name: "mirrors", migrations: [Migration(version: 1, sql: version1)])

  private static let version1 = """
    -- SHA-256 of a mirror's whole file: as it was written last, and as it was before, since the process may have died
    -- between this row and the file. `state` is that of the collection's records, written as a file. `name` is the last component of its path: an app's directory may move.
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

/// What a store wrote last to a mirror: a file of these bytes has nothing that the store did not know.
struct MirrorMemory: Equatable {
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

  func read() throws -> MirrorMemory {
    guard try Self.isThere(connection) else { return MirrorMemory() }
    return try connection.first(
      "SELECT last, before, state FROM record_mirror WHERE collection = ? AND name = ?", .integer(collection),
      .text(name)
    ) { MirrorMemory(last: $0.text(0), before: $0.textIfAny(1), state: $0.text(2)) } ?? MirrorMemory()
  }

  func write(_ memory: MirrorMemory) throws {
    guard let last = memory.last, let state = memory.state else { return }
    try connection.run(
      "INSERT OR REPLACE INTO record_mirror(collection, name, last, before, state) VALUES(?, ?, ?, ?, ?)",
      .integer(collection), .text(name), .text(last), memory.before.map { .text($0) } ?? .null, .text(state))
  }

  /// Forgets all mirrors: rows of the store may have been lost since they were written.
  static func forgetAll(_ connection: Connection) throws {
    if try isThere(connection) { try connection.run("DELETE FROM record_mirror") }
  }

  /// Not in a store that was opened to read only, and has had no mirror.
  private static func isThere(_ connection: Connection) throws -> Bool {
    try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'record_mirror'") > 0
  }
}
