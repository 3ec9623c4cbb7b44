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

/// The schema of one subject. Its tables are created when the subject is first used, so that a store contains
/// only what it needs.
package struct SubjectSchema: Sendable {
  /// The subject's name, one word that never changes: the store contains it.
  package let name: String
  private let makeMigrations: @Sendable () -> [Migration]
  /// All migrations, oldest first. A released migration never changes.
  package var migrations: [Migration] { makeMigrations() }
  /// Computed when a check or a recovery reads them; opening a store does not.
  private let makeRules: @Sendable () -> StoredRules
  /// The subjects whose tables it uses, too; they are created before its own.
  package var needs: [SubjectSchema] { makeNeeds() }
  private let makeNeeds: @Sendable () -> [SubjectSchema]
  /// The rules for the values of its tables.
  package var rules: StoredRules { makeRules() }

  package init(
    name: String, migrations: [Migration],
    rules: @autoclosure @escaping @Sendable () -> StoredRules = StoredRules(),
    needs: @autoclosure @escaping @Sendable () -> [SubjectSchema] = []
  ) {
    self.name = name
    makeNeeds = needs
    makeMigrations = { migrations }
    makeRules = rules
  }

  /// A schema that is made when it is needed: opening a store makes those of the subjects that it has.
  ///
  /// - Parameter name: of that schema
  package init(_ name: String, _ schema: @escaping @Sendable () -> SubjectSchema) {
    self.name = name
    makeMigrations = { schema().migrations }
    makeNeeds = { schema().needs }
    makeRules = { schema().rules }
  }

  /// The schema of its own tables: a recovery finds each subject by these.
  var alone: SubjectSchema { SubjectSchema(name: name, migrations: migrations, rules: rules) }

  /// The valid versions of a subject's tables.
  static var versions: ClosedRange<Int64> { 1...1 << 31 }

  var newest: Int64 { migrations.map(\.version).max() ?? 0 }

  /// The table of the store's subjects and the versions of their tables.
  static let table = """
    CREATE TABLE IF NOT EXISTS subject(
      name TEXT PRIMARY KEY,
      version INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """

  /// Returns the version of the subject's tables in a store; 0 when it has none.
  func version(_ connection: Connection) throws -> Int64 { try Self.version(of: name, connection) }

  static func version(of name: String, _ connection: Connection) throws -> Int64 {
    guard try connection.has(table: "subject") else { return 0 }
    return try connection.first("SELECT version FROM subject WHERE name = ?", .text(name)) {
      try $0.integer(0, in: versions)
    } ?? 0
  }

  func refuseNewer(_ version: Int64, path: String) throws {
    guard version > newest else { return }
    throw SatchelError(
      .newer,
      "\(path): its \(name) were written by a newer Satchel (schema \(version); this one supports \(newest)); update Satchel"
    )
  }

  /// Runs the pending migrations.
  func migrate(_ connection: Connection) throws {
    try connection.execute(Self.table)
    let version = try version(connection)
    try refuseNewer(version, path: connection.path)
    for migration in migrations.ordered(by: { $0.version < $1.version }) where migration.version > version {
      try connection.execute(migration.sql)
    }
    try connection.run("INSERT OR REPLACE INTO subject VALUES(?, ?)", .text(name), .integer(newest))
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
  /// - Returns: the names of the subjects that the store has; nil when any are accepted
  /// - Throws: `.damaged`; `.newer` when a newer version has migrated the store since it was opened
  @discardableResult
  func checkSchema(_ connection: Connection) throws -> [String]? {
    try connection.inReadTransaction { try refuseInvalid(connection) }
  }

  /// Throws for a store that `Database.open` refuses; the caller holds a read transaction. Returns as `checkSchema`.
  @discardableResult
  func refuseInvalid(_ connection: Connection) throws -> [String]? {
    let version = try connection.number("PRAGMA user_version")
    try refuseNewer(version, path: connection.path)
    guard version > 0 else {
      throw SatchelError(.damaged, "\(connection.path): its schema version is \(version)")
    }
    // Reads the schema, so that a damaged one is reported now and not in the middle of a call.
    _ = try connection.prepared("SELECT max(revision) FROM change")
    guard let subjects else { return nil }
    // A store of an older version is migrated later.
    let known = migrations.filter { $0.version <= version }
    return try SchemaCheck(migrations: known, subjects: subjects).run(connection)
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
      for migration in migrations.ordered(by: { $0.version < $1.version }) where migration.version > version {
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

extension Connection {
  /// Whether the file has a table, for those that have only a connection.
  package func has(table name: String) throws -> Bool {
    try number("SELECT count(*) FROM sqlite_schema WHERE name = ?", .text(name)) > 0
  }
}

extension Database {
  /// Creates the tables of a subject and of those that it needs, or migrates them.
  ///
  /// - Returns: whether the store has them; false only for a store opened read-only in which they were never
  ///   created
  /// - Throws: `.newer` for tables of a newer version, `.readOnly` for older ones in a store opened read-only
  @discardableResult
  package func prepare(_ subject: SubjectSchema) throws -> Bool {
    if prepared.withLock({ $0.contains(subject.name) }) { return true }
    for needed in subject.needs { guard try prepare(needed) else { return false } }
    let version = try read { try subject.version($0) }
    try subject.refuseNewer(version, path: path)
    if version < subject.newest {
      if options.isReadOnly {
        guard version > 0 else { return false }
        throw SatchelError(
          .readOnly,
          "\(path): its \(subject.name) have an older schema; open the store writable once to migrate it"
        )
      }
      try write { try subject.migrate($0.connection) }
    }
    // A rollback of the current transaction would remove the tables again.
    if !isInTransaction { prepared.withLock { _ = $0.insert(subject.name) } }
    return true
  }

  /// Whether the store has tables of a subject, of any version.
  package func has(_ subject: SubjectSchema) throws -> Bool { try has(named: subject.name) }

  package func has(_ subject: Change.Subject) throws -> Bool { try has(named: subject.rawValue) }

  package func has(named name: String) throws -> Bool {
    if prepared.withLock({ $0.contains(name) }) { return true }
    return try read { try SubjectSchema.version(of: name, $0) > 0 }
  }
}
