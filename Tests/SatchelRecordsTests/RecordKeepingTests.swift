import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Versions, mirrors and schemas of records")
struct RecordKeepingTests {
  private func steps(_ text: String) throws -> RecordMigration {
    try RecordMigration(json: JSONValue(parsing: Array(text.utf8)))
  }

  private func open(
    _ shelf: RecordShelf, _ version: Int, indexes: [RecordIndex] = [], _ migrations: [RecordMigration] = []
  ) throws -> RecordCollection {
    try shelf.store.open(
      CollectionDeclaration("courses", indexes: indexes, version: version, migrations: migrations))
  }

  @Test("records are migrated after a backup, and an older app migrates them back")
  func migrate() throws {
    let shelf = try RecordShelf(onDisk: true)
    let old = try open(shelf, 1, indexes: [RecordIndex("name")])
    try shelf.database.write { _ in
      for number in 0..<600 {
        try old.put("c\(number)", ["name": .string("n\(number)"), "extra": .int(Int64(number))])
      }
    }
    let migrations = [
      try steps(#"[{"rename":{"from":"name","to":"title"}}]"#),
      try steps(#"[{"remove":{"path":"extra"}},{"default":{"path":"credits","value":3}}]"#),
    ]
    #expect(message(.invalid) { _ = try open(shelf, 3, [migrations[0]]) }.contains("needs 2 migrations"))
    let new = try open(shelf, 3, indexes: [RecordIndex("title", unique: true)], migrations)
    #expect(try new.get("c7")?.document == ["title": "n7", "credits": 3])
    #expect(try new.ids(["where": ["title": "n599"]]) == ["c599"])
    #expect(try new.get("c7")?.revision == 1)
    #expect(message(.newer) { try old.put("x", ["a": 1]) }.contains("version 3"))
    let backups = try shelf.directory?.files().filter { $0.contains(".before-courses-1-") } ?? []
    #expect(backups.count == 1)
    try shelf.expectSound()
    try new.put("young", ["title": "y", "credits": 4])
    let back = try open(shelf, 1, indexes: [RecordIndex("name")])
    #expect(try back.get("c7")?.document == ["name": "n7", "extra": 7])
    #expect(try back.get("young")?.document["name"] == "y")
    #expect(try back.ids(["where": ["name": "n3"]]) == ["c3"])
    try shelf.expectSound()
    #expect(try shelf.database.read { try $0.number("SELECT count(*) FROM record_kept") } == 0)
  }

  @Test("a failed migration names the record and changes nothing; a callback without an inverse throws newer")
  func failing() throws {
    let shelf = try RecordShelf(onDisk: true)
    let old = try open(shelf, 1)
    try old.put("c1", ["n": "1"])
    try old.put("c2", ["n": "many"])
    let convert = try steps(#"[{"convert":{"path":"n","to":"integer"}}]"#)
    let text = message(.invalid) { _ = try open(shelf, 2, [convert]) }
    #expect(text.hasPrefix("courses/c2: ") && text.contains("/n"), "\(text)")
    #expect(try old.get("c1")?.document == ["n": "1"])
    let callback = RecordMigration.callback(
      RecordCallback { _, document, _, _ in
        var document = document
        document["done"] = true
        return document
      })
    let new = try open(shelf, 2, [callback])
    #expect(try new.get("c2")?.document == ["n": "many", "done": true])
    #expect(message(.newer) { _ = try open(shelf, 1) }.contains("cannot be migrated back"))
    try shelf.expectSound()
  }

  @Test("a mirror follows each commit, is compared, and either side is rebuilt from the other")
  func mirror() throws {
    let shelf = try RecordShelf(onDisk: true)
    let courses = try shelf.collection("courses")
    let path = (shelf.directory?.path ?? "") + "/courses.json"
    #expect(throws: SatchelError.self) { _ = try courses.verifyMirror() }
    try courses.put("c1", ["a": 1])
    try courses.mirror(path, format: .checksummed)
    try courses.put("c2", ["a": 2])
    try courses.delete("c1")
    #expect(try courses.verifyMirror().isEmpty)
    #expect(try MirrorFile.read(path, collection: "courses")?.records.map(\.id) == ["c2"])
    let saved = try #require(try MirrorFile.read(path, collection: "courses"))
    try courses.put("c3", ["a": 3])
    try courses.put("c2", ["a": 5])
    #expect(try courses.verifyMirror().isEmpty)
    try saved.write(to: path)
    #expect(
      try courses.verifyMirror() == [
        MirrorDifference(id: "c2", kind: .differs, pointer: "/a"),
        MirrorDifference(id: "c3", kind: .missingInFile, pointer: nil),
      ])
    #expect(try courses.rebuildFromMirror() == 2)
    #expect(try courses.ids() == ["c2"] && courses.get("c2")?.document == ["a": 2])
    // Its content was written again: the revision that the file has was given to another content since.
    #expect(try courses.get("c2")?.revision ?? 0 > saved.records[0].revision)
    try Data("no mirror".utf8).write(to: URL(filePath: path))
    #expect(throws: SatchelError.self) { _ = try courses.verifyMirror() }
    #expect(throws: SatchelError.self) { _ = try courses.rebuildFromMirror() }
    #expect(try courses.rebuildMirror() == 1)
    #expect(try courses.verifyMirror().isEmpty)
    try shelf.expectSound()
  }

  @Test("with the file first, it is written before the commit, and imported on request")
  func fileFirst() throws {
    let shelf = try RecordShelf(onDisk: true)
    let courses = try shelf.collection("courses", indexes: [RecordIndex("a")])
    let directory = (shelf.directory?.path ?? "") + "/mirrors"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try courses.mirror(directory + "/courses.json", format: .checksummed, mode: .fileFirst)
    try courses.put("c1", ["a": 1])
    try courses.put("c2", ["a": 2])
    #expect(try courses.verifyMirror().isEmpty)
    let file = try #require(try MirrorFile.read(directory + "/courses.json", collection: "courses"))
    try MirrorFile(collection: "courses", version: 1, records: file.records.dropFirst()).write(
      to: directory + "/courses.json")
    let again = try shelf.collection("courses", indexes: [RecordIndex("a")])
    #expect(
      message(.invalid) {
        try again.mirror(directory + "/courses.json", format: .checksummed, mode: .fileFirst)
      }
      .contains("1 only in the store (c1)"))
    try again.mirror(directory + "/courses.json", prefer: .file, format: .checksummed, mode: .fileFirst)
    #expect(try again.ids() == ["c1", "c2"])
    try MirrorFile(collection: "courses", version: 1, records: file.records.dropFirst()).write(
      to: directory + "/courses.json")
    #expect(try again.rebuildFromMirror() == 1)
    #expect(try again.ids() == ["c2"])
    // When the file cannot be written, the record is not written either.
    try FileManager.default.removeItem(atPath: directory)
    #expect(throws: SatchelError.self) { try again.put("c3", ["a": 3]) }
    #expect(try again.ids() == ["c2"])
    try shelf.expectSound()
  }

  @Test(
    "a document that violates the schema is rejected with the pointer, also one that a deletion changes"
  )
  func schema() throws {
    let shelf = try RecordShelf()
    let schema: JSONValue = [
      "type": "object", "required": ["title"],
      "properties": ["title": ["type": "string"], "semester": ["type": "string"]],
    ]
    let semesters = try shelf.collection("semesters")
    let courses = try shelf.store.open(
      CollectionDeclaration(
        "courses", relations: ["semester": RecordRelation("semesters", onDelete: .nullify)], schema: schema))
    try semesters.put("s1", [:])
    try courses.put("c1", ["title": "x", "semester": "s1"])
    #expect(message(.constraint) { try courses.put("c2", ["title": 1]) }.hasPrefix("courses/c2: /title: "))
    #expect(throws: SatchelError.self) { try courses.put("c2", [:]) }
    #expect(message(.constraint) { try semesters.delete("s1") }.hasPrefix("courses/c1: /semester: "))
    #expect(try courses.get("c1")?.document["semester"] == "s1")
    #expect(throws: SatchelError.self) {
      _ = try shelf.store.open(CollectionDeclaration("other", schema: ["type": "thing"]))
    }
    try shelf.expectSound()
  }

