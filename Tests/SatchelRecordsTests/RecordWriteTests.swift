import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Writing records")
struct RecordWriteTests {
  @Test("a document is returned byte for byte, with its revision and times")
  func roundTrip() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    let text = #"{ "title":"Über", "n": 1.10, "b":[1,  2], "\u0061": null }"#
    let receipt = try courses.put("c1", text: text)
    #expect(receipt == RecordReceipt(revision: 1, isNew: true))
    let record = try #require(try courses.get("c1"))
    #expect(String(decoding: record.body, as: UTF8.self) == text)
    #expect(record.revision == 1 && record.created == record.modified && record.syncStatus == .local)
    #expect(try courses.put("c1", ["a": 1]) == RecordReceipt(revision: 2, isNew: false))
    #expect(try courses.get("c1")?.created == record.created)
    #expect(try courses.text("c1") == #"{"a":1}"#)
    #expect(try courses.get("c2") == nil)
    #expect(try courses.delete("c1") && !courses.delete("c1"))
    #expect(try courses.get("c1") == nil && courses.count() == 0)
    // Never a revision that was given before: a stale one must not match.
    #expect(try courses.put("c1", ["a": 1]) == RecordReceipt(revision: 3, isNew: true))
    try shelf.expectSound()
  }

  @Test(
    "a new record never has a revision that one with its id had: after a deletion, clear and drop, by any handle"
  )
  func revisionsAreNotGivenAgain() throws {
    let shelf = try RecordShelf(onDisk: true)
    let courses = try shelf.collection("courses")
    var given: [Int64] = []
    given.append(try courses.put("c1", ["a": 1]).revision)
    given.append(try courses.put("c1", ["a": 1]).revision)
    try courses.delete("c1")
    given.append(try courses.put("c1", ["a": 1]).revision)
    let other = try shelf.another()
    try other.collection("courses").delete("c1")
    given.append(try other.collection("courses").put("c1", ["a": 1]).revision)
    try courses.clear()
    given.append(try courses.put("c1", ["a": 1]).revision)
    try courses.delete("c1")
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try shelf.database.write { _ in
        try courses.put("c1", ["a": 1])
        try courses.delete("c1")
        throw Stop()
      }
    }
    given.append(try courses.put("c1", ["a": 1]).revision)
    for _ in 0..<2 {
      try shelf.store.drop("courses", discardsUnsent: true)
      given.append(try shelf.collection("courses").put("c1", ["a": 1]).revision)
    }
    _ = try RecordCollection.repair(shelf.database)
    let repaired = try shelf.collection("courses")
    try repaired.delete("c1")
    given.append(try repaired.put("c1", ["a": 1]).revision)
    #expect(try repaired.get("c1")?.revision ?? 0 > 1 << 24)
    try shelf.expectSound()
    #expect(Set(given).count == given.count, "given: \(given)")
  }

  @Test("a revision that is not the expected one throws an error that names both")
  func expectedRevision() throws {
    let courses = try RecordShelf().collection("courses")
    try courses.put("c1", ["a": 1], ifRevision: 0)
    #expect(
      message(.conflict) { try courses.put("c1", ["a": 2], ifRevision: 0) }
        == "courses/c1: its revision is 1, none was expected")
    #expect(
      message(.conflict) { try courses.put("c1", ["a": 2], ifRevision: 7) }
        == "courses/c1: its revision is 1, revision 7 was expected")
    #expect(
      message(.conflict) { try courses.delete("c2", ifRevision: 3) }
        == "courses/c2: there is no such record, revision 3 was expected")
    #expect(try courses.put("c1", ["a": 2], ifRevision: 1).revision == 2)
    #expect(try courses.delete("c1", ifRevision: 2))
  }

  @Test(
    "an invalid id is rejected",
    arguments: ["", "a\u{0}b", "a\nb", "\u{7f}", "\u{85}", String(repeating: "é", count: 128)])
  func badIDs(id: String) throws {
    let courses = try RecordShelf().collection("courses")
    #expect(throws: SatchelError.self) { try courses.put(id, ["a": 1]) }
    #expect(throws: SatchelError.self) { try courses.get(id) }
    #expect(throws: SatchelError.self) { try courses.delete(id) }
  }

  @Test("ids are compared by their bytes")
  func idBytes() throws {
    let courses = try RecordShelf().collection("courses")
    for (number, id) in ["é", "e\u{301}", "E", "e", " ", String(repeating: "x", count: 255)].enumerated() {
      try courses.put(id, ["n": .int(Int64(number))])
    }
    #expect(try courses.count() == 6)
    #expect(try courses.get("é")?.document["n"] == 0)
    #expect(try courses.get("e\u{301}")?.document["n"] == 1)
  }

  @Test(
    "an invalid document is rejected with its position",
    arguments: [
      "", "[]", "1", "{", #"{"a":1,"a":2}"#, "{\"a\":\"\u{1}\"}", #"{"a":"\ud800"}"#, "\u{FEFF}{}", "{} x",
    ])
  func badDocuments(text: String) throws {
    let courses = try RecordShelf().collection("courses")
    #expect(message(.invalid) { try courses.put("c1", text: text) }.hasPrefix("courses/c1: "))
    #expect(try courses.count() == 0)
  }

  @Test("invalid UTF-8 and 513 levels are rejected, and 10 MB are accepted")
  func hostile() throws {
    let courses = try RecordShelf().collection("courses")
    let bad: [UInt8] = Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    #expect(throws: SatchelError.self) { try bad.withUnsafeBytes { try courses.put("c1", $0) } }
    func nested(_ levels: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
    }
    #expect(throws: SatchelError.self) { try courses.put("c1", text: nested(513)) }
    try courses.put("deep", text: nested(512))
    #expect(try courses.text("deep") == nested(512))
    let large = #"{"a":""# + String(repeating: "x", count: 10_000_000) + #"","z":1}"#
    try courses.put("large", text: large)
    #expect(try courses.text("large") == large)
    #expect(try courses.ids(["where": ["z": 1]]) == ["large"])
  }

  @Test("a batch is atomic, and an inner failure rolls back only itself")
  func batch() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try shelf.database.write { _ in
        try courses.put("c1", ["code": "A"])
        #expect(try courses.count() == 1)
        throw Stop()
      }
    }
    #expect(try courses.count() == 0 && courses.get("c1") == nil)
    try shelf.database.write { _ in
      try courses.put("c1", ["code": "A"])
      #expect(throws: SatchelError.self) { try courses.put("c2", ["code": ["A"]]) }
      #expect(throws: Stop.self) {
        try shelf.database.write { _ in
          try courses.put("c3", ["code": "C"])
          try courses.delete("c1")
          #expect(try courses.ids() == ["c3"])
          throw Stop()
        }
      }
      #expect(try courses.ids() == ["c1"])
      try courses.put("c4", ["code": "C"])
    }
    #expect(try courses.ids() == ["c1", "c4"] && courses.count() == 2)
    try shelf.expectSound()
  }

  @Test("observers are notified of changed records; of very many, only of the collection")
  func notes() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    let heard = Locked<[[String]]>([])
    let observation = try shelf.database.observe { change in
      if change.subject == .records { heard.withLock { $0.append(change.keys) } }
    }
    defer { observation.cancel() }
    try courses.put("c1", ["a": 1])
    try shelf.database.write { _ in
      try courses.put("c2", ["a": 1])
      try courses.delete("c1")
    }
    try shelf.database.write { _ in for number in 0...1000 { try courses.put("n\(number)", ["a": 1]) } }
    #expect(heard.withLock { $0 } == [["courses/c1"], ["courses/c2", "courses/c1"], ["courses"]])
  }

  @Test("a write that the store cannot accept is spooled, reported, and drained in order by the next write")
  func spooled() throws {
    let shelf = try RecordShelf(onDisk: true)
    try shelf.collection("courses").put("c0", ["n": 0])
    let impatient = try shelf.another(busyTimeout: 5)
    let courses = try impatient.collection("courses")
    let heard = Locked<[[String]]>([])
    let observation = try impatient.database.observe { change in
      if change.isOwn { heard.withLock { $0.append(change.keys) } }
    }
    defer { observation.cancel() }
    try shelf.database.write { (_: Transaction) throws in
      #expect(
        try courses.put("c1", text: #"{ "n": 1.0 }"#)
          == RecordReceipt(revision: 0, isNew: false, isSpooled: true))
      #expect(try courses.put("c1", ["n": 2], ifRevision: 1).isSpooled)
      #expect(try courses.put("c2", ["n": 3], ifRevision: 7).isSpooled)
      #expect(try courses.delete("c0"))
      #expect(try Array(#"{"c3":{"n":4}}"#.utf8).withUnsafeBytes { try courses.putMany($0) } == 0)
      #expect(try courses.ids() == ["c0"])
    }
    try courses.put("c4", ["n": 5])
    #expect(try courses.ids() == ["c1", "c3", "c4"])
    #expect(try courses.get("c1")?.revision == 2)
    #expect(try impatient.store.outbox.rejected(in: impatient.database).count == 1)
    #expect(heard.withLock { $0.filter { $0 == ["@spooled"] }.count } == 5)
    try shelf.expectSound()
  }

  @Test("an entry of the outbox writes only to a collection that was declared, in the version that it names")
  func entries() throws {
    let shelf = try RecordShelf()
    _ = try shelf.collection("grades", relations: ["course": RecordRelation("courses")])
    let entry = { (collection: String, version: JSONValue?) -> JSONValue in
      var members: JSONObject = ["collection": .string(collection), "id": "a", "document": "{}"]
      if let version { members["version"] = version }
      return ["put": .object(members)]
    }
    let apply = { (entry: JSONValue) throws in
      try shelf.database.write { try shelf.store.outbox.apply(entry, in: $0, of: shelf.database) }
    }
    for version in [nil, JSONValue.int(0), .int(1)] {
      #expect(throws: SatchelError.self) { try apply(entry("courses", version)) }
    }
    #expect(message(.invalid) { try apply(entry("grades", nil)) }.contains("version"))
    #expect(message(.invalid) { try apply(entry("grades", .int(2))) }.contains("version 1"))
    try apply(entry("grades", .int(1)))
    #expect(try shelf.database.read { try $0.number("SELECT count(*) FROM record") } == 1)
    try shelf.expectSound()
  }
}
