import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelDocuments
import SatchelRecords

@Suite("A migration of a collection is a closed world")
struct ClosedMigrationTests {
  /// Opens "notes" with a migration by a function.
  private func open(
    _ shelf: RecordShelf, _ function: @escaping @Sendable (String, JSONObject) throws -> Void
  ) throws -> RecordCollection {
    let callback = try RecordMigration(json: "callback") { id, document, _, _ in
      try function(id, document)
      return document
    }
    return try shelf.collection("notes", version: 2, migrations: [callback])
  }

  @Test(
    "its function cannot write to the store, by any handle of the thread, and everything is rolled back")
  func refusesWrites() throws {
    let shelf = try RecordShelf(onDisk: true)
    let (notes, other) = (try shelf.collection("notes", indexes: [RecordIndex("n")]), try shelf.another())
    try notes.putAll([("a", ["n": 1]), ("b", ["n": 2])])
    let elsewhere = try other.collection("notes")
    let calls: [(RecordCollection) throws -> Void] = [
      { try $0.put("x", ["n": 3]) }, { try $0.delete("a") }, { try $0.clear() },
      { try $0.update("a", ["n": 3]) }, { try $0.putAll([("x", ["n": 3])]) },
      { _ = try $0.putAllValid([("x", ["n": 3])]) }, { try $0.deleteMany(["a"]) },
      { try $0.putDeferred("x", ["n": 3] as JSONValue) },
    ]
    for collection in [notes, elsewhere] {
      for call in calls {
        nonisolated(unsafe) let call = call
        let text = message(.invalid) {
          _ = try open(shelf) { id, _ in if id == "b" { try call(collection) } }
        }
        #expect(text.contains("the migration of notes to version 2"))
        #expect(text.contains("must not write"))
      }
    }
    let (database, store) = (shelf.database, shelf.store)
    #expect(throws: SatchelError.self) { _ = try open(shelf) { _, _ in try database.begin() } }
    #expect(throws: SatchelError.self) {
      _ = try open(shelf) { _, _ in _ = try store.open(CollectionDeclaration("others")) }
    }
    #expect(try notes.ids() == ["a", "b"])
    #expect(try notes.count(["where": ["n": 2]]) == 1)
    #expect(try shelf.store.collections().map(\.name) == ["notes"])
    try shelf.expectSound()
  }

  @Test(
    "its function can read, a refusal that it handles changes nothing, and writes are possible afterwards")
  func handled() throws {
    let shelf = try RecordShelf()
    let notes = try shelf.collection("notes", indexes: [RecordIndex("n")])
    try notes.putAll([("a", ["n": 1]), ("b", ["n": 2])])
    let migrated = try open(shelf) { _, _ in
      #expect(throws: SatchelError.self) { try notes.put("x", ["n": 3]) }
      let ids = try notes.ids()
      #expect(ids == ["a", "b"])
    }
    try migrated.put("x", ["n": 3])
    #expect(try migrated.ids(["where": ["n": 3]]) == ["x"])
    try shelf.expectSound()
  }

  @Test("another handle's write meanwhile finds the store busy, as during any other write")
  func others() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    try notes.putAll([("a", ["n": 1]), ("b", ["n": 2])])
    let impatient = try shelf.another(busyTimeout: 10)
    let elsewhere = try impatient.collection("others")
    let failures = Locked<[String]>([])
    _ = try open(shelf) { id, _ in
      let thread = SystemThread {
        do {
          try elsewhere.put(id, ["n": 1])
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      thread?.join()
    }
    // The store was busy: the writes were spooled.
    #expect(failures.withLock { $0 } == [])
    try elsewhere.put("x", ["n": 1])
    #expect(try elsewhere.ids() == ["a", "b", "x"])
    try shelf.expectSound()
  }

  @Test("indexes, relations and sensitive fields go with a field that is renamed or moved, and back")
  func declarationsMove() throws {
    let shelf = try RecordShelf()
    let parents = try shelf.collection("parents")
    try parents.put("p", [:])
    let relation = RecordRelation("parents", onDelete: .cascade)
    let first = try shelf.collection(
      "kids", indexes: [RecordIndex("code", unique: true), RecordIndex("name.last")],
      relations: ["parent": relation], version: 1)
    try first.put("k", ["parent": "p", "code": 1, "name": ["last": "A"]])
    let steps: [RecordMigration] = try [
      .steps([
        .rename(from: JSONPath("parent"), to: JSONPath("mother")),
        .rename(from: JSONPath("code"), to: JSONPath("number")),
      ]),
      .steps([
        .move(from: JSONPath("number"), to: JSONPath("/ids/a.b")),
        .rename(from: JSONPath("name"), to: JSONPath("names")),
      ]),
    ]
    let heard = Locked<[Change]>([])
    let observer = try shelf.database.observe { change in heard.withLock { $0.append(change) } }
    let third = try shelf.collection(
      "kids", indexes: [RecordIndex("/ids/a.b", unique: true)], version: 3, migrations: steps)
    observer.cancel()
    #expect(heard.withLock { $0 }.contains { $0.subject == .records && $0.keys == ["kids"] })
    let info = try #require(try shelf.store.collections().first { $0.name == "kids" })
    #expect(
      info.indexes == [["path": "/ids/a.b", "unique": true], ["path": "names.last", "unique": false]])
    #expect(info.relations == ["mother": relation.json])
    #expect(message(.constraint) { try third.put("k2", ["ids": ["a.b": 1]]) }.contains("kids/k has the same"))
    #expect(throws: SatchelError.self) { try third.put("k2", ["mother": "q"]) }
    try shelf.expectSound()
    let again = try shelf.collection(
      "kids", indexes: [RecordIndex("/ids/a.b", unique: true), RecordIndex("names.last")], version: 3,
      migrations: steps)
    try again.put("k2", ["ids": ["a.b": 2]])
    let back = try shelf.collection("kids", version: 1)
    #expect(throws: SatchelError.self) { try back.put("k3", ["code": 2]) }
    try parents.delete("p")
    #expect(try back.ids() == ["k2"])
    #expect(
      try shelf.store.collections().first { $0.name == "kids" }?.indexes == [
        ["path": "code", "unique": true], ["path": "name.last", "unique": false],
      ])
    try shelf.expectSound()
  }

  @Test("an index of a path that a migration moves away is refused; one of a new value at that path is not")
  func contradiction() throws {
    let shelf = try RecordShelf()
    let first = try shelf.collection("kids", indexes: [RecordIndex("code", unique: true)], version: 1)
    try first.put("k", ["code": 1])
    let rename = MigrationStep.rename(from: try JSONPath("code"), to: try JSONPath("number"))
    #expect(
      message(.invalid) {
        _ = try shelf.collection(
          "kids", indexes: [RecordIndex("code", unique: true)], version: 2, migrations: [.steps([rename])])
      }
        == #"kids: the migration to version 2 moves "code" to "number": declare the index of "number""#)
    let refilled: [MigrationStep] = try [rename, .setDefault(path: JSONPath("code"), value: "")]
    let second = try shelf.collection(
      "kids", indexes: [RecordIndex("code")], version: 2, migrations: [.steps(refilled)])
    #expect(try second.ids(["where": ["code": ""]]) == ["k"])
    #expect(throws: SatchelError.self) { try second.put("k2", ["number": 1]) }
    try shelf.expectSound()
  }
}
