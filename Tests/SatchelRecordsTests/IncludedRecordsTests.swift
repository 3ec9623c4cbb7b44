import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelRecords
import SatchelTesting
import Testing

import Satchel

@Suite("Related records of a query")
struct IncludedRecordsTests {
  private let shelf: RecordShelf
  private let authors: RecordCollection
  private let books: RecordCollection

  init() throws {
    shelf = try RecordShelf()
    authors = try shelf.collection("authors")
    let tags = try shelf.collection("tags")
    books = try shelf.collection(
      "books",
      relations: [
        "author": RecordRelation("authors"), "/meta/editor": RecordRelation("authors"),
        "tags": RecordRelation("tags", onDelete: .nullify, many: true),
        "sequel": RecordRelation("books"),
      ])
    try authors.putAll([("ada", ["name": "Ada"]), ("émile", ["name": "Émile"])])
    try tags.putAll([("t1", ["name": "old"]), ("t2", ["name": "new"])])
    try shelf.database.write { _ in
      try books.put(
        "b1",
        ["author": "ada", "tags": ["t2", "t1", "t2"], "meta": ["editor": "\u{E9}mile"], "sequel": "b2"])
      try books.put("b2", text: #"{"author":"\u0061da","tags":[],"sequel":null}"#)
      try books.put("b3", ["title": "alone"])
    }
  }

  private func query(_ json: JSONValue) throws -> [Record] { try books.list(RecordQuery(json: json)) }

  @Test("are returned with each record, in the order of the ids of its document")
  func list() throws {
    let found = try query(["include": ["author", "tags", "/meta/editor", "sequel"]])
    #expect(found.map { $0.included["author"].map(\.id) } == [["ada"], ["ada"], []])
    #expect(found.map { $0.included["tags"].map(\.id) } == [["t2", "t1", "t2"], [], []])
    #expect(try found[0].included["/meta/editor"].first?.document == ["name": "Émile"])
    #expect(found[0].included["sequel"].first == (try books.get("b2")))
    #expect(found[0].included.paths == ["author", "tags", "/meta/editor", "sequel"])
    #expect(found[0].included["title"].isEmpty)
    #expect(try query([:]).allSatisfy { $0.included.isEmpty })
  }

  @Test("are read once each, however many records refer to them")
  func once() throws {
    let found = try query(["include": ["author", "/meta/editor"], "limit": 2])
    let bodies = found.map { $0.included["author"][0].body.withUnsafeBufferPointer { $0.baseAddress } }
    // Copies of one array share its memory.
    #expect(bodies[0] == bodies[1])
  }

  @Test("the JSON form has a record or null for one, and an array for many")
  func json() throws {
    var bytes: [UInt8] = []
    try books.writeList(
      RecordQuery(json: ["include": ["author", "tags"], "select": ["title"], "order_by": "-@id"]),
      into: &bytes)
    let list = try #require(try JSONValue(parsing: bytes).arrayValue)
    #expect(list[0]["included"] == ["author": .null, "tags": []])
    #expect(list[0]["document"] == ["title": "alone"])
    #expect(list[2]["document"] == [:])
    let author = try authors.get("ada")?.json
    #expect(list[2]["included"]?["author"] == author)
    #expect(list[2]["included"]?["tags"]?.arrayValue?.count == 3)
    let records = try query(["include": ["author", "tags"], "select": ["title"], "order_by": "-@id"])
    #expect(try list == records.map { try $0.json })

    var page: [UInt8] = []
    try books.writePage(RecordQuery(json: ["include": ["author"], "limit": 1]), into: &page)
    let first = try JSONValue(parsing: page)
    #expect(first["records"]?.arrayValue?[0]["included"]?["author"]?["id"] == "ada")
    let ids = try query(["include": ["author"], "documents": false])
    #expect(ids[0].body.isEmpty && !ids[0].included["author"][0].body.isEmpty)
  }

  @Test("a path that is not a declared relation is refused, and the message names the relations")
  func unknown() throws {
    #expect(
      message(.invalid) { _ = try query(["include": ["autor"]]) }
        == #"books: query: /include: "autor" is not a declared relation; "#
        + #"the relations are "/meta/editor", "author", "sequel", "tags""#)
    #expect(
      message(.invalid) { _ = try authors.list(RecordQuery(json: ["include": ["@id"]])) }
        .contains("the collection has none"))
    #expect(message(.invalid) { _ = try query(["include": "author"]) }.contains("/include"))
    #expect(message(.invalid) { _ = try query(["include": [1]]) }.contains("/include/0"))
    #expect(try query(["include": ["tags", "/tags"]])[0].included.paths == ["tags"])
  }

  @Test("a live query refuses them")
  func live() throws {
    let query = try RecordQuery(json: ["include": ["author"]])
    #expect(
      message(.invalid) { _ = try books.watch(query) { (_: Result<LiveResult, SatchelError>) in } }
        .contains("a live query follows one collection"))
  }

  @Test("in a batch they are as its writes have left them, whatever finds and orders the records")
  func batch() throws {
    try shelf.database.write { _ in
      try authors.put("ada", ["name": "Ada L."])
      try authors.put("new", [:])
      try books.put("b3", ["author": "new"])
      for order in ["@id", "author", "-@modified"] {
        let found = try query(["include": ["author"], "order_by": .string(order), "limit": 3])
        let names = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.included["author"]) })
        #expect(try names["b1"]?.first?.document == ["name": "Ada L."])
        #expect(names["b3"]?.map(\.id) == ["new"])
      }
      #expect(
        try query(["include": ["author"], "where": ["author": "new"]])[0].included["author"].count == 1)
    }
    try shelf.expectSound()
  }

  @Test("sensitive fields of related records are opened, or the error is that of reading them")
  func sensitive() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s.satchel"
    do {
      let store = try Store(path: path)
      try store.state.setKey([UInt8](repeating: 7, count: 32))
      let people = try store.records("people", sensitive: ["mail"])
      let notes = try store.records("notes", relations: ["by": RecordRelation("people")])
      try people.put("ada", ["mail": "ada@example.org"] as JSONValue)
      try notes.put("n1", ["by": "ada"] as JSONValue)
      var query = RecordQuery()
      query.include = ["by"]
      #expect(try notes.list(query)[0].included["by"].first?.document == ["mail": "ada@example.org"])
      try store.close()
    }
    let store = try Store(path: path)
    let people = try store.records("people")
    let notes = try store.records("notes")
    var query = RecordQuery()
    query.include = ["by"]
    let expected = message(.unauthorized) { _ = try people.list() }
    #expect(message(.unauthorized) { _ = try notes.list(query) } == expected)
    #expect(try notes.list().count == 1)
  }

  private struct Book: Codable, Hashable {
    var author: String?
  }

  @Test("a record of a Swift type has them, too")
  func typed() throws {
    var query = RecordQuery(order: [.init("@id")])
    query.include = ["author"]
    let found = try books.list(query, as: Book.self)
    #expect(found[0].author == "ada" && found[0].included["author"].map(\.id) == ["ada"])
    #expect(try found[2].json["included"] == ["author": .null])
    #expect(Set(found).count == 3)
  }
}
