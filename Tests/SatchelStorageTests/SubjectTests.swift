import Testing

import SatchelCore
import SatchelStorage

@Suite("Tables of subjects")
struct SubjectTests {
  private let fixture: StorageFixture
  private static let first = SubjectSchema(
    name: "notes", migrations: [Migration(version: 1, sql: "CREATE TABLE note(text TEXT NOT NULL)")])
  private static let second = SubjectSchema(
    name: "notes",
    migrations: first.migrations + [
      Migration(version: 2, sql: "ALTER TABLE note ADD COLUMN place TEXT NOT NULL DEFAULT 'here'")
    ])

  init() throws { fixture = try StorageFixture() }

  private func notes(_ database: Database) throws -> Int64 {
    try database.read { try $0.number("SELECT count(*) FROM sqlite_schema WHERE name = 'note'") }
  }

  @Test("are created on first use, and kept")
  func made() throws {
    let database = try fixture.open()
    #expect(try notes(database) == 0)
    #expect(try !database.has(Self.first))
    #expect(try database.prepare(Self.first) && database.prepare(Self.first))
    #expect(try notes(database) == 1)
    #expect(try database.has(Self.first))
    try database.write { try $0.connection.run("INSERT INTO note VALUES('kept')") }
    let another = try fixture.open()
    #expect(try another.prepare(Self.second))
    #expect(try another.read { try $0.first("SELECT place FROM note") { $0.text(0) } } == "here")
  }

  @Test("of a newer version are not changed")
  func newer() throws {
    try fixture.open().prepare(Self.second)
    let database = try fixture.open()
    #expect(throws: SatchelError.self) { try database.prepare(Self.first) }
    #expect(try database.has(Self.first))
  }

  @Test("are removed when the transaction fails")
  func rolledBack() throws {
    struct Stop: Error {}
    let database = try fixture.open()
    #expect(throws: Stop.self) {
      try database.write { _ in
        try database.prepare(Self.first)
        throw Stop()
      }
    }
    #expect(try !database.has(Self.first))
    #expect(try database.prepare(Self.first))
    #expect(try notes(database) == 1)
  }

  @Test("in a store opened read-only are reported as missing, and old ones are not changed")
  func readOnly() throws {
    try fixture.open().close()
    #expect(try !fixture.open { $0.isReadOnly = true }.prepare(Self.first))
    try fixture.open().prepare(Self.first)
    #expect(try fixture.open { $0.isReadOnly = true }.prepare(Self.first))
    #expect(throws: SatchelError.self) {
      try fixture.open { $0.isReadOnly = true }.prepare(Self.second)
    }
  }
}
