import CSQLite
import SatchelCore
import SatchelJSON

/// Compares a store's schema with the one that the library creates: a foreign trigger, view or generated
/// column would change what the app reads and writes.
struct SchemaCheck {
  let migrations: [Migration]
  let subjects: [SubjectSchema]

  /// Returns the differences, as messages for people.
  func findings(_ connection: Connection) throws -> [String] { try compare(connection).findings }

  /// Returns the differences, and the names of the store's subjects.
  private func compare(_ connection: Connection) throws -> (findings: [String], subjects: [String]) {
    let (versions, finding) = try Self.versions(connection)
    if let finding { return ([finding], []) }
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
    findings += missing.ordered { $0.1 < $1.1 }.map { "\($0.0)\($0.1) is missing" }
    return (findings, versions?.map(\.name) ?? [])
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
  ///
  /// - Returns: the names of the subjects that the store has
  func run(_ connection: Connection) throws -> [String] {
    let (findings, subjects) = try compare(connection)
    guard let first = findings.first else { return subjects }
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

/// The objects that migrations create, as `sqlite_schema` has them.
struct StoreSchema {
  struct Object {
    private let nameBytes: [UInt8]
    /// The statement that creates it, from the name on, which all forms of CREATE share.
    private let sql: [UInt8]
    var isOfSubject = false
    /// Whether a store may lack it.
    var isOptional = false

    init(_ made: SQLReader.Made) {
      nameBytes = Array(made.name)
      sql = Array(made.sql)
    }

    init(name: String, sql: String, isOptional: Bool = false) {
      nameBytes = Array(name.utf8)
      self.sql = Array(sql.utf8)
      self.isOptional = isOptional
    }

    var name: String { String(decoding: nameBytes, as: UTF8.self) }

    func isNamed(_ name: UnsafeRawBufferPointer) -> Bool {
      // Most names differ in length, which is seen without a call.
      nameBytes.count == name.count && withName { $0.hasSameBytes(as: name) }
    }

    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
      nameBytes.withUnsafeBytes(body)
    }

    /// Whether a statement of a store's schema is the one that creates the object.
    func isMade(by statement: UnsafeRawBufferPointer) -> Bool {
      // The statement differs only before the name, in the form of CREATE; names are unique among all kinds of
      // objects.
      guard statement.count > sql.count else { return false }
      let (form, rest) = (statement.dropLast(sql.count), statement.suffix(sql.count))
      return sql.withUnsafeBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: rest)) }
        && SQLReader.isForm(UnsafeRawBufferPointer(rebasing: form))
    }
  }

  private(set) var objects: [Object] = []

  init(_ migrations: [Migration]) {
    add(migrations, through: .max)
  }

  /// Adds what a subject's migrations create.
  mutating func add(_ subject: SubjectSchema, through version: Int64) {
    let first = objects.count
    add(subject.migrations, through: version)
    for index in first..<objects.count { objects[index].isOfSubject = true }
  }

  private mutating func add(_ migrations: [Migration], through version: Int64) {
    for migration in migrations where migration.version <= version {
      addObjects(madeBy: migration.sql)
    }
  }

  private mutating func addObjects(madeBy sql: String) {
    var sql = sql
    sql.withUTF8 { bytes in
      var reader = SQLReader(UnsafeRawBufferPointer(bytes))
      while let statement = reader.next() {
        guard let made = SQLReader.made(by: statement) else { continue }
        let object = Object(made)
        add(object)
        if made.isRTree {
          addRTreeTables(of: object.name)
        } else if made.isVirtual {
          addTextTables(of: object.name, columns: made.textColumns)
        }
      }
    }
  }

  /// Adds the table of the store's subjects.
  mutating func addSubjectTable() {
    addObjects(madeBy: SubjectSchema.table)
  }

  /// Adds the tables that SQLite creates itself, always with the same statement.
  mutating func addOwnTables() {
    add("sqlite_sequence", "sqlite_sequence(name,seq)", isOptional: true)
    add("sqlite_stat1", "sqlite_stat1(tbl,idx,stat)", isOptional: true)
    add("sqlite_stat4", "sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)", isOptional: true)
  }

  /// Returns the index of the object of a name.
  func index(of name: UnsafeRawBufferPointer) -> Int? {
    objects.firstIndex { $0.isNamed(name) }
  }

  private mutating func add(_ name: String, _ sql: String, isOptional: Bool = false) {
    add(Object(name: name, sql: sql, isOptional: isOptional))
  }

  /// Adds an object, in the place of an older one of its name.
  private mutating func add(_ object: Object) {
    if let index = object.withName({ index(of: $0) }) {
      objects[index] = object
    } else {
      objects.append(object)
    }
  }

  /// The shadow tables of an R*Tree; see SQLite's rtree.c.
  private mutating func addRTreeTables(of name: String) {
    let tables = [
      ("rowid", "(rowid INTEGER PRIMARY KEY,nodeno)"), ("node", "(nodeno INTEGER PRIMARY KEY,data)"),
      ("parent", "(nodeno INTEGER PRIMARY KEY,parentnode)"),
    ]
    for (table, columns) in tables { add("\(name)_\(table)", "\"\(name)_\(table)\"\(columns)") }
  }

  /// The shadow tables of a full-text index; see fts5_storage.c and fts5_index.c.
  ///
  /// - Parameter columns: the number of its columns
  private mutating func addTextTables(of name: String, columns: Int) {
    let contents = (0..<columns).map { ", c\($0)" }.joined()
    let tables = [
      ("data", "(id INTEGER PRIMARY KEY, block BLOB)"),
      ("idx", "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID"),
      ("docsize", "(id INTEGER PRIMARY KEY, sz BLOB)"), ("config", "(k PRIMARY KEY, v) WITHOUT ROWID"),
      // A copy of the texts.
      ("content", "(id INTEGER PRIMARY KEY\(contents))"),
    ]
    for (table, columns) in tables { add("\(name)_\(table)", "'\(name)_\(table)'\(columns)") }
  }
}
