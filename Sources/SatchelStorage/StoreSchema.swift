import SatchelCore
import SatchelJSON

/// The objects that migrations create, as `sqlite_schema` has them.
struct StoreSchema {
  struct Object {
    let name: ArraySlice<UInt8>
    /// The statement that creates it, from the name on, which all forms of CREATE share.
    let sql: ArraySlice<UInt8>
    var isOfSubject = false
    /// Whether a store may lack it.
    var isOptional = false

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
      var reader = SQLReader(migration.sql)
      while let statement = reader.next() {
        guard let made = SQLReader.made(by: statement) else { continue }
        add(Object(name: made.name, sql: made.sql))
        if made.isVirtual { addShadowTables(of: String(decoding: made.name, as: UTF8.self), sql: made.sql) }
      }
    }
  }

  /// Adds the table of the store's subjects.
  mutating func addSubjectTable() {
    guard let made = SQLReader.made(by: Array(SubjectSchema.table.utf8)[...]) else { return }
    add(Object(name: made.name, sql: made.sql))
  }

  /// Adds the tables that SQLite creates itself, always with the same statement.
  mutating func addOwnTables() {
    add("sqlite_sequence", "sqlite_sequence(name,seq)", isOptional: true)
    add("sqlite_stat1", "sqlite_stat1(tbl,idx,stat)", isOptional: true)
    add("sqlite_stat4", "sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)", isOptional: true)
  }

  /// Returns the index of the object of a name.
  func index(of name: UnsafeRawBufferPointer) -> Int? {
    objects.firstIndex { object in object.name.withUnsafeBytes { $0.hasSameBytes(as: name) } }
  }

  private mutating func add(_ name: String, _ sql: String, isOptional: Bool = false) {
    add(Object(name: Array(name.utf8)[...], sql: Array(sql.utf8)[...], isOptional: isOptional))
  }

  /// Adds an object, in the place of an older one of its name.
  private mutating func add(_ object: Object) {
    if let index = object.name.withUnsafeBytes({ index(of: $0) }) {
      objects[index] = object
    } else {
      objects.append(object)
    }
  }

  /// The shadow tables of an R*Tree (see SQLite's rtree.c) or of a full-text index (see fts5_storage.c and
  /// fts5_index.c).
  private mutating func addShadowTables(of name: String, sql: ArraySlice<UInt8>) {
    if sql.dropFirst(name.utf8.count).starts(with: " USING rtree".utf8) {
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

/// Splits the SQL of migrations, constant texts of the library, into statements.
struct SQLReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ sql: String) { bytes = Array(sql.utf8) }

  /// Returns the next statement, without surrounding comments and without its semicolon.
  mutating func next() -> ArraySlice<UInt8>? {
    skipBlanks()
    let start = position
    let isTrigger = bytes[start...].starts(with: "CREATE TRIGGER".utf8)
    var end = start
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: ";") where !isTrigger || bytes[start..<end].suffix(4).elementsEqual("\nEND".utf8):
        position += 1
        return bytes[start..<end]
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        let quote = bytes[position]
        position += 1
        while position < bytes.count, bytes[position] != quote { position += 1 }
        position = min(position + 1, bytes.count)
        end = position
      case UInt8(ascii: "-") where position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "-"):
        skipLine()
      default:
        if bytes[position] > 0x20 { end = position + 1 }
        position += 1
      }
    }
    return end > start ? bytes[start..<end] : nil
  }

  private mutating func skipLine() {
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      if bytes[position] <= 0x20 {
        position += 1
      } else if bytes[position...].starts(with: "--".utf8) {
        skipLine()
      } else {
        return
      }
    }
  }

  /// Returns the object that a statement creates: its name, and the statement from the name on; nil for another
  /// statement.
  static func made(
    by statement: ArraySlice<UInt8>
  ) -> (name: ArraySlice<UInt8>, sql: ArraySlice<UInt8>, isVirtual: Bool)? {
    guard let form = forms.first(where: { statement.starts(with: $0) }) else { return nil }
    var sql = statement.dropFirst(form.count)
    if sql.starts(with: ifNotThere) { sql = sql.dropFirst(ifNotThere.count) }
    let name = sql.prefix { $0 != UInt8(ascii: "(") && $0 > 0x20 }
    return (name, sql, form == virtualTable)
  }

  /// Whether the bytes are what is before the name in a statement that creates an object.
  static func isForm(_ bytes: UnsafeRawBufferPointer) -> Bool {
    forms.contains { form in
      bytes.starts(with: form)
        && (bytes.count == form.count || bytes.dropFirst(form.count).elementsEqual(ifNotThere))
    }
  }

  private static let ifNotThere = Array("IF NOT EXISTS ".utf8)
  private static let virtualTable = Array("CREATE VIRTUAL TABLE ".utf8)
  private static let forms =
    ["CREATE TABLE ", "CREATE INDEX ", "CREATE TRIGGER ", "CREATE UNIQUE INDEX ", "CREATE VIEW "].map {
      Array($0.utf8)
    } + [virtualTable]
}