  @Test("ids beyond the index of hashes are found by every handle, before and after it is merged")
  func deferredIndex() throws {
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let (here, there) = (try shelf.collection("courses"), try other.collection("courses"))
    func write(_ shelf: RecordShelf, _ courses: RecordCollection, _ range: Range<Int>) throws {
      try shelf.database.write { _ in
        for number in range { try courses.put("c\(number)", ["n": .int(Int64(number))]) }
      }
    }
    try write(shelf, here, 0..<9000)
    try write(other, there, 8000..<10_000)
    try write(shelf, here, 9500..<20_000)
    for number in stride(from: 0, to: 20_000, by: 371) {
      #expect(try here.get("c\(number)")?.document["n"] == .int(Int64(number)))
      #expect(try there.get("c\(number)")?.document["n"] == .int(Int64(number)))
    }
    try other.database.write { _ in
      for number in stride(from: 0, to: 20_000, by: 40) { try there.delete("c\(number)") }
    }
    #expect(try here.get("c40") == nil && here.get("c41") != nil && here.count() == 19_500)
    try shelf.expectSound()
    try other.database.close()
    try shelf.expectSound()
    let merged = try shelf.database.read { try $0.number("SELECT sum(length(entries)) / 16 FROM record_key") }
    #expect(merged == 19_500)
    #expect(try here.put("c40", ["n": 40]).isNew)
    try shelf.expectSound()
  }

  @Test("a check reports inconsistencies")
  func check() throws {
    let shelf = try RecordShelf()
    let semesters = try shelf.collection("semesters")
    let courses = try shelf.collection(
      "courses", indexes: [RecordIndex("n")], relations: ["s": RecordRelation("semesters")])
    try semesters.put("s1", [:])
    try courses.put("c1", ["n": 1, "s": "s1"])
    let damages: [(StaticString, String)] = [
      ("UPDATE record_collection SET count = 7", "record_collection"),
      ("DELETE FROM record_value", "record_value"),
      ("DELETE FROM record_reference", "record_reference"),
      ("DELETE FROM record WHERE key = 's1'", "record_reference"),
      ("UPDATE record SET body = CAST('{' AS BLOB) WHERE key = 'c1'", "record"),
      ("INSERT INTO record_value VALUES(99, x'01', 5)", "record_value"),
      ("INSERT INTO record_value SELECT index_id, x'00', record FROM record_value", "record_value"),
      ("INSERT INTO record_key VALUES(1, zeroblob(16))", "record_key"),
      ("UPDATE record_collection SET indexed_through = 9", "record_collection"),
    ]
    struct Stop: Error {}
    for (sql, code) in damages {
      #expect(throws: Stop.self) {
        try shelf.database.write { transaction in
          try transaction.connection.run(sql)
          #expect(try RecordCollection.check(shelf.database).contains { $0.code == code }, "\(sql)")
          throw Stop()
        }
      }
    }
    try shelf.expectSound()
  }
}
