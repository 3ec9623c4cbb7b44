import CSQLite
import SatchelCore

/// Recovers the readable content of a damaged store into a new one.
///
/// The damaged file stays unchanged: all work is done on a copy. The new store has the schema versions of the
/// damaged one where they are readable, and is migrated when it is opened.
package struct StoreRecovery {
  let migrations: [Migration]
  let subjects: [SubjectSchema]
  let options: StoreOptions
  /// The rules for tables that belong to no subject.
  let rules: StoredRules

  package init(
    migrations: [Migration], subjects: [SubjectSchema], options: StoreOptions = StoreOptions(),
    rules: StoredRules = StoredRules()
  ) {
    self.rules = rules
    self.migrations = migrations
    self.subjects = subjects
    self.options = options
  }

  /// Recovers a store.
  ///
  /// - Parameters:
  ///   - damaged: the damaged store, which no process may have open
  ///   - target: the path of the new store; must not exist
  ///   - progress: called with the numbers of processed and of all tables; returns false to cancel
  ///   - beside: copies what belongs to the store and is not in its file, before the new store gets its name
  /// - Throws: `.notFound`; `.invalid` when `target` exists or a path is not a file's; `.foreign` when the
  ///   file contains no table of a store; `.newer`, `.cancelled`, `.full`, `.io`. No new store is created
  ///   then.
  package func recover(
    damaged: String, into target: String, progress: BackupProgress = { _, _ in true }, beside: () -> Void = {}
  ) throws -> RecoveryReport {
    for path in [damaged, target] where path.isEmpty || path.utf8.contains(0) || path == ":memory:" {
      throw SatchelError(.invalid, "\(path == damaged ? "damaged" : "target"): is not the path of a file")
    }
    var status = stat()
    guard stat(damaged, &status) == 0 else { throw SatchelError(errno: errno, damaged) }
    try DiskFile.refuseSpecial(damaged, status)
    guard access(target, F_OK) != 0 else {
      throw SatchelError(.invalid, "\(target): already exists; choose another path")
    }
    // Not an `AtomicFile`, which has a lock on its file: creating a store replaces the file at its path.
    let part = DatabaseFileNames(target + AtomicFile.partSuffix)
    let copy = try WorkingCopy(of: damaged, at: target + ".recovering")
    part.remove()
    do {
      var report = try fill(part.database, from: copy, damaged, progress: progress)
      report.path = target
      try DiskFile(part.database, O_RDWR).sync()
      beside()
      try AtomicFile.move(part.database, to: target, replacing: true)
      return report
    } catch {
      part.remove()
      throw error
    }
  }

  private func fill(
    _ part: String, from copy: WorkingCopy, _ damaged: String, progress: BackupProgress
  ) throws -> RecoveryReport {
    let reader = try BTreeReader(PageFile(copy.path))
    var schema = try StoredSchema(reader)
    var report = RecoveryReport(path: part, tables: [], isHeaderLost: copy.isHeaderLost)
    if let version = copy.version { try Migrator(migrations: migrations).refuseNewer(version, path: damaged) }
    var versions = try subjectVersions(copy, schema, damaged: damaged)
    if schema.tables.isEmpty {
      guard
        let found = try LostSchema(migrations, subjects, options: options).tables(
          of: copy,
          shouldContinue: {
            guard progress(0, 1) else {
              throw SatchelError(.cancelled, "\(damaged): cancelled by the caller")
            }
          })
      else {
        throw SatchelError(.foreign, "\(damaged): contains no recognizable table of a store")
      }
      schema.tables = found.tables
      report.isSchemaLost = true
      versions = found.subjects.map { ($0, $0.newest) }
      try make(part, version: nil, versions)
    } else {
      try make(part, version: copy.version, versions)
    }
    let connection = try Connection(
      path: part, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0, vfsName: options.vfsName,
      isDefensive: false)
    try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    let known = try connection.tables()
    guard schema.tables.contains(where: { known[$0.name] != nil }) else {
      throw SatchelError(.foreign, "\(damaged): a database that Satchel did not create")
    }
    for (index, table) in schema.tables.enumerated() {
      guard progress(index, schema.tables.count) else {
        throw SatchelError(.cancelled, "\(damaged): cancelled by the caller")
      }
      if table.name == "sqlite_sequence" {
        try restoreSequences(reader, table.root, connection: connection)
      } else if let kind = known[table.name] {
        guard kind != .derived else { continue }
        let hasRowID = kind == .rowID
        report.tables.append(try save(table, hasRowID: hasRowID, reader, connection: connection))
      } else {
        report.unknownTables.append(table.name)
      }
    }
    for name in known.filter({ $0.value != .derived }).keys.ordered()
    where !schema.tables.contains(where: { $0.name == name }) {
      // Its entry in `sqlite_schema` is destroyed.
      report.tables.append(RecoveryReport.Table(name: name, rows: 0, lostRows: 0, lostPages: 1))
    }
    if known["subject"] != nil {
      // The versions with which they were created, regardless of the damaged rows.
      try connection.run("DELETE FROM subject")
      for (subject, version) in versions {
        try connection.run("INSERT INTO subject VALUES(?, ?)", .text(subject.name), .integer(version))
      }
    }
    let rules = subjects.reduce(rules) { $0.merging($1.rules) }
    report.findings = try ValueCheck(connection: connection, rules: rules).repair()
    try connection.execute("COMMIT; PRAGMA journal_mode = WAL")
    return report
  }

  private func save(
    _ table: StoredSchema.Table, hasRowID: Bool, _ reader: BTreeReader, connection: Connection
  ) throws -> RecoveryReport.Table {
    let target = try RecoveredTable(table.name, hasRowID: hasRowID, on: connection)
    try reader.rows(root: table.root, hasRowID: hasRowID) { try target.add(key: $0, $1) }
    let loss = reader.loss(of: table.root)
    return RecoveryReport.Table(
      name: table.name, rows: target.rows, lostRows: loss.rows + target.rejected, lostPages: loss.pages)
  }

  /// Restores the AUTOINCREMENT sequences: assigned numbers are never reused.
  private func restoreSequences(_ reader: BTreeReader, _ root: Int, connection: Connection) throws {
    var found: [(name: String, number: Int64)] = []
    try reader.rows(root: root, hasRowID: true) { _, values in
      guard values.count == 2, case .text(let name) = values[0], case .integer(let number) = values[1],
        StoredRange.counted.contains(number)
      else { return }
      found.append((String(decoding: name, as: UTF8.self), number))
    }
    for (name, number) in found {
      try connection.run(
        "INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS(SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
        .text(name))
      try connection.run(
        "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", .text(name), .integer(number))
    }
  }

  /// Returns the subjects of the damaged store with the versions of their tables: the newest version for a
  /// subject that only its tables reveal.
  private func subjectVersions(
    _ copy: WorkingCopy, _ schema: StoredSchema, damaged: String
  ) throws -> [(SubjectSchema, Int64)] {
    var versions: [String: Int64] = [:]
    if let table = schema.tables.first(where: { $0.name == "subject" }) {
      try BTreeReader(PageFile(copy.path)).rows(root: table.root, hasRowID: false) { _, values in
        guard values.count == 2, case .text(let name) = values[0], case .integer(let version) = values[1]
        else { return }
        versions[String(decoding: name, as: UTF8.self)] = version
      }
    }
    let present = Set(schema.tables.map(\.name))
    return try subjects.compactMap { subject in
      if let version = versions[subject.name] {
        try subject.refuseNewer(version, path: damaged)
        // A version without a migration was never written.
        return (subject, subject.migrations.contains { $0.version == version } ? version : subject.newest)
      }
      return try present.isDisjoint(with: tables(of: subject)) ? nil : (subject, subject.newest)
    }
  }

  private func tables(of subject: SubjectSchema) throws -> Set<String> {
    let database = try Database.open(path: ":memory:", options: options, migrations: migrations)
    let before = try database.read { Set(try $0.tables().keys) }
    try database.prepare(subject.alone)
    return try database.read { Set(try $0.tables().keys) }.subtracting(before).subtracting(["subject"])
  }

  /// Creates the new store, with the schema versions of the damaged one.
  private func make(_ path: String, version: Int64?, _ subjects: [(SubjectSchema, Int64)]) throws {
    // A version without a migration was never written.
    let through = version.flatMap { version in migrations.contains { $0.version == version } ? version : nil }
    let database = try Database.open(
      path: path, options: options, migrations: migrations.filter { $0.version <= through ?? .max })
    for (subject, version) in subjects {
      try database.prepare(
        SubjectSchema(name: subject.name, migrations: subject.migrations.filter { $0.version <= version }))
    }
    try database.close()
  }
}

/// The kind of a table.
private enum TableKind {
  /// A table with row numbers.
  case rowID
  case withoutRowID
  /// A table of SQLite or of a full-text index, which is derived from others.
  case derived
}

extension Connection {
  fileprivate func tables() throws -> [String: TableKind] {
    var tables: [String: TableKind] = [:]
    try visit("PRAGMA main.table_list") { row in
      let isOrdinary = row.text(2) == "table" && !row.text(1).hasPrefix("sqlite_")
      tables[row.text(1)] = !isOrdinary ? .derived : try row.integer(4) == 0 ? .rowID : .withoutRowID
    }
    return tables
  }
}
