import SatchelCore

/// The objects that a schema's migrations create, as `sqlite_schema` has them.
struct StoreSchema {
  /// For each name, the statement that created it, from the name on.
  private(set) var objects: [String: ArraySlice<UInt8>] = [:]

  init(_ migrations: [Migration], through version: Int64) {
    for migration in migrations where migration.version <= version {
      var reader = SQLReader(migration.sql)
      while let statement = reader.next() {
        guard let made = SQLReader.made(by: statement) else { continue }
        objects[made.name] = made.sql
        if made.isVirtual { addShadowTables(of: made.name, sql: made.sql) }
      }
    }
  }

  init(_ subject: SubjectSchema, through version: Int64) { self.init(subject.migrations, through: version) }

  /// The shadow tables of an R*Tree (see SQLite's rtree.c) or of a full-text index (see fts5_storage.c and
  /// fts5_index.c).
  private mutating func addShadowTables(of name: String, sql: ArraySlice<UInt8>) {
    if sql.dropFirst(name.utf8.count).starts(with: " USING rtree".utf8) {
      let tables = [
        "rowid": "(rowid INTEGER PRIMARY KEY,nodeno)", "node": "(nodeno INTEGER PRIMARY KEY,data)",
        "parent": "(nodeno INTEGER PRIMARY KEY,parentnode)",
      ]
      for (table, columns) in tables {
        objects["\(name)_\(table)"] = Array("\"\(name)_\(table)\"\(columns)".utf8)[...]
      }
      return
    }
    let tables = [
      "data": "(id INTEGER PRIMARY KEY, block BLOB)",
      "idx": "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
      "docsize": "(id INTEGER PRIMARY KEY, sz BLOB)", "config": "(k PRIMARY KEY, v) WITHOUT ROWID",
    ]
    // A copy of the texts, of two columns.
    objects["\(name)_content"] = Array("'\(name)_content'(id INTEGER PRIMARY KEY, c0, c1)".utf8)[...]
    for (table, columns) in tables {
      objects["\(name)_\(table)"] = Array("'\(name)_\(table)'\(columns)".utf8)[...]
    }
  }

  /// Tables that SQLite creates itself, always with the same statement.
  static let own: [String: ArraySlice<UInt8>] = [
    "sqlite_sequence": Array("sqlite_sequence(name,seq)".utf8)[...],
    "sqlite_stat1": Array("sqlite_stat1(tbl,idx,stat)".utf8)[...],
    "sqlite_stat4": Array("sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)".utf8)[...],
  ]
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

  /// Returns the object that a statement creates: its name, and the statement from the name on, which all
  /// forms of CREATE share.
  static func made(by statement: ArraySlice<UInt8>) -> (
    name: String, sql: ArraySlice<UInt8>, isVirtual: Bool
  )? {
    guard let sql = definition(statement) else { return nil }
    let name = sql.prefix { $0 != UInt8(ascii: "(") && $0 > 0x20 }
    return (
      String(decoding: name, as: UTF8.self), sql, statement.starts(with: "CREATE VIRTUAL TABLE".utf8)
    )
  }

  /// Returns the text after CREATE and the kind of object; nil for another statement.
  static func definition(_ statement: some Collection<UInt8>) -> ArraySlice<UInt8>? {
    for start in forms where statement.starts(with: start) {
      let rest = ArraySlice(Array(statement))[start.count...]
      return rest.starts(with: ifNotThere) ? rest.dropFirst(ifNotThere.count) : rest
    }
    return nil
  }

  private static let ifNotThere = Array("IF NOT EXISTS ".utf8)
  private static let forms = [
    "CREATE TABLE ", "CREATE INDEX ", "CREATE TRIGGER ", "CREATE VIRTUAL TABLE ", "CREATE UNIQUE INDEX ",
    "CREATE VIEW ",
  ].map { Array($0.utf8) }
}
