import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelRecords

@Suite("Declaring collections")
struct RecordDeclarationTests {
  @Test("indexes declared later are built, others are kept; only redeclare drops them")
  func redeclare() throws {
    let shelf = try RecordShelf()
    let first = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
    try first.put("c1", ["code": "A", "n": 1])
    try first.put("c2", ["code": .null, "n": 1])
    try first.put("c3", ["n": 1])
    #expect(
      message(.constraint) { try first.put("c4", ["code": "A"]) }
        == "courses/c4: /code: the value must be unique, and courses/c1 has the same")
    #expect(throws: SatchelError.self) { try first.put("c4", ["code": [1]]) }
    #expect(
      message(.constraint) { _ = try shelf.collection("courses", indexes: [RecordIndex("n", unique: true)]) }
        .contains("c2"))
    let again = try shelf.collection("courses")
    #expect(throws: SatchelError.self) { try again.put("c4", ["code": "A"]) }
    try shelf.expectSound()
    let wider = try shelf.collection(
      "courses", indexes: [RecordIndex("n"), RecordIndex("/code", unique: true)])
    for handle in [first, again, wider] {
      #expect(throws: SatchelError.self) { try handle.put("c4", ["code": "A"]) }
    }
    #expect(try first.count(["where": ["n": 1]]) == 3)
    try shelf.expectSound()
    let loose = try shelf.collection(
      "courses", indexes: [RecordIndex("n"), RecordIndex("/code")], redeclare: true)
    try loose.put("c4", ["code": "A"])
    try shelf.expectSound()
    #expect(throws: SatchelError.self) {
      _ = try shelf.collection(
        "courses", indexes: [RecordIndex("code", unique: true)], redeclare: true)
    }
    try loose.put("c4", ["code": "a"])
    let strict = try shelf.collection(
      "courses", indexes: [RecordIndex("code", unique: true)], redeclare: true)
    #expect(throws: SatchelError.self) { try strict.put("c5", ["code": "a"]) }
    try shelf.expectSound()
  }

  @Test("unique strings longer than keys are compared by all of their bytes")
  func longUnique() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
    let long = String(repeating: "ü", count: 400)
    try courses.put("c1", ["code": .string(long + "1")])
    try courses.put("c2", ["code": .string(long + "2")])
    #expect(throws: SatchelError.self) { try courses.put("c3", ["code": .string(long + "2")]) }
    try courses.put("c2", ["code": .string(long + "2"), "n": 1])
    _ = try shelf.collection("courses", indexes: [], redeclare: true)
    _ = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
    let loose = try shelf.collection("courses", indexes: [], redeclare: true)
    try loose.put("c3", ["code": .string(long + "2")])
    #expect(
      message(.constraint) {
        _ = try shelf.collection("courses", indexes: [RecordIndex("code", unique: true)])
      }
      .hasSuffix("c2 and c3 have the same value"))
  }

  @Test(
    "an invalid declaration is rejected with a pointer",
    arguments: [
      #"{}"#, #"{"name":""}"#, #"{"name":"Courses"}"#, #"{"name":"1a"}"#, #"{"name":"c","indexes":[1]}"#,
      #"{"name":"c","indexes":["a","a"]}"#, #"{"name":"c","indexes":["@revision"]}"#,
      #"{"name":"c","indexes":[""]}"#,
      #"{"name":"c","indexes":[{"path":"a","uniqe":true}]}"#, #"{"name":"c","relations":{"a":{}}}"#,
      #"{"name":"c","relations":{"a":{"collection":"B"}}}"#,
      #"{"name":"c","relations":{"a":{"collection":"b","on_delete":"explode"}}}"#,
      #"{"name":"c","version":0}"#,
      #"{"name":"c","index":[]}"#, #"{"name":"c","migrations":[[{"fly":{}}]]}"#,
      #"{"name":"c","indexes":["a..b"]}"#,
    ])
  func refused(text: String) throws {
    let shelf = try RecordShelf()
    let json = try JSONValue(parsing: Array(text.utf8))
    #expect(throws: SatchelError.self) { _ = try shelf.store.open(CollectionDeclaration(json: json)) }
    #expect(try shelf.store.collections().isEmpty)
  }

  @Test("a collection whose creation is rolled back does not exist, and its handle reports it")
  func rolledBack() throws {
    let shelf = try RecordShelf()
    struct Stop: Error {}
    var made: RecordCollection?
    #expect(throws: Stop.self) {
      try shelf.database.write { _ in
        made = try shelf.collection("courses", indexes: [RecordIndex("a")])
        try made?.put("c1", ["a": 1])
        throw Stop()
      }
    }
    #expect(throws: SatchelError.self) { try made?.put("c1", ["a": 1]) }
    let courses = try shelf.collection("courses", indexes: [RecordIndex("b")])
    try courses.put("c1", ["a": 1, "b": 2])
    #expect(try courses.count(["where": ["b": 2]]) == 1)
    try shelf.expectSound()
  }

  @Test("many documents are written at once, from an object or a list, all or none")
  func many() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses", indexes: [RecordIndex("n", unique: true)])
    func putMany(_ text: String) throws -> Int {
      try Array(text.utf8).withUnsafeBytes { try courses.putMany($0) }
    }
    #expect(try putMany(#"{"a":{"n":1}, "\u0062": { "n" : 2 }}"#) == 2)
    #expect(try courses.text("b") == #"{ "n" : 2 }"#)
    #expect(try putMany(#"[{"id":"c","document":{"n":3}},{"document":{"n":4},"id":"d"}]"#) == 2)
    for bad in [
      #"{"e":{"n":5},"f":{"n":5}}"#, #"{"e":{"n":5},"f":7}"#, #"[{"id":"e","document":{"n":5}},{}]"#, "1", "",
      "{",
    ] {
      #expect(throws: SatchelError.self) { _ = try putMany(bad) }
    }
    #expect(throws: SatchelError.self) {
      try shelf.database.write { _ in _ = try putMany(#"{"e":{"n":5},"f":{"n":5}}"#) }
    }
    try shelf.database.write { (_: Transaction) throws in
      #expect(throws: SatchelError.self) { _ = try putMany(#"{"e":{"n":5},"f":{"n":[5]}}"#) }
      #expect(try putMany(#"{"g":{"n":6}}"#) == 1)
    }
    #expect(try courses.ids() == ["a", "b", "c", "d", "g"])
    try shelf.expectSound()
  }

  @Test("Codable values are written and read as records")
  func codable() throws {
    struct Course: Codable, Equatable { var title: String; var credits: Int; var tags: [String]? }
    let courses = try RecordShelf().collection("courses")
    let algebra = Course(title: "Algebra", credits: 3, tags: ["maths"])
    try courses.put("c1", algebra)
    #expect(try courses.get("c1", as: Course.self)?.document == algebra)
    #expect(try courses.get("c0", as: Course.self) == nil)
    let found = try courses.list(RecordQuery(.field("credits", .greater(2))), as: Course.self)
    #expect(
      found.map(\.id) == ["c1"] && found.map(\.document) == [algebra] && found.map(\.title) == ["Algebra"])
    try courses.put("c2", ["title": "x", "credits": "three"])
    #expect(message(.invalid) { _ = try courses.get("c2", as: Course.self) }.contains("/credits"))
    #expect(throws: SatchelError.self) { try courses.put("c3", [1, 2]) }
  }

  @Test("a record that was read as a value has its metadata, and is written only if it is unchanged since")
  func typed() throws {
    struct Course: Codable, Equatable, Sendable { var id: Int; var title: String }
    let courses = try RecordShelf().collection("courses")
    try courses.put("c1", Course(id: 1, title: "Algebra"))
    try courses.put("c2", Course(id: 2, title: "History"))
    var query = RecordQuery(order: [.init("title")])
    query.wantsDocuments = false
    let list = try courses.list(query, as: Course.self)
    // The record's own members come before those of the document.
    #expect(list.map(\.id) == ["c1", "c2"] && list.map(\.document.id) == [1, 2])

    var first = try #require(list.first)
    let record = try #require(try courses.get("c1"))
    #expect(first.revision == record.revision && first.modified == record.modified)
    #expect(first.created == record.created && first.syncStatus == record.syncStatus)
    #expect("\(first)" == "\(record)")
    first.title = "Linear Algebra"
    #expect(try courses.put(first).revision == first.revision + 1)
    #expect(try courses.get("c1", as: Course.self)?.document == Course(id: 1, title: "Linear Algebra"))
    #expect(message(.conflict) { try courses.put(first) }.contains("courses/c1"))
    try courses.delete("c2")
    #expect(message(.conflict) { try courses.put(list[1]) }.contains("courses/c2"))
  }

  @Test("a record prints as the JSON of the C interface")
  func description() throws {
    let courses = try RecordShelf().collection("courses")
    try courses.put("c1", text: #"{ "n": 1.0 }"#)
    let record = try #require(try courses.get("c1"))
    let start = #"{"id":"c1","revision":1,"created":\#(record.created),"modified":\#(record.modified),"#
    #expect("\(record)" == start + #""sync_status":"local","document":{"n":1.0}}"#)
    var query = RecordQuery()
    query.wantsDocuments = false
    #expect(try "\(courses.list(query)[0])" == start + #""sync_status":"local"}"#)
    var damaged = record
    damaged.body = [UInt8(ascii: "{")]
    #expect("\(damaged)".hasPrefix("Record: c1: the document is damaged"))
  }
}
