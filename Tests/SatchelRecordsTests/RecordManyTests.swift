import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelRecords
import Testing

@Suite("Writing the valid ones of many records")
struct RecordManyTests {
  private let shelf: RecordShelf
  private let teams: RecordCollection
  private let users: RecordCollection

  init() throws {
    shelf = try RecordShelf()
    teams = try shelf.collection("teams")
    try teams.put("t", [:])
    users = try shelf.collection(
      "users", indexes: [RecordIndex("mail", unique: true)],
      relations: ["team": RecordRelation("teams"), "boss": RecordRelation("users")],
      schema: ["properties": ["age": ["type": "integer"]]])
  }

  private func put(_ documents: JSONValue) throws -> RecordPutReport {
    try documents.serialized().withUnsafeBytes { try users.putValid($0) }
  }

  @Test("reports each of the others with its position, id, code and JSON Pointer")
  func reports() throws {
    let report = try put([
      ["id": "a", "document": ["mail": "a@x", "team": "t"]], ["id": "b", "document": ["age": "old"]],
      ["document": [:]], ["id": "c", "document": ["mail": "a@x"]], ["id": "", "document": [:]],
      ["id": "d", "document": ["team": "none"]], ["id": "e", "document": 5],
      ["id": "f", "document": ["age": 5]],
    ])
    #expect(report.written == 2)
    #expect(report.rejected.map(\.position) == [1, 2, 3, 4, 5, 6])
    #expect(report.rejected.map(\.id) == ["b", nil, "c", "", "d", "e"])
    #expect(
      report.rejected.map(\.code) == [.constraint, .invalid, .constraint, .invalid, .constraint, .invalid])
    for (rejected, part) in zip(
      report.rejected,
      [
        "users/b: /age: a string, not an integer", "/2", "users/c: /mail", "id",
        "users/d: /team: there is no teams/none", "users/e",
      ])
    {
      #expect(rejected.message.contains(part), "\(rejected.message)")
    }
    #expect(try users.ids(RecordQuery()) == ["a", "f"])
    try shelf.expectSound()
  }

  @Test("rejects what refers to a rejected new record, and keeps what refers to an old one or to a later one")
  func chains() throws {
    try users.put("old", ["age": 1])
    let report = try put([
      "old": ["team": "none"], "to-old": ["boss": "old"], "last": ["boss": "middle"],
      "middle": ["boss": "first"],
      "first": ["team": "none"], "early": ["boss": "late"], "late": ["age": 2], "self": ["boss": "self"],
      "selfless": ["boss": "selfless", "team": "none"],
    ])
    #expect(Set(report.rejected.compactMap(\.id)) == ["old", "last", "middle", "first", "selfless"])
    #expect(Set(try users.ids(RecordQuery())) == ["old", "to-old", "early", "late", "self"])
    #expect(try users.text("old") == #"{"age":1}"#)
    #expect(
      report.rejected.first { $0.id == "last" }?.message == "users/last: /boss: there is no users/middle")
    try shelf.expectSound()
  }

  @Test("a long chain of references takes linear time, and text that is not a list is rejected")
  func longChain() throws {
    let chain = (0..<20_000).map { number -> (String, JSONValue) in
      ("c\(number)", number == 0 ? ["team": "none"] : ["boss": .string("c\(number - 1)")])
    }
    let report = try users.putValid(chain)
    #expect(report.written == 0 && report.rejected.count == 20_000)
    #expect(try users.count() == 0)
    for bad in ["1", "", "{", #"{"a":{},"a":{}}"#] {
      #expect(throws: SatchelError.self) { try Array(bad.utf8).withUnsafeBytes { try users.putValid($0) } }
    }
    try shelf.expectSound()
  }

  @Test("many are read and deleted, and one is updated by a merge patch")
  func updates() throws {
    try users.put("a", ["age": 1, "deep": ["x": 1, "y": 2]])
    #expect(try users.update("a", ["age": 2, "deep": ["x": .null]]).revision == 2)
    #expect(try users.text("a") == #"{"age":2,"deep":{"y":2}}"#)
    #expect(message(.notFound) { _ = try users.update("b", [:]) }.contains("users/b"))
    #expect(message(.constraint) { _ = try users.update("a", ["age": "x"]) }.contains("/age"))
    #expect(message(.invalid) { _ = try users.update("a", 5) }.contains("users/a"))
    #expect(message(.conflict) { _ = try users.update("a", [:], ifRevision: 1) }.contains("revision"))
    try users.put("b", ["boss": "a"])
    #expect(try users.get(["b", "none", "a"]).mapValues(\.revision) == ["a": 2, "b": 1])
    #expect(message(.constraint) { _ = try users.deleteMany(["a"]) }.contains("users/b"))
    #expect(try users.deleteMany(["a", "none", "b", "a"]) == 2)
    #expect(try users.count() == 0)
    try shelf.expectSound()
  }

  @Test("is part of a batch, whose end checks references")
  func batch() throws {
    try shelf.database.write { _ in
      let report = try put(["a": ["team": "later"], "b": ["age": "x"]])
      #expect(report.written == 1 && report.rejected.map(\.id) == ["b"])
      try teams.put("later", [:])
    }
    #expect(try users.ids(RecordQuery()) == ["a"])
    #expect(throws: SatchelError.self) {
      try shelf.database.write { _ in _ = try put(["c": ["team": "never"]]) }
    }
    #expect(try users.ids(RecordQuery()) == ["a"])
    try shelf.expectSound()
  }
}
