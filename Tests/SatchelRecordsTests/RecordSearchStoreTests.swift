import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@testable import Satchel
@testable import SatchelDocuments
@testable import SatchelRecords
@testable import SatchelStorage

@Suite("Searches of records in damaged, copied and read-only stores")
struct RecordSearchStoreTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/notes.satchel"
  }

  private func notes(_ store: Store) throws -> RecordCollection {
    try store.records("notes", search: ["title", "body"], positions: ["place"])
  }

  /// Creates a store with a collection that was searched.
  @discardableResult
  private func filled(_ count: Int = 200) throws -> Store {
    let store = try Store(path: path)
    let notes = try notes(store)
    try notes.putMany((0..<count).map { ("n\($0)", Self.document($0)) })
    #expect(try notes.search("apple", limit: 1000).count == count / 2)
    #expect(try notes.near(latitude: 1, longitude: 5, within: 10).count == 1)
    return store
  }

  private static func document(_ number: Int) -> JSONValue {
    [
      "title": .string(number % 2 == 0 ? "Apple \(number)" : "Pear"), "body": "secretword",
      "place": ["lat": 1.0, "lon": .double(Double(number) / 2)],
    ]
  }

  private func expectFound(_ store: Store, _ count: Int = 200, _ place: SourceLocation = #_sourceLocation)
    throws
  {
    let notes = try notes(store)
    #expect(try notes.search("apple", limit: 1000).count == count / 2, sourceLocation: place)
    #expect(
      try notes.near(latitude: 1, longitude: 5, within: 10).map(\.record.id) == ["n10"], sourceLocation: place
    )
  }

  private func tamper(_ sql: String) throws {
    let database = try Database.open(
      path: path, options: StoreOptions(), migrations: Store.migrations)
    // Shadow tables can only be changed by a connection that is not defensive.
    try database.write {
      try $0.connection.setDefensive(false)
      try $0.connection.execute(sql)
    }
    try database.close()
  }

  @Test("a read-only store is searched as it is, and with an index in memory") func readOnly() throws {
    let store = try filled()
    var options = StoreOptions()
    options.isReadOnly = true
    let reader = try Store(path: path, options: options)
    try expectFound(reader)
    try notes(store).put("n10", ["title": "Apple 10", "place": ["lat": 1.0, "lon": 5.0]])
    try notes(store).putMany([("n200", Self.document(200)), ("n201", Self.document(201))])
    try expectFound(reader, 202)
    try expectFound(reader, 202)
    try notes(store).delete("n200")
    try notes(store).delete("n201")
    try expectFound(reader)
    try store.records("plain").put("a", ["title": "x"])
    #expect(throws: SatchelError.self) { try reader.records("plain").search("x") }
    // A writer that searches brings the index up to date.
    try expectFound(store)
    try expectFound(reader)
  }

  @Test("a store in memory, and a collection without records, are searched") func memory() throws {
    let store = try Store(path: ":memory:")
    let notes = try notes(store)
    #expect(try notes.search("apple").isEmpty)
    try notes.putMany((0..<200).map { ("n\($0)", Self.document($0)) })
    try expectFound(store)
    try store.batch {
      try notes.clear()
      #expect(try notes.search("apple").isEmpty)
      #expect(try notes.near(latitude: 1, longitude: 5, within: 10).isEmpty)
    }
    #expect(try notes.search("apple").isEmpty)
    #expect(try store.check() == [])
  }

  @Test(
    "an index that differs from the documents is a finding, and remaking mends it",
    arguments: [
      """
      DELETE FROM record_text WHERE rowid = (SELECT min(id) FROM record);
      DELETE FROM record_position WHERE id >> 2 = (SELECT min(id) FROM record);
      """,
      """
      UPDATE record_text SET c0 = 'ghost' WHERE rowid = (SELECT max(id) FROM record);
      UPDATE record_position SET west = 7, east = 7 WHERE id = (SELECT min(id) FROM record_position);
      """,
      "UPDATE record_text_data SET block = zeroblob(20) WHERE id > 10", "DELETE FROM record_text_content",
    ])
  func tampered(sql: String) throws {
    try filled().close()
    try tamper(sql)
    let store = try Store(path: path)
    let found = try store.check()
    #expect(
      Set(found.map(\.code)).isSubset(of: ["record_text", "record_position", "integrity"]) && !found.isEmpty)
    try store.recordStore.database.write {
      try RecordTextIndex.remake($0.connection)
      try RecordPositionIndex.remake($0.connection)
    }
    #expect(try store.check() == [])
    try expectFound(store)
    #expect(try store.check() == [])
  }

  @Test(
    "an index that cannot be read is remade by the next search, and does not stand in the way of writes",
    arguments: [
      "UPDATE record_text_data SET block = x'00' WHERE id = 10",
      "DELETE FROM record_text_data WHERE id = 10", "DELETE FROM record_text_data WHERE id = 1",
      "DELETE FROM record_text_docsize",
      "UPDATE record_text_config SET v = 99 WHERE k = 'version'",
      "UPDATE record_position_node SET data = x'00'", "DELETE FROM record_position_node",
      "DELETE FROM record_position_rowid", "DELETE FROM record_searched",
      "UPDATE record_searched SET paths = 'other'", "UPDATE record_searched SET through = 1 << 40",
    ])
  func damaged(sql: String) throws {
    try filled().close()
    try tamper(sql)
    let store = try Store(path: path)
    let notes = try notes(store)
    try notes.put("n0", ["title": "Plum"])
    try notes.delete("n1")
    try store.batch {
      try notes.put("n2", ["title": "Plum"])
      try notes.put("n200", ["title": "Apple"])
      try notes.put("n201", ["title": "Apple"])
    }
    try expectFound(store)
    #expect(try notes.search("plum").count == 2)
    try notes.put("n0", Self.document(0))
    try notes.put("n2", Self.document(2))
    try expectFound(store, 204)
  }

  @Test("a recovered store is searched again") func recovery() throws {
    try filled().close()
    let recovered = directory.path + "/recovered.satchel"
    let report = try Store.recover(path, into: recovered)
    #expect(report.findings.isEmpty)
    let store = try Store(path: recovered)
    #expect(try store.check() == [])
    try expectFound(store)
    #expect(try store.check() == [])
    try store.close()
    // Without its schema, tables are identified by their pages.
    let database = try Database.open(path: path, options: StoreOptions(), migrations: Store.migrations)
    let pages = try database.read {
      try $0.numbers("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
    }
    try database.close()
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    for page in pages {
      try file.seek(toOffset: UInt64(page - 1) * 4096)
      try file.write(contentsOf: [UInt8](repeating: 0xFF, count: 4096))
    }
    try file.close()
    let again = directory.path + "/again.satchel"
    #expect(try Store.recover(path, into: again).isSchemaLost)
    try expectFound(Store(path: again))
  }

  @Test("backups and restored stores have the indexes") func backup() throws {
    let store = try filled()
    let copy = directory.path + "/copy.satchel"
    try store.backup(to: copy)
    try notes(store).clear()
    #expect(try notes(store).search("apple").isEmpty)
    try store.close()
    #expect(try Store(path: copy).check() == [])
    try expectFound(Store(path: copy))
    _ = try Store.restore(copy, to: path)
    try expectFound(Store(path: path))
    #expect(try Store(path: path).check() == [])
  }

  @Test("nothing of the texts is left in the file when the user signs out") func signOut() throws {
    let store = try filled()
    try store.signOut(unsent: .discard)
    #expect(try notes(store).search("apple").isEmpty)
    #expect(try notes(store).near(latitude: 1, longitude: 5, within: 10).isEmpty)
    #expect(try store.check() == [])
    for suffix in ["", "-wal"] {
      let bytes = (try? Data(contentsOf: URL(filePath: path + suffix))) ?? Data()
      #expect(bytes.range(of: Data("secretword".utf8)) == nil)
    }
    try notes(store).putMany((0..<200).map { ("n\($0)", Self.document($0)) })
    try expectFound(store)
  }

  @Test("records that a sync writes and deletes are found, and no longer found") func sync() throws {
    let remote = try DirectoryStore(path: directory.path + "/remote")
    let stores = [try filled(), try Store(path: directory.path + "/other.satchel")]
    func syncBoth() throws {
      for store in stores + stores { _ = try store.sync(with: remote, user: UserID("ana")) }
    }
    try syncBoth()
    for store in stores { try expectFound(store) }
    try notes(stores[0]).put("n0", ["title": "Plum"])
    try notes(stores[1]).delete("n2")
    try notes(stores[1]).put("n10", ["title": "Apple", "place": ["lat": 50.0, "lon": 5.0]])
    try syncBoth()
    for store in stores {
      #expect(try notes(store).search("apple", limit: 1000).count == 98)
      #expect(try notes(store).search("plum").map(\.record.id) == ["n0"])
      #expect(try notes(store).near(latitude: 1, longitude: 5, within: 10).isEmpty)
      #expect(try notes(store).near(latitude: 50, longitude: 5, within: 10).map(\.record.id) == ["n10"])
      #expect(try store.check() == [])
    }
  }

  @Test("sealed fields are returned, and a search needs their key") func sealed() throws {
    let store = try Store(path: path)
    try store.state.setKey([UInt8](repeating: 7, count: 32))
    let notes = try store.records("notes", sensitive: ["code"], search: ["title"])
    try notes.put("a", ["title": "apple", "code": "1234"])
    let hit = try #require(try notes.search("apple").first)
    #expect(try hit.record.document["code"] == "1234")
    try notes.update("a", ["code": "5678"])
    #expect(try notes.search("apple").first?.record.document["code"] == "5678")
    #expect(try store.check() == [])
  }

  @Test("the excerpt's highlights are ranges of it") func highlights() throws {
    let store = try Store(path: path)
    let notes = try notes(store)
    try notes.put("a", ["title": "x", "body": "Füße 日本語 Crème brûlée"])
    let hit = try #require(try notes.search("creme 本語").first)
    #expect(hit.path == "body")
    #expect(hit.highlights.map { hit.excerpt[$0] } == ["本語", "Crème"])
    struct Note: Codable { var title: String }
    #expect(try notes.typed(hit.record, as: Note.self).title == "x")
    var bytes: [UInt8] = []
    try notes.writeSearch(json: ["text": "fuss", "limit": 1], into: &bytes)
    let json = try JSONValue(parsing: bytes)
    #expect(json.arrayValue?.count == 1)
    #expect(json.arrayValue?.first?["highlights"] == [[0, 6]])
    #expect(json.arrayValue?.first?["record"]?["id"] == "a")
  }
}
