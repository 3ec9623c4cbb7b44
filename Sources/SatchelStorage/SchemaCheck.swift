import CSQLite
import SatchelCore

/// Compares a store's schema with the one that the library creates: a foreign trigger, view or generated
/// column would change what the app reads and writes.
struct SchemaCheck {
  let migrations: [Migration]
  let subjects: [SubjectSchema]

  /// Returns the differences, as messages for people.
  func findings(_ connection: Connection) throws -> [String] {
    let (versions, finding) = try Self.versions(connection)
    if let finding { return [finding] }
    let (expected, isNewer) = expected(versions)
    var isMissing = expected.objects.map { !$0.isOptional }
    var findings: [String] = []
    // Searched in order: a dictionary would take longer to make than all searches.
    try connection.each("SELECT name, sql, type, tbl_name FROM sqlite_schema") { row in
      if row.isNull(1), row.text(2) == "index", row.text(0).hasPrefix("sqlite_autoindex_") { return }
      if let index = expected.index(of: row.bytes(0)) {
        isMissing[index] = false
        if !expected.objects[index].isMade(by: row.bytes(1)) {
          findings.append("\(row.text(2)) \(row.text(0)) differs from Satchel's definition")
        }
      } else if let owner = owner(of: row.bytes(0)) {
        findings.append(
          "\(row.text(2)) \(row.text(0)) exists, but the store does not list the subject \(owner)")
      } else if !isNewer || expected.index(of: row.bytes(3)) != nil || row.text(2) == "trigger" {
        findings.append(
          "\(row.text(2)) \(row.text(0).prefix(60)) of \(row.text(3).prefix(60)) was not created by Satchel")
      }
    }
    let missing = zip(expected.objects, isMissing).filter { $1 }.map { object, _ in
      (object.isOfSubject ? "of a subject in the store: " : "", object.name)
    }
    return findings + missing.sorted { $0.1 < $1.1 }.map { "\($0.0)\($0.1) is missing" }
  }

  /// Returns the objects of a store with these subjects, and whether a newer version has written some of them.
  private func expected(_ versions: [(name: String, version: Int64)]?) -> (StoreSchema, isNewer: Bool) {
    var schema = StoreSchema(migrations)
    schema.addOwnTables()
    if versions != nil { schema.addSubjectTable() }
    var isNewer = false
    for (name, version) in versions ?? [] {
      if let subject = subjects.first(where: { $0.name == name }), version <= subject.newest {
        schema.add(subject, through: version)
      } else {
        // Its tables belong to a newer version, and are not used.
        isNewer = true
      }
    }
    return (schema, isNewer)
  }

  /// Throws the first difference as `.damaged`.
  func run(_ connection: Connection) throws {
    guard let first = try findings(connection).first else { return }
    throw SatchelError(.damaged, "\(connection.path): the schema is damaged: \(first)")
  }

  /// Returns the versions of a store's subjects, nil when it has no table of them, and the defect of that
  /// table. Only a table of Satchel is read: a query of a view with its name might not terminate.
  private static func versions(
    _ connection: Connection
  ) throws -> ([(name: String, version: Int64)]?, finding: String?) {
    var expected = StoreSchema([])
    expected.addSubjectTable()
    var object: (type: String, isSame: Bool)?
    try connection.each("SELECT type, sql FROM sqlite_schema WHERE name = 'subject'") { row in
      object = (row.text(0), expected.objects[0].isMade(by: row.bytes(1)))
    }
    guard let object else { return (nil, nil) }
    guard object.type == "table", object.isSame else {
      return (nil, "\(object.type) subject differs from Satchel's definition")
    }
    var versions: [(name: String, version: Int64)] = []
    var finding: String?
    try connection.each("SELECT name, version FROM subject") { row in
      // A look-up by name would not find a blob.
      if row.type(0) != SQLITE_TEXT { finding = "table subject has a name that is not a string" }
      versions.append((row.text(0), try row.integer(1, in: SubjectSchema.versions)))
    }
    if let finding { return (nil, finding) }
    return (versions, nil)
  }

  /// Returns the subject whose schema contains the object.
  private func owner(of name: UnsafeRawBufferPointer) -> String? {
    subjects.first { StoreSchema($0.migrations).index(of: name) != nil }?.name
  }
}
