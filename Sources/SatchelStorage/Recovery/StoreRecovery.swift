import CSQLite

/// Saves what can be read of a damaged store into a new one.
///
/// The damaged file stays as it is: all work is done on a copy. The new store has the schema versions of the damaged
/// one where they can be told, and is brought up to date when it is opened.
package struct StoreRecovery {
  let migrations: [Migration]
  let subjects: [SubjectSchema]
  let options: StoreOptions
  /// What values can be in tables of no subject.
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

  /// - Parameters:
  ///   - damaged: nobody may have it open
  ///   - target: of the new store; must not exist
  ///   - progress: hears of tables done and in all; false stops it
  /// - Throws: `.notFound`; `.invalid` when `target` exists or a path is none; `.foreign` when nothing in the file is
  ///   ours; `.newer`, `.cancelled`, `.full`, `.io`. There is no new store then.
  package func recover(
    damaged: String, into target: String, progress: BackupProgress = { _, _ in true }
  ) throws -> RecoveryReport {
    for path in [damaged, target] where path.isEmpty || path.utf8.contains(0) || path == ":memory:" {
      throw SatchelError(.invalid, "\(path == damaged ? "damaged" : "target"): no path of a file")
    }
    var status = stat()
    guard stat(damaged, &status) == 0 else { throw SatchelError(errno: errno, damaged) }
    try StoreFile.refuseSpecial(damaged, status)
    guard access(target, F_OK) != 0 else { throw SatchelError(.invalid, "\(target): exists already") }
    let part = target + StoreCopy.partSuffix
    let copy = try WorkingCopy(of: damaged, at: target + ".recovering")
    remove(part)
    do {
      var report = try fill(part, from: copy, damaged, progress)
      report.path = target
      let file = try DiskFile(part, O_RDWR)
      try file.sync()
      guard rename(part, target) == 0 else { throw SatchelError(errno: errno, target) }
      try DiskFile.syncDirectory(of: target)
      return report
    } catch {
      remove(part)
      throw error
    }
  }

  private func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }

  private func fill(
    _ part: String, from copy: WorkingCopy, _ damaged: String, _ progress: BackupProgress
  ) throws -> RecoveryReport {
    let reader = try TreeReader(PageFile(copy.path))
    var schema = try StoredSchema(reader)
    var report = RecoveryReport(path: part, tables: [], isHeaderLost: copy.isHeaderLost)
    if let version = copy.version { try Migrator(migrations: migrations).refuseNewer(version, path: damaged) }
    var versions = try subjectVersions(copy, schema, damaged)
    if schema.tables.isEmpty {
      guard
        let told = try LostSchema(migrations, subjects, options).tables(
          of: copy,
          goOn: {
            guard progress(0, 1) else {
              throw SatchelError(.cancelled, "\(damaged): cancelled by the caller")
            }
          })
      else {
        throw SatchelError(.foreign, "\(damaged): no table of a store can be told in it")
      }
      schema.tables = told.tables
      report.isSchemaLost = true
      versions = told.subjects.map { ($0, $0.newest) }
      try make(part, version: nil, versions)
    } else {
      try make(part, version: copy.version, versions)
    }
    let connection = try Connection(
      path: part, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0, fileSystem: options.fileSystem,
      isDefensive: false)
    try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    let known = try connection.tables()
    guard schema.tables.contains(where: { known[$0.name] != nil }) else {
      throw SatchelError(.foreign, "\(damaged): a database that Satchel did not make")
    }
    for (index, table) in schema.tables.enumerated() {
      guard progress(index, schema.tables.count) else {
        throw SatchelError(.cancelled, "\(damaged): cancelled by the caller")
      }
      if table.name == "sqlite_sequence" {
        try keepSequences(reader, table.root, connection)
      } else if let kind = known[table.name] {
        guard kind != .derived else { continue }
        let isKeyed = kind == .keyed
        report.tables.append(try save(table, isKeyed: isKeyed, reader, connection))
      } else {
        report.unknownTables.append(table.name)
      }
    }
    for name in known.filter({ $0.value != .derived }).keys.sorted()
    where !schema.tables.contains(where: { $0.name == name }) {
      // Its entry in the list of tables is destroyed.
      report.tables.append(RecoveryReport.Table(name: name, rows: 0, lostRows: 0, lostPages: 1))
    }
    if known["subject"] != nil {
      // As they were made, whatever the damaged rows say.
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
    _ table: StoredSchema.Table, isKeyed: Bool, _ reader: TreeReader, _ connection: Connection
  ) throws -> RecoveryReport.Table {
    let target = try RecoveredTable(table.name, isKeyed: isKeyed, on: connection)
    try reader.rows(root: table.root, isKeyed: isKeyed) { try target.add(key: $0, $1) }
    let loss = reader.loss(of: table.root)
    return RecoveryReport.Table(
      name: table.name, rows: target.rows, lostRows: loss.rows + target.refused, lostPages: loss.pages)
  }

  /// Numbers that were given are never given again.
  private func keepSequences(_ reader: TreeReader, _ root: Int, _ connection: Connection) throws {
    var told: [(name: String, number: Int64)] = []
    try reader.rows(root: root, isKeyed: true) { _, values in
      guard values.count == 2, case .text(let name) = values[0], case .integer(let number) = values[1],
        RecoveredTable.sequenceBounds.contains(number)
      else { return }
      told.append((String(decoding: name, as: UTF8.self), number))
    }
    for (name, number) in told {
      try connection.run(
        "INSERT INTO sqlite_sequence SELECT ?1, 0 WHERE NOT EXISTS(SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
        .text(name))
      try connection.run(
        "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", .text(name), .integer(number))
    }
  }

  /// Subjects that the damaged store has, with the version of their tables: the newest where that is lost, and
  /// only their tables tell.
  private func subjectVersions(
    _ copy: WorkingCopy, _ schema: StoredSchema, _ damaged: String
  ) throws -> [(SubjectSchema, Int64)] {
    var versions: [String: Int64] = [:]
    if let table = schema.tables.first(where: { $0.name == "subject" }) {
      try TreeReader(PageFile(copy.path)).rows(root: table.root, isKeyed: false) { _, values in
        guard values.count == 2, case .text(let name) = values[0], case .integer(let version) = values[1]
        else { return }
        versions[String(decoding: name, as: UTF8.self)] = version
      }
    }
    let there = Set(schema.tables.map(\.name))
    return try subjects.compactMap { subject in
      if let version = versions[subject.name] {
        try subject.refuseNewer(version, path: damaged)
        // A version that none of the steps has was never written.
        return (subject, subject.migrations.contains { $0.version == version } ? version : subject.newest)
      }
      return try there.isDisjoint(with: tables(of: subject)) ? nil : (subject, subject.newest)
    }
  }

  private func tables(of subject: SubjectSchema) throws -> Set<String> {
    let database = try Database.open(path: ":memory:", options: options, migrations: migrations)
    let before = try database.read { Set(try $0.tables().keys) }
    try database.prepare(subject)
    return try database.read { Set(try $0.tables().keys) }.subtracting(before).subtracting(["subject"])
  }

  /// Makes the new store, with the tables of the versions that the damaged one had.
  private func make(_ path: String, version: Int64?, _ subjects: [(SubjectSchema, Int64)]) throws {
    // A version that none of the steps has was never written.
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

/// What a table of a database is.
private enum TableKind {
  /// Its rows have numbers.
  case keyed
  case withoutNumbers
  /// SQLite or a full-text search keeps it; it follows from others.
  case derived
}

extension Connection {
  fileprivate func tables() throws -> [String: TableKind] {
    var tables: [String: TableKind] = [:]
    try visit("PRAGMA main.table_list") { row in
      let isOrdinary = row.text(2) == "table" && !row.text(1).hasPrefix("sqlite_")
      tables[row.text(1)] = !isOrdinary ? .derived : try row.integer(4) == 0 ? .keyed : .withoutNumbers
    }
    return tables
  }
}
