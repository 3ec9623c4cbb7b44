import SatchelCore

/// A step of the store's own schema, from `version - 1` to `version`.
package struct Migration: Sendable {
  package var version: Int64
  package var sql: String

  package init(version: Int64, sql: String) {
    self.version = version
    self.sql = sql
  }
}

/// Migrates a store's schema. The version is in the file's header (`user_version`).
struct Migrator: Sendable {
  var migrations: [Migration]
  var subjects: [SubjectSchema]?
  /// The rules for the tables of `migrations`.
  var rules: @Sendable () -> StoredRules = { StoredRules() }

  /// The time columns of all tables.
  func times() -> [SubjectTimes] {
    // The tables that every store has are those of the catalogue.
    [SubjectTimes(subject: .catalogue, columns: rules().times)]
      + (subjects ?? []).map {
        SubjectTimes(subject: Change.Subject(rawValue: $0.name), columns: $0.rules.times)
      }
  }

  /// Throws when the schema differs from the one that the migrations create.
  ///
  /// All of it is read in one transaction: between two statements another process may create the tables of a
  /// subject, or migrate the store.
  ///
  /// - Throws: `.damaged`; `.newer` when a newer version has migrated the store since it was opened
  func checkSchema(_ connection: Connection) throws {
    try connection.inReadTransaction { try refuseInvalid(connection) }
  }

  /// Throws for a store that `Database.open` refuses; the caller holds a read transaction.
  func refuseInvalid(_ connection: Connection) throws {
    let version = try connection.number("PRAGMA user_version")
    try refuseNewer(version, path: connection.path)
    guard version > 0 else {
      throw SatchelError(.damaged, "\(connection.path): its schema version is \(version)")
    }
    // Reads the schema, so that a damaged one is reported now and not in the middle of a call.
    _ = try connection.prepared("SELECT max(revision) FROM change")
    guard let subjects else { return }
    // A store of an older version is migrated later.
    let known = migrations.filter { $0.version <= version }
    try SchemaCheck(migrations: known, subjects: subjects).run(connection)
  }

  var newest: Int64 { migrations.map(\.version).max() ?? 0 }

  /// Runs the pending migrations in one transaction.
  ///
  /// Two processes may call this at once: the version is read again with the lock held.
  func migrate(_ connection: Connection) throws {
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      let version = try connection.number("PRAGMA user_version")
      try refuseNewer(version, path: connection.path)
      let isNew = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
      guard version > 0 || version == 0 && isNew else {
        throw SatchelError(
          .damaged, "\(connection.path): contains tables, but its schema version is \(version)")
      }
      for migration in migrations.sorted(by: { $0.version < $1.version }) where migration.version > version {
        try connection.execute(migration.sql)
        try connection.execute("PRAGMA user_version = \(migration.version)")
      }
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  func refuseNewer(_ version: Int64, path: String) throws {
    guard version > newest else { return }
    throw SatchelError(
      .newer,
      "\(path): written by a newer Satchel (schema \(version); this one supports \(newest)); update Satchel"
    )
  }
}
