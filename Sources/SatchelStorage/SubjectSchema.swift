import SatchelCore

/// The schema of one subject. Its tables are created when the subject is first used, so that a store contains
/// only what it needs.
package struct SubjectSchema: Sendable {
  /// The subject's name, one word that never changes: the store contains it.
  package let name: String
  /// All migrations, oldest first. A released migration never changes.
  package let migrations: [Migration]

  /// Computed when a check or a recovery reads them; opening a store does not.
  private let makeRules: @Sendable () -> StoredRules
  /// The rules for the values of its tables.
  package var rules: StoredRules { makeRules() }

  package init(
    name: String, migrations: [Migration],
    rules: @autoclosure @escaping @Sendable () -> StoredRules = StoredRules()
  ) {
    self.name = name
    self.migrations = migrations
    makeRules = rules
  }

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
  func version(_ connection: Connection) throws -> Int64 {
    guard try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'subject'") > 0 else {
      return 0
    }
    return try connection.first("SELECT version FROM subject WHERE name = ?", .text(name)) {
      try $0.integer(0, in: Self.versions)
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
    for migration in migrations.sorted(by: { $0.version < $1.version }) where migration.version > version {
      try connection.execute(migration.sql)
    }
    try connection.run("INSERT OR REPLACE INTO subject VALUES(?, ?)", .text(name), .integer(newest))
  }
}

extension Database {
  /// Creates a subject's tables, or migrates them.
  ///
  /// - Returns: whether the store has them; false only for a store opened read-only in which they were never
  ///   created
  /// - Throws: `.newer` for tables of a newer version, `.readOnly` for older ones in a store opened read-only
  @discardableResult
  package func prepare(_ subject: SubjectSchema) throws -> Bool {
    if prepared.withLock({ $0.contains(subject.name) }) { return true }
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
    if !isWriting { prepared.withLock { _ = $0.insert(subject.name) } }
    return true
  }

  /// Whether the store has tables of a subject, of any version.
  package func has(_ subject: SubjectSchema) throws -> Bool {
    if prepared.withLock({ $0.contains(subject.name) }) { return true }
    return try read { try subject.version($0) > 0 }
  }
}
