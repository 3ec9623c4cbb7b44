import Foundation
import SatchelTesting

/// A change of a store's file that its seed decides.
struct StoreMutation {
  private let path: String
  private var random: SeededRandom

  init(_ path: String, seed: Int) {
    self.path = path
    random = SeededRandom(seed: UInt64(seed))
  }

  /// - Returns: false when SQLite refused to make it
  mutating func apply() throws -> Bool {
    do {
      switch random.below(10) {
      case 0...1: try bytes()
      case 2: try pages()
      case 3: try cut()
      case 4...7: try values()
      default: try schema()
      }
      return true
    } catch is RawStore.Failure { return false }
  }

  // MARK: Bytes and pages

  private mutating func edit(_ body: (inout Data, inout SeededRandom) -> Void) throws {
    let url = URL(filePath: path)
    var data = try Data(contentsOf: url)
    body(&data, &random)
    try data.write(to: url)
  }

  private mutating func bytes() throws {
    try edit { data, random in
      // Mostly beyond the first header, which is refused at once.
      for _ in 0...random.below(20) {
        let at = random.once(in: 10) ? random.below(100) : 100 + random.below(data.count - 100)
        data[at] = random.once(in: 3) ? 0xFF : UInt8(random.below(256))
      }
    }
  }

  private mutating func pages() throws {
    try edit { data, random in
      let count = data.count / 4096
      func range(_ page: Int) -> Range<Int> { page * 4096..<page * 4096 + 4096 }
      for _ in 0...random.below(3) {
        let (one, two) = (random.below(count), random.below(count))
        switch random.below(4) {
        case 0: data.replaceSubrange(range(one), with: Data(count: 4096))
        case 1: data.replaceSubrange(range(one), with: data.subdata(in: range(two)))
        case 2:
          let (first, second) = (data.subdata(in: range(one)), data.subdata(in: range(two)))
          data.replaceSubrange(range(one), with: second)
          data.replaceSubrange(range(two), with: first)
        default:
          // The header of a page: its kind, its number of cells, where they begin.
          data[one * 4096 + (one == 0 ? 100 : 0) + random.below(12)] = UInt8(random.below(256))
        }
      }
    }
  }

  private mutating func cut() throws {
    try edit { data, random in
      if random.chance(50) {
        data = data.prefix(random.below(data.count))
      } else {
        data.append(contentsOf: (0..<random.below(9000)).map { _ in UInt8(random.below(256)) })
      }
    }
  }

  // MARK: Values

  private static let values = [
    "NULL", "''", "x''", "0.5", "1e308", "9e999", "'text'", "zeroblob(100000)", "randomblob(40)", "'{}'",
    "'[1,'",
    "x'7b22ff223a317d'", "'{\"a\":' || printf('%.*c', 600, '[') || '1}'", "printf('%.*c', 70000, 'a')",
    "'..'", "char(0)",
    "'/' || printf('%.*c', 3000, 'a/')", "rowid", "-1", "4611686018427387904", "9223372036854775807",
    "(-9223372036854775807 - 1)",
  ]

  private mutating func values() throws {
    try RawStore.loosened(path) { try change($0) }
  }

  private mutating func change(_ loose: RawStore) throws {
    let columns = try loose.columns()
    for _ in 0...random.below(4) {
      let column = random.pick(columns)
      let value = random.pick(Self.values)
      var condition = ""
      if random.chance(60) {
        condition =
          " WHERE \(column.name) IN (SELECT \(column.name) FROM \(column.table) ORDER BY random() LIMIT 1)"
      }
      switch random.below(12) {
      case 0: try? loose.run("DELETE FROM \(column.table)\(condition)")
      case 1: try? loose.run("INSERT INTO \(column.table)(\(column.name)) VALUES(\(value))")
      case 2:
        try? loose.run(
          "UPDATE OR IGNORE \(column.table) SET \(column.name) = substr(\(column.name), 1, length(\(column.name)) / 2)\(condition)"
        )
      case 3:
        try? loose.run(
          "UPDATE OR IGNORE \(column.table) SET \(column.name) = (SELECT \(random.pick(columns.filter { $0.table == column.table }).name) FROM \(column.table) LIMIT 1)\(condition)"
        )
      case 4:
        try? loose.run(
          "UPDATE OR IGNORE \(column.table) SET \(column.name) = \(column.name) + \(random.below(3) - 1)\(condition)"
        )
      default: try? loose.run("UPDATE OR IGNORE \(column.table) SET \(column.name) = \(value)\(condition)")
      }
    }
  }

  // MARK: Schema

  private mutating func schema() throws {
    let store = try RawStore(path)
    let column = random.pick(try store.columns())
    let table = column.table
    let sql = [
      "CREATE TRIGGER evil AFTER INSERT ON \(table) BEGIN UPDATE \(table) SET \(column.name) = 7; END",
      "CREATE TRIGGER evil BEFORE UPDATE ON \(table) BEGIN SELECT RAISE(IGNORE); END",
      "CREATE TRIGGER evil AFTER DELETE ON \(table) BEGIN INSERT INTO \(table) SELECT * FROM \(table); END",
      "CREATE VIEW evil AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      "ALTER TABLE \(table) RENAME TO hidden; CREATE VIEW \(table) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT n.i AS x, hidden.* FROM n, hidden",
      "ALTER TABLE \(table) ADD COLUMN extra TEXT GENERATED ALWAYS AS (hex(\(column.name)))",
      "ALTER TABLE \(table) ADD COLUMN extra TEXT DEFAULT 'x'",
      "ALTER TABLE \(table) RENAME COLUMN \(column.name) TO other",
      "ALTER TABLE \(table) RENAME TO elsewhere",
      "DROP TABLE \(table)",
      "CREATE INDEX evil ON \(table)(\(column.name))",
      "CREATE UNIQUE INDEX evil ON \(table)(\(column.name) + 1)",
      "CREATE VIRTUAL TABLE evil USING fts5(x)",
      "CREATE TABLE evil(x, y AS (x + 1))",
      "DELETE FROM subject WHERE name = '\(random.pick(["photos", "records", "state", "stories"]))'",
      "UPDATE subject SET version = \(random.pick(["0", "1", "3", "99", "-1"]))",
      "INSERT INTO subject VALUES('other', 1)",
      "PRAGMA user_version = \(random.below(4))",
      "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '\(table)'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = \(random.below(60)) WHERE name = '\(table)'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE \(table)(a, b, c)' WHERE name = '\(table)'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER', 'TEXT') WHERE name = '\(table)'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = '\(table)'",
      "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
    ]
    try store.run(random.pick(sql))
  }
}
