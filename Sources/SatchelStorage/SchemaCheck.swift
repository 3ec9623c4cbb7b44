import CSQLite

/// Compares what is in a store's schema with what the library makes: a trigger, view or generated column of somebody
/// else would change what the app reads and writes.
struct SchemaCheck {
  let migrations: [Migration]
  let subjects: [SubjectSchema]

  /// - Returns: what differs, for people
  func findings(_ connection: Connection) throws -> [String] {
    var expected = StoreSchema(migrations, through: .max).objects
    let core = Set(expected.keys)
    expected.merge(StoreSchema.own) { own, _ in own }
    let versions = try Self.versions(connection)
    var isNewer = false
    if versions != nil { expected["subject"] = SQLReader.definition(SubjectSchema.table.utf8) }
    for (name, version) in versions ?? [:] {
      if let subject = subjects.first(where: { $0.name == name }), version <= subject.newest {
        expected.merge(StoreSchema(subject, through: version).objects) { one, _ in one }
      } else {
        // Its tables are not known here, and are not used.
        isNewer = true
      }
    }
    var missing = Set(expected.keys).subtracting(StoreSchema.own.keys)
    var findings: [String] = []
    try connection.each("SELECT name, sql, type, tbl_name FROM sqlite_schema") { row in
      let name = row.text(0)
      if row.isNull(1), row.text(2) == "index", name.hasPrefix("sqlite_autoindex_") { return }
      if let known = expected[name] {
        missing.remove(name)
        if !Self.isSame(row.bytes(1), known) {
          findings.append("\(row.text(2)) \(name) is not as Satchel makes it")
        }
      } else if let owner = owner(of: name) {
        findings.append("\(row.text(2)) \(name) is there, though the store is said to have no \(owner)")
      } else if !isNewer || expected[row.text(3)] != nil || row.text(2) == "trigger" {
        findings.append(
          "\(row.text(2)) \(name.prefix(60)) of \(row.text(3).prefix(60)) was not made by Satchel")
      }
    }
    for name in missing.sorted() {
      findings.append("\(core.contains(name) ? "" : "of a subject that the store has, ")\(name) is missing")
    }
    return findings
  }

  /// - Throws: `.damaged`, with the first of what differs
  func run(_ connection: Connection) throws {
    guard let first = try findings(connection).first else { return }
    throw SatchelError(.damaged, "\(connection.path): the schema is damaged: \(first)")
  }

  /// The versions of the subjects that a store has; nil without the table of them.
  private static func versions(_ connection: Connection) throws -> [String: Int64]? {
    guard try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'subject'") > 0 else {
      return nil
    }
    var versions: [String: Int64] = [:]
    try connection.each("SELECT name, version FROM subject") {
      versions[$0.text(0)] = try $0.integer(1, in: SubjectSchema.versions)
    }
    return versions
  }

  /// The subject that makes an object of a name.
  private func owner(of name: String) -> String? {
    subjects.first { StoreSchema($0, through: .max).objects[name] != nil }?.name
  }

  private static func isSame(_ sql: UnsafeRawBufferPointer, _ known: ArraySlice<UInt8>) -> Bool {
    // The forms of CREATE end before the name, which tells the kind: names are never used twice.
    guard sql.count > known.count else { return false }
    return sql.suffix(known.count).elementsEqual(known) && SQLReader.definition(sql)?.count == known.count
  }
}
