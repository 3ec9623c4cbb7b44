import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Spooled writes are applied before later writes")
struct SpoolOrderTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/a.satchel" }

  init() throws { folder = try TemporaryDirectory() }

  /// A store whose record `n1` was spooled, because another handle was in a transaction.
  private func spooling() throws -> Store {
    var options = StoreOptions()
    options.busyTimeout = 1
    let (writer, store) = (try Store(path: path), try Store(path: path, options: options))
    let notes = try store.records("notes")
    try writer.batch {
      _ = try writer.records("other")
      #expect(try notes.put("n1", ["text": "spooled"]).isSpooled)
    }
    try writer.close()
    #expect(FileManager.default.fileExists(atPath: path + ".outbox"))
    return store
  }

  @Test("before an import")
  func importing() throws {
    let store = try spooling()
    let notes = try store.records("notes")
    let record = ImportedRecord(id: "n1", document: Array(#"{"text":"imported"}"#.utf8))
    let report = try notes.importRecords([record]) { _, _ in }
    #expect(report.changed == 1)
    #expect(try notes.get("n1")?.document == ["text": "imported"])
    try store.close()
    #expect(try Store(path: path).records("notes").get("n1")?.document == ["text": "imported"])
  }

  @Test("before a collection is declared again, so that a new index has the record")
  func declaring() throws {
    let store = try spooling()
    let notes = try store.records("notes", indexes: [RecordIndex("text", unique: true)])
    #expect(try notes.get("n1")?.document == ["text": "spooled"])
    #expect(throws: SatchelError.self) { try notes.put("n2", ["text": "spooled"]) }
    #expect(try store.check().isEmpty)
  }

  @Test("next to a quarantined store, when the collection is declared in the new one")
  func quarantine() throws {
    try spooling().close()
    try Data("no store at all".utf8).write(to: URL(filePath: path))
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    var options = StoreOptions()
    options.quarantine = true
    let store = try Store(path: path, options: options)
    #expect(store.quarantinePath != nil)
    #expect(try store.check().map(\.code) == ["rejected_change"])
    let notes = try store.records("notes")
    #expect(try notes.get("n1")?.document == ["text": "spooled"])
    #expect(try store.check().isEmpty)
  }
}
