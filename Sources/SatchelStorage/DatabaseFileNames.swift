import SatchelCore

/// The paths of a database's files, by the path of the database.
package struct DatabaseFileNames {
  let database: String

  package init(_ database: String) { self.database = database }

  /// The files of the database that SQLite opens at `path`: it creates its own next to the target of a
  /// symbolic link.
  init(resolving path: String) { database = DatabaseFile.fullPath(of: path) }

  var wal: String { database + "-wal" }
  /// The index of the WAL, in shared memory.
  var walIndex: String { database + "-shm" }
  var journal: String { database + "-journal" }
  /// The writes that the database could not accept: see `OutboxFile`.
  var outbox: String { database + ".outbox" }

  /// SQLite's other files of the database.
  var companions: [String] { [wal, walIndex, journal] }
  /// The database and SQLite's other files of it.
  var all: [String] { [database] + companions }

  /// Deletes the database and SQLite's other files of it, as far as they exist.
  package func remove() { for path in all { unlink(path) } }

  func removeCompanions() { for path in companions { unlink(path) } }

  /// The permissions of the database, which its outbox and its backups have, too; the usual ones when it does
  /// not exist.
  var permissions: mode_t {
    var status = stat()
    return stat(database, &status) == 0 ? status.st_mode & 0o666 : 0o644
  }
}
