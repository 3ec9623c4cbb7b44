/// The tables of one subject, made when the subject is first used: a store pays only for what it keeps.
package struct SubjectSchema: Sendable {
  /// One word, the same for ever: it stands in the store.
  package let name: String
  /// All steps, oldest first. A step that was released is never changed.
  package let migrations: [Migration]

  /// What the values of its tables can be.
  package let rules: StoredRules

  package init(name: String, migrations: [Migration], rules: StoredRules = StoredRules()) {
    self.name = name
    self.migrations = migrations
    self.rules = rules
  }

  /// What the version of a subject's tables can be.
  static var versions: ClosedRange<Int64> { 1...1 << 31 }

  var newest: Int64 { migrations.map(\.version).max() ?? 0 }

  /// Which subjects a store has, and the version of their tables.
  static let table = """
    CREATE TABLE IF NOT EXISTS subject(
      name TEXT PRIMARY KEY,
      version INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """

  /// The version of the subject's tables in a store; 0 when it has none.
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
      "\(path): its \(name) were written by a newer Satchel (schema \(version), this one knows up to \(newest))"
    )
  }

  /// Runs the steps that are pending.
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
  /// Makes a subject's tables, or brings them up to date.
  ///
  /// - Returns: whether the store has them; it has not only when it was opened to read only, and nobody made them.
  /// - Throws: `.newer` for tables of a newer version, `.readOnly` for older ones in a store opened to read only
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
          "\(path): its \(subject.name) are of an older schema, which opening to read only cannot bring up to date"
        )
      }
      try write { try subject.migrate($0.connection) }
    }
    // A transaction under way may still take the tables back.
    if !isWriting { prepared.withLock { _ = $0.insert(subject.name) } }
    return true
  }

  /// Whether the store has tables of a subject, of whatever version.
  package func has(_ subject: SubjectSchema) throws -> Bool {
    if prepared.withLock({ $0.contains(subject.name) }) { return true }
    return try read { try subject.version($0) > 0 }
  }
}
