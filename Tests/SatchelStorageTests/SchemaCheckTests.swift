import CSQLite
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The check of a store's schema")
struct SchemaCheckTests {
  private static let notes = SubjectSchema(
    name: "notes", migrations: [Migration(version: 1, sql: "CREATE TABLE note(text TEXT NOT NULL)")])
  private let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("passes while another process creates the tables of a subject", arguments: 1...5)
  func madeMeanwhile(statement: Int) throws {
    let other = try fixture.open()
    let connection = try Connection(
      path: fixture.path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    let meanwhile = Meanwhile(before: statement) { try other.prepare(Self.notes) }
    try withExtendedLifetime(meanwhile) {
      meanwhile.watch(connection)
      try Migrator(migrations: StorageFixture.schema, subjects: [Self.notes]).checkSchema(connection)
    }
    try #require(meanwhile.outcome).get()
    #expect(try other.has(Self.notes))
  }

  /// Acts before a connection runs its statement of a number, the first of which is 1.
  private final class Meanwhile {
    private let number: Int
    private let act: () throws -> Void
    private var count = 0
    private(set) var outcome: Result<Void, any Error>?

    init(before number: Int, _ act: @escaping () throws -> Void) {
      self.number = number
      self.act = act
    }

    func watch(_ connection: Connection) {
      sqlite3_trace_v2(
        connection.handle, UInt32(SQLITE_TRACE_STMT),
        { _, context, _, _ in
          if let context { Unmanaged<Meanwhile>.fromOpaque(context).takeUnretainedValue().begin() }
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func begin() {
      count += 1
      if count == number { outcome = Result { try act() } }
    }
  }
}
