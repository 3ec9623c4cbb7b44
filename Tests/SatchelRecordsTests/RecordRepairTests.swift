import Foundation
import Satchel
import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Records after rows of their tables were lost")
struct RecordRepairTests {
  private static let tables = [
    "record", "record_collection", "record_key", "record_index", "record_value", "record_relation",
    "record_reference", "record_kept", "record_migration",
  ]

  /// The row number of the tables whose key is not "id".
  private static let columns = [
    "record_key": "abs(first % 997)", "record_value": "record", "record_kept": "record",
    "record_reference": "source",
    "record_migration": "version",
  ]

  private func open(_ shelf: RecordShelf) throws -> (courses: RecordCollection, tasks: RecordCollection) {
    let courses = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
    let tasks = try shelf.collection(
      "tasks", indexes: [RecordIndex("n")],
      relations: ["course": RecordRelation("courses", onDelete: .nullify)])
    return (courses, tasks)
  }

  private func fill(_ shelf: RecordShelf) throws {
    let (courses, tasks) = try open(shelf)
    for number in 0..<40 { try courses.put("c\(number)", ["code": .int(Int64(number))]) }
    for number in 0..<120 {
      try tasks.put("t\(number)", ["n": .int(Int64(number % 7)), "course": .string("c\(number % 40)")])
    }
    for index in [shelf.store.keys(of: 1), shelf.store.keys(of: 2)] {
      try shelf.database.write { try index.merge(in: $0) }
    }
    // Some rows that are not in the index of ids.
    for number in 120..<140 { try tasks.put("t\(number)", ["n": .int(Int64(number % 7))]) }
    try tasks.delete("t139")
  }

  private func lose(_ tables: some Sequence<String>, from path: String, _ random: inout SeededRandom) throws {
    let database = try Database.open(
      path: path, options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    defer { try? database.close() }
    for table in tables {
      let share = Int.random(in: 2..<6, using: &random)
      let start = Int.random(in: 0..<100, using: &random)
      let column = Self.columns[table] ?? "id"
      try database.write {
        try $0.connection.execute("DELETE FROM \(table) WHERE (\(column) * 7919 + \(start)) % 6 < \(share)")
      }
    }
  }

  @Test(
    "after any loss of rows, the remaining documents are found, counted and indexed",
    arguments: Portion.of(1...24))
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    try fill(shelf)
    try shelf.database.close()
    let count = Int.random(in: 1...Self.tables.count, using: &random)
    try lose(Self.tables.shuffled(using: &random).prefix(count), from: shelf.path, &random)
    let broken = try shelf.another()
    let left = try broken.database.read { connection in
      var left: [String: String] = [:]
      try connection.each("SELECT id >> 40, key, body FROM record") {
        left["\($0.anyInteger(0))/\($0.text(1))"] = $0.text(2)
      }
      return left
    }
    try RecordCollection.repair(broken.database)
    let dangling = try RecordCollection.check(broken.database).filter {
      !$0.message.hasSuffix("has no target")
    }
    #expect(dangling.map(\.message) == [])
    try broken.database.close()
    let again = try shelf.another()
    // Collections whose row was lost get another name, unless a relation has it.
    var found: [String: String] = [:]
    for info in try again.store.collections() {
      let collection = try again.store.open(CollectionDeclaration(info.name))
      let records = try collection.list()
      #expect(info.count == records.count)
      for record in records {
        found["\(collection.id)/\(record.id)"] = String(decoding: record.body, as: UTF8.self)
        #expect(try collection.get(record.id) == record)
      }
      let before = try again.database.read { try $0.number("SELECT max(id) FROM record") }
      try collection.put("new", [:])
      #expect(try collection.count() == records.count + 1)
      #expect(try again.database.read { try $0.number("SELECT max(id) FROM record") } > before - 1)
      try collection.delete("new")
    }
    #expect(found == left)
    if let tasks = try? again.collection("tasks", indexes: [RecordIndex("n")]) {
      for number in 0..<7 {
        let expected = try tasks.list().filter { try $0.document["n"] == .int(Int64(number)) }.map(\.id)
        #expect(try tasks.ids(["where": ["n": .int(Int64(number))]]) == expected)
      }
    }
    #expect(try RecordCollection.repair(again.database) == [], "a second time there is nothing to do")
  }

  @Test("row numbers are not reused, and damaged documents are deleted")
  func numbers() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes")
    for number in 1...9 { try notes.put("n\(number)", ["n": .int(Int64(number))]) }
    try shelf.database.write {
      try $0.connection.execute("DELETE FROM record WHERE key IN ('n8', 'n9')")
      try $0.connection.execute("UPDATE record SET body = x'7B226E22' WHERE key = 'n3'")
    }
    let next = try shelf.database.read { try CollectionState.read(notes.id, $0)?.numbers.next }
    let findings = try RecordCollection.repair(shelf.database)
    #expect(findings.map(\.message) == ["the record n3 was damaged, and was deleted"])
    #expect(try shelf.database.read { try CollectionState.read(notes.id, $0)?.numbers.next } == next)
    let again = try shelf.another().collection("notes")
    #expect(try again.ids() == ["n1", "n2", "n4", "n5", "n6", "n7"])
    #expect(try again.count() == 6 && again.get("n9") == nil)
    try shelf.expectSound()
  }

  @Test("a recovered store is sound, and downloads lost records again", arguments: [2, 5, 9])
  func recovered(every: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/damaged.satchel"
    let store = try Store(path: path)
    let tasks = try store.records("tasks", indexes: [RecordIndex("n")])
    let filling = String(repeating: "x", count: 900)
    func put(_ number: Int, _ tasks: RecordCollection) throws {
      try tasks.put("t\(number)", ["n": .int(Int64(number % 9)), "filling": .string(filling)])
    }
    for number in 0..<400 { try put(number, tasks) }
    try store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let pages = bytes.count / 4096
    for page in stride(from: pages / 3, to: pages * 2 / 3, by: every) {
      bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    let report = try Store.recover(path, into: directory.path + "/new.satchel")
    #expect(report.findings == [])
    let new = try Store(path: directory.path + "/new.satchel")
    let saved = try new.records("tasks", indexes: [RecordIndex("n")])
    let count = try saved.count()
    #expect(count < 400 && count == report.tables.first { $0.name == "record" }?.rows)
    for number in 0..<400 where try saved.get("t\(number)") == nil { try put(number, saved) }
    #expect(try saved.count() == 400)
    #expect(try saved.count(["where": ["n": 3]]) == 45)
    #expect(try new.check() == [])
    try new.close()
  }
}
