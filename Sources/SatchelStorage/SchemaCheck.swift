import CSQLite
import SatchelCore

/// Compares a store's schema with the one that the library creates: a foreign trigger, view or generated
/// column would change what the app reads and writes.
struct SchemaCheck {
  let migrations: [Migration]
  let subjects: [SubjectSchema]

  /// Returns the differences, as messages for people.
  func findings(_ connection: Connection) throws -> [String] {
    var expected = StoreSchema(migrations, through: .max).objects
    let core = Set(expected.keys)
    expected.merge(StoreSchema.own) { own, _ in own }
    let (versions, finding) = try Self.versions(connection)
    if let finding { return [finding] }
    var isNewer = false
    if versions != nil { expected["subject"] = SQLReader.definition(SubjectSchema.table.utf8) }
    for (name, version) in versions ?? [:] {
      if let subject = subjects.first(where: { $0.name == name }), version <= subject.newest {
        expected.merge(StoreSchema(subject, through: version).objects) { one, _ in one }
      } else {
        // Its tables belong to a newer version, and are not used.
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
          findings.append("\(row.text(2)) \(name) differs from Satchel's definition")
        }
      } else if let owner = owner(of: name) {
        findings.append("\(row.text(2)) \(name) exists, but the store does not list the subject \(owner)")
      } else if !isNewer || expected[row.text(3)] != nil || row.text(2) == "trigger" {
        findings.append(
          "\(row.text(2)) \(name.prefix(60)) of \(row.text(3).prefix(60)) was not created by Satchel")
      }
    }
    for name in missing.sorted() {
      findings.append("\(core.contains(name) ? "" : "of a subject in the store: ")\(name) is missing")
    }
    return findings
  }

  /// Throws the first difference as `.damaged`.
  func run(_ connection: Connection) throws {
    guard let first = try findings(connection).first else { return }
    throw SatchelError(.damaged, "\(connection.path): the schema is damaged: \(first)")
  }

  /// Returns the versions of a store's subjects, nil when it has no table of them, and the defect of that
  /// table. Only a table of Satchel is read: a query of a view with its name might not terminate.
  private static func versions(_ connection: Connection) throws -> ([String: Int64]?, finding: String?) {
    guard let known = SQLReader.definition(SubjectSchema.table.utf8) else { return (nil, nil) }
    var object: (type: String, isSame: Bool)?
    try connection.each("SELECT type, sql FROM sqlite_schema WHERE name = 'subject'") { row in
      object = (row.text(0), isSame(row.bytes(1), known))
    }
    guard let object else { return (nil, nil) }
    guard object.type == "table", object.isSame else {
      return (nil, "\(object.type) subject differs from Satchel's definition")
    }
    var versions: [String: Int64] = [:]
    var finding: String?
    try connection.each("SELECT name, version FROM subject") { row in
      // A look-up by name would not find a blob.
      if row.type(0) != SQLITE_TEXT { finding = "table subject has a name that is not a string" }
      versions[row.text(0)] = try row.integer(1, in: SubjectSchema.versions)
    }
    if let finding { return (nil, finding) }
    return (versions, nil)
  }

  /// Returns the subject whose schema contains the object.
  private func owner(of name: String) -> String? {
    subjects.first { StoreSchema($0, through: .max).objects[name] != nil }?.name
  }

  private static func isSame(_ sql: UnsafeRawBufferPointer, _ known: ArraySlice<UInt8>) -> Bool {
    // The statement differs only before the name, in the form of CREATE; names are unique among all kinds of
    // objects.
    guard sql.count > known.count else { return false }
    return sql.suffix(known.count).elementsEqual(known) && SQLReader.definition(sql)?.count == known.count
  }
}
