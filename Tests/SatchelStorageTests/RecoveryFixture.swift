import Foundation

@testable import SatchelCore
@testable import SatchelStorage

/// A store with thousands of rows in tables of every kind, and the expected content of a row by its number.
enum RecoveryFixture {
  static let schema = [
    Migration(
      version: 1,
      sql: ChangeLog.schema + """
        CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL, flag INTEGER) STRICT;
        CREATE INDEX item_by_name ON item(name);
        CREATE TABLE pair(a TEXT, note TEXT, b INTEGER, PRIMARY KEY(b, a)) STRICT, WITHOUT ROWID;
        CREATE TABLE large(id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL) STRICT;
        CREATE TABLE setting(name TEXT PRIMARY KEY, value INTEGER) STRICT, WITHOUT ROWID;
        INSERT INTO setting VALUES('first', 1), ('second', 2);
        """)
  ]
  static let things = SubjectSchema(
    name: "things", migrations: [Migration(version: 1, sql: "CREATE TABLE thing(x TEXT, y INTEGER) STRICT")])
  static let others = SubjectSchema(
    name: "others",
    migrations: [
      Migration(version: 1, sql: "CREATE TABLE other(k BLOB, v ANY, PRIMARY KEY(k)) STRICT, WITHOUT ROWID")
    ])
  static let count = 3000

  static func name(_ number: Int64) -> String {
    "Ding \(number) – " + String(repeating: "ö", count: Int((number.magnitude % 1000) * 37 % 120))
  }

  static func body(_ number: Int64) -> [UInt8] {
    (0..<Int(number.magnitude % 10_000 * 97 % 20_000)).map {
      UInt8(truncatingIfNeeded: Int64($0) * 31 &+ number)
    }
  }

  static func fill(_ database: Database, _ numbers: ClosedRange<Int64>) throws {
    try database.prepare(things)
    try database.prepare(others)
    try database.write { transaction in
      let connection = transaction.connection
      for number in numbers {
        try connection.run(
          "INSERT INTO item VALUES(?, ?, ?, ?)", .integer(number * 3), .text(name(number)),
          .real(Double(number) / 4), number % 3 == 0 ? .null : .integer(number % 2))
        try connection.run(
          "INSERT INTO pair(a, note, b) VALUES(?, ?, ?)", .text("a\(number)"), .text(name(number)),
          .integer(number % 7))
        try connection.run("INSERT INTO thing VALUES(?, ?)", .text(name(number)), .integer(-number))
        if number % 20 == 0 {
          try body(number).withUnsafeBytes {
            try connection.run("INSERT INTO large VALUES(?, ?)", .integer(number), .blob($0))
          }
        }
      }
      try connection.run("UPDATE setting SET value = 7 WHERE name = 'second'")
      transaction.note(subject: .test, keys: ["filled"], place: nil)
    }
  }

  /// Returns the number of rows of each table; a row that differs from the original is an error.
  static func examine(_ database: Database) throws -> (counts: [String: Int], wrong: [String]) {
    var counts: [String: Int] = [:]
    var wrong: [String] = []
    func see(_ table: String, _ isRight: Bool, _ number: Int64) {
      counts[table, default: 0] += 1
      if !isRight { wrong.append("\(table) \(number)") }
    }
    try database.read { connection in
      try connection.each("SELECT id, name, score, flag FROM item") { row in
        let number = row.anyInteger(0) / 3
        let flag = row.isNull(3) ? nil : row.anyInteger(3)
        let isRight =
          row.anyInteger(0) % 3 == 0 && row.text(1) == name(number) && row.real(2) == Double(number) / 4
          && flag == (number % 3 == 0 ? nil : number % 2)
        see("item", isRight, number)
      }
      try connection.each("SELECT a, note, b FROM pair") { row in
        let number = Int64(row.text(0).dropFirst()) ?? -1
        see("pair", number > 0 && row.text(1) == name(number) && row.anyInteger(2) == number % 7, number)
      }
      try connection.each("SELECT x, y FROM thing") { row in
        see("thing", row.text(0) == name(0 &- row.anyInteger(1)), row.anyInteger(1))
      }
      try connection.each("SELECT id, body FROM large") { row in
        see("large", row.bytes(1).elementsEqual(body(row.anyInteger(0))), row.anyInteger(0))
      }
    }
    return (counts, wrong)
  }

  /// A page of an undamaged store, as SQLite describes it (table `dbstat`).
  struct Page {
    var number: Int
    var table: String
    /// "leaf", "internal" or "overflow".
    var kind: String
    var path: String
    var cells: Int
  }

  static func pages(_ path: String) throws -> [Page] {
    let connection = try Connection(path: path, flags: 1, busyTimeout: 0, isImmutable: true)
    var pages: [Page] = []
    try connection.each("SELECT pageno, name, pagetype, path, ncell FROM dbstat") { row in
      pages.append(
        Page(
          number: Int(row.anyInteger(0)), table: row.text(1), kind: row.text(2), path: row.text(3),
          cells: Int(row.anyInteger(4))))
    }
    return pages
  }

  /// Returns the rows of a table that are on these pages, partly or completely.
  static func rows(of table: String, on damaged: Set<Int>, _ pages: [Page]) -> Int {
    let own = pages.filter { $0.table == table }
    let hasRowID = table != "pair"
    let gone = own.filter { damaged.contains($0.number) && $0.kind != "overflow" }
    let rows = gone.reduce(0) { $0 + ($1.kind == "leaf" || !hasRowID ? $1.cells : 0) }
    // A row with overflow pages is lost once, wherever it is damaged: its cell's path precedes the "+".
    let hit = Set(
      own.filter { damaged.contains($0.number) && $0.kind == "overflow" }.map { $0.path.prefix { $0 != "+" } }
    )
    let elsewhere = hit.filter { cell in
      let leaf =
        cell.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/"
      return !gone.contains { $0.path == leaf }
    }
    return rows + elsewhere.count
  }
}
