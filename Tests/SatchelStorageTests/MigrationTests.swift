import Testing

import SatchelCore
import SatchelStorage

@Suite("Migrations")
struct MigrationTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  static let second = Migration(
    version: 2, sql: "ALTER TABLE item ADD COLUMN size INTEGER NOT NULL DEFAULT 7;")
  static let third = Migration(version: 3, sql: "CREATE TABLE third(x); INSERT INTO third VALUES(3);")

  @Test("pending migrations run once, in the order of their versions")
  func steps() throws {
    _ = try fixture.makeStore(items: 3)
    let all = [Self.third] + StorageFixture.schema + [Self.second]
    for _ in 0..<3 {
      let database = try fixture.open(migrations: all)
      #expect(try database.schemaVersion == 3)
      #expect(try database.read { try $0.number("SELECT sum(size) FROM item") } == 21)
      #expect(try database.read { try $0.number("SELECT count(*) FROM third") } == 1)
      try database.close()
    }
    #expect(try code { _ = try fixture.open() } == .newer)
  }

  @Test(
    "a failed migration rolls back all pending ones, and the store opens as before",
    arguments: [
      "CREATE TABLE third(x); INSERT INTO nowhere VALUES(1);", "CREATE TABLE item(x)", "no SQL at all",
      "INSERT INTO item(id, name) VALUES(1, 'a'); INSERT INTO item(id, name) VALUES(1, 'b')",
    ])
  func failure(sql: String) throws {
    let before = try fixture.makeStore(items: 3)
    let steps = StorageFixture.schema + [Self.second, Migration(version: 3, sql: sql)]
    for quarantine in [false, true] {
      #expect(throws: SatchelError.self) {
        _ = try fixture.open(migrations: steps) { $0.quarantine = quarantine }
      }
      #expect(try fixture.listing() == ["store"])
    }
    #expect(try fixture.bytes() == before)
    let database = try fixture.open()
    #expect(try database.schemaVersion == 1)
    #expect(try database.read { try $0.items() } == 3)
    #expect(try database.read { try $0.number("SELECT count(*) FROM pragma_table_info('item')") } == 2)
    #expect(try database.checkIntegrity().isEmpty)
  }

  @Test("a new store whose first migration fails can be created later")
  func firstFails() throws {
    let bad = [Migration(version: 1, sql: ChangeLog.schema + "CREATE TABLE item(x); no SQL")]
    #expect(throws: SatchelError.self) { _ = try fixture.open(migrations: bad) }
    let database = try fixture.open()
    try database.write { try $0.add("x") }
    #expect(try database.read { try $0.items() } == 1)
  }

  @Test("concurrent creations of a store all open the same one", arguments: 0..<12)
  func making(round: Int) throws {
    try together(on: StorageFixture.schema + [Self.second, Self.third], count: 6)
    let database = try fixture.open(migrations: StorageFixture.schema + [Self.second, Self.third])
    #expect(try database.read { try $0.items() } == 6)
    #expect(try database.read { try $0.number("PRAGMA auto_vacuum") } == 2)
    #expect(try database.read { try $0.first("PRAGMA journal_mode") { $0.text(0) } } == "wal")
  }

  @Test("concurrent openings migrate a store once", arguments: 0..<6)
  func updating(round: Int) throws {
    _ = try fixture.makeStore(items: 10)
    try together(on: StorageFixture.schema + [Self.second, Self.third], count: 6)
    let database = try fixture.open(migrations: StorageFixture.schema + [Self.second, Self.third])
    #expect(try database.read { try $0.items() } == 16)
    #expect(try database.read { try $0.number("SELECT count(*) FROM third") } == 1)
  }

  private func together(on migrations: [Migration], count: Int) throws {
    let path = fixture.path
    let handles = (0..<count).map { number in
      Background {
        var options = StoreOptions()
        options.durability = .relaxed
        // A long timeout, because sanitizers are slow.
        options.busyTimeout = 60_000
        let database = try Database.open(path: path, options: options, migrations: migrations)
        try database.write { try $0.add("\(number)") }
        try database.close()
      }
    }
    for handle in handles { try handle.finish() }
    // When several connections close at the same time, each may see the others still open, and then none
    // deletes the WAL: SQLite requests the file's exclusive lock first, and releases its shared lock later.
    // The next one to close deletes it.
    try Database.open(path: path, options: StoreOptions(), migrations: migrations).close()
    #expect(try fixture.listing() == ["store"])
  }
}
