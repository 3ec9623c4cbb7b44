import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("What was spilled comes before what is written later")
struct SpillOrderTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/a.satchel" }

  init() throws { folder = try TemporaryDirectory() }

  /// A store whose record `n1` has gone to the spill file, since another handle was in a transaction.
  private func spilling() throws -> Satchel {
    var options = StoreOptions()
    options.busyTimeout = 1
    let (writer, store) = (try Satchel(path: path), try Satchel(path: path, options: options))
    let notes = try store.records("notes")
    try writer.batch {
      _ = try writer.records("other")
      #expect(try notes.put("n1", ["text": "spilled"]).isSpilled)
    }
    try writer.close()
    #expect(FileManager.default.fileExists(atPath: path + ".spill"))
    return store
  }

  @Test("an import")
  func importing() throws {
    let store = try spilling()
    let notes = try store.records("notes")
    let record = ImportedRecord(id: "n1", document: Array(#"{"text":"imported"}"#.utf8))
    let report = try notes.take([record]) { _, _ in }
    #expect(report.changed == 1)
    #expect(try notes.get("n1")?.document == ["text": "imported"])
    try store.close()
    #expect(try Satchel(path: path).records("notes").get("n1")?.document == ["text": "imported"])
  }

  @Test("a collection that is declared anew: the index has the record")
  func declaring() throws {
    let store = try spilling()
    let notes = try store.records("notes", indexes: [RecordIndex("text", unique: true)])
    #expect(try notes.get("n1")?.document == ["text": "spilled"])
    #expect(throws: SatchelError.self) { try notes.put("n2", ["text": "spilled"]) }
    #expect(try store.check().isEmpty)
  }

  @Test("beside a store that was set aside it waits for its collection to be declared")
  func setAside() throws {
    try spilling().close()
    try Data("no store at all".utf8).write(to: URL(filePath: path))
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    var options = StoreOptions()
    options.setsAside = true
    let store = try Satchel(path: path, options: options)
    #expect(store.setAsidePath != nil)
    #expect(try store.check().map(\.code) == ["refused_change"])
    let notes = try store.records("notes")
    #expect(try notes.get("n1")?.document == ["text": "spilled"])
    #expect(try store.check().isEmpty)
  }
}
