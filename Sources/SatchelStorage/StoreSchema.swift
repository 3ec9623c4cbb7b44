import SatchelCore
import SatchelJSON

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
        if made.isVirtual { addShadowTables(of: object.name, isRTree: made.isRTree) }
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

  /// The shadow tables of an R*Tree (see SQLite's rtree.c) or of a full-text index (see fts5_storage.c and
  /// fts5_index.c).
  private mutating func addShadowTables(of name: String, isRTree: Bool) {
    if isRTree {
      let tables = [
        ("rowid", "(rowid INTEGER PRIMARY KEY,nodeno)"), ("node", "(nodeno INTEGER PRIMARY KEY,data)"),
        ("parent", "(nodeno INTEGER PRIMARY KEY,parentnode)"),
      ]
      for (table, columns) in tables { add("\(name)_\(table)", "\"\(name)_\(table)\"\(columns)") }
      return
    }
    let tables = [
      ("data", "(id INTEGER PRIMARY KEY, block BLOB)"),
      ("idx", "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID"),
      ("docsize", "(id INTEGER PRIMARY KEY, sz BLOB)"), ("config", "(k PRIMARY KEY, v) WITHOUT ROWID"),
      // A copy of the texts, of two columns.
      ("content", "(id INTEGER PRIMARY KEY, c0, c1)"),
    ]
    for (table, columns) in tables { add("\(name)_\(table)", "'\(name)_\(table)'\(columns)") }
  }
}
