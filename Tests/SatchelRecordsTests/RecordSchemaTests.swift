import SatchelCore
import SatchelDocuments
import SatchelRecords
import SatchelStorage
import Testing

@Suite("The tables of records")
struct RecordSchemaTests {
  @Test("a store creates them once, and finds them when it is opened again")
  func prepare() throws {
    let database = try Database.open(
      path: ":memory:", options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    #expect(try !database.has(RecordSchema.subject))
    #expect(try database.prepare(RecordSchema.subject))
    #expect(try database.prepare(RecordSchema.subject))
    #expect(try database.has(RecordSchema.subject))
    #expect(try database.checkIntegrity().isEmpty)
  }
}
