import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("The texts and positions that a collection declares")
struct RecordSearchDeclarationTests {
  private static let counts: [String: StaticString] = [
    "record_text": "SELECT count(*) FROM record_text",
    "record_position": "SELECT count(*) FROM record_position",
  ]

  private func rows(_ shelf: RecordShelf, _ table: String) throws -> Int64 {
    try shelf.database.read { connection in
      guard try connection.has(table: table) else { return -1 }
      return try connection.number(Self.counts[table] ?? "SELECT -2")
    }
  }

  @Test("only declared texts and positions are searched") func undeclared() throws {
    let shelf = try RecordShelf()
    let notes = try shelf.collection("notes")
    #expect(message(.invalid) { _ = try notes.search("a") }.contains("\"search\": [\"title\"]"))
    #expect(
      message(.invalid) { _ = try notes.near(latitude: 0, longitude: 0, within: 1) }.contains(
        "\"positions\": [\"place\"]"))
    let found = try shelf.collection("notes", search: ["title"], positions: ["home", "work"])
    #expect(message(.invalid) { _ = try found.search("a", in: ["body"]) }.contains("title"))
    #expect(
      message(.invalid) { _ = try found.near(latitude: 0, longitude: 0, within: 1) }.contains("home, work"))
    #expect(
      message(.invalid) { _ = try found.near(latitude: 0, longitude: 0, within: 1, path: "title") }.contains(
        "home, work"))
    for within in [-1, Double.nan] {
      #expect(
        message(.invalid) { _ = try found.near(latitude: 0, longitude: 0, within: within, path: "home") }
          .contains("metres"))
    }
    #expect(message(.invalid) { _ = try found.search("a", limit: -1) }.contains("limit"))
    #expect(message(.invalid) { _ = try found.search("a", offset: -1) }.contains("offset"))
    #expect(message(.invalid) { _ = try found.search("a", where: .field("@x", .exists(true))) } != "no error")
    #expect(try found.search("").isEmpty)
    #expect(try found.search("a", limit: 0).isEmpty)
    #expect(
      try found.near(latitude: 0, longitude: 0, within: .infinity, path: "home").isEmpty)
  }

  @Test("paths that cannot be searched are refused") func refused() throws {
    let shelf = try RecordShelf()
    func refusal(_ declaration: CollectionDeclaration) -> String {
      message(.invalid) { _ = try shelf.store.open(declaration) }
    }
    #expect(
      refusal(CollectionDeclaration("notes", sensitive: ["a"], search: ["a.b"])).contains(
        "cannot be searched"))
    #expect(
      refusal(CollectionDeclaration("notes", sensitive: ["a.b"], positions: ["a"])).contains(
        "cannot be a position"))
    #expect(refusal(CollectionDeclaration("notes", search: ["a", "/a"])).contains("twice"))
    #expect(refusal(CollectionDeclaration("notes", search: ["@id"])).contains("@id"))
    #expect(refusal(CollectionDeclaration("notes", search: [""])).contains("path"))
    #expect(
      refusal(CollectionDeclaration("notes", search: (0..<9).map { "p\($0)" })).contains("at most 8 paths"))
    #expect(
      refusal(CollectionDeclaration("notes", positions: (0..<5).map { "p\($0)" })).contains("at most 4 paths")
    )
    let schema: JSONValue = ["properties": ["title": ["type": "string"]], "additionalProperties": false]
    #expect(
      refusal(CollectionDeclaration("notes", search: ["titel"], schema: schema)).contains(
        "did you mean \"title\""))
    _ = try shelf.collection("notes", search: (0..<8).map { "p\($0)" })
    #expect(refusal(CollectionDeclaration("notes", search: ["more"])).contains("at most 8 paths"))
    #expect(
      refusal(CollectionDeclaration("notes", sensitive: ["p0"])).contains("cannot be searched"))
  }

  @Test("a declaration in JSON has paths") func json() throws {
    let json: JSONValue = ["name": "notes", "search": ["title", "/body/0"], "positions": ["place"]]
    let shelf = try RecordShelf()
    _ = try shelf.store.open(CollectionDeclaration(json: json))
    // The same again changes nothing.
    _ = try shelf.store.open(CollectionDeclaration(json: json))
    let info = try #require(try shelf.store.collections().first)
    #expect(info.search == ["title", "/body/0"] && info.positions == ["place"])
    #expect(info.json["search"] == json["search"] && info.json["positions"] == json["positions"])
    for (key, value) in [("search", "title"), ("positions", [7])] as [(String, JSONValue)] {
      #expect(
        message(.invalid) { _ = try CollectionDeclaration(json: ["name": "notes", key: value]) }.contains(
          "/" + key))
    }
  }

  @Test("a declaration adds paths, and only redeclare removes them") func redeclare() throws {
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let notes = try shelf.collection("notes", search: ["title"])
    try notes.put("a", ["title": "apple", "body": "pear", "at": ["lat": 1.0, "lon": 1.0]])
    #expect(try notes.search("pear").isEmpty)
    #expect(try notes.search("apple").count == 1)
    let more = try other.collection("notes", search: ["body"], positions: ["at"])
    #expect(try more.search("pear").count == 1)
    #expect(try notes.search("apple pear").count == 1)
    #expect(try notes.near(latitude: 1, longitude: 1, within: 10).count == 1)
    try more.put("b", ["title": "pear"])
    #expect(try Set(more.search("pear").map(\.record.id)) == ["a", "b"])
    #expect(try rows(shelf, "record_text") == 2)
    let less = try shelf.collection("notes", search: ["body"], redeclare: true)
    // What is no longer declared is removed at once: it may be sensitive from now on.
    #expect(try rows(shelf, "record_text") == 0)
    #expect(try less.search("apple").isEmpty)
    #expect(try less.search("pear").map(\.record.id) == ["a"])
    #expect(
      message(.invalid) { _ = try more.near(latitude: 1, longitude: 1, within: 10) }.contains("positions"))
    let none = try shelf.collection("notes", redeclare: true)
    #expect(try rows(shelf, "record_text") == 0)
    #expect(message(.invalid) { _ = try none.search("pear") }.contains("no texts"))
    try shelf.expectSound()
  }

  @Test("the paths go with fields that a migration renames, and come back") func migration() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes", search: ["title", "body"], positions: ["at"])
    for number in 0..<100 {
      try notes.put(
        "n\(number)",
        ["title": .string("apple \(number)"), "at": ["lat": 1.0, "lon": .double(Double(number))]])
    }
    #expect(try notes.search("apple 7").map(\.record.id).contains("n7"))
    #expect(try notes.near(latitude: 1, longitude: 7, within: 10).map(\.record.id) == ["n7"])
    let migrations: [RecordMigration] = [
      .steps([
        try MigrationStep(json: ["rename": ["from": "title", "to": "name"]]),
        try MigrationStep(json: ["move": ["from": "at", "to": "place.at"]]),
      ])
    ]
    #expect(
      message(.invalid) {
        _ = try shelf.collection("notes", search: ["title"], version: 2, migrations: migrations)
      }.contains("declare the search of \"name\""))
    let renamed = try shelf.collection("notes", search: ["name"], version: 2, migrations: migrations)
    #expect(try shelf.store.collections().first?.search == ["name", "body"])
    #expect(try shelf.store.collections().first?.positions == ["place.at"])
    #expect(try renamed.search("apple 7").map(\.path).allSatisfy { $0 == "name" })
    #expect(try renamed.near(latitude: 1, longitude: 7, within: 10).map(\.record.id) == ["n7"])
    try shelf.expectSound()
    let back = try shelf.collection("notes", version: 1)
    #expect(try back.search("apple 7").map(\.path).allSatisfy { $0 == "title" })
    #expect(try back.near(latitude: 1, longitude: 7, within: 10).map(\.record.id) == ["n7"])
    try shelf.expectSound()
  }

  @Test("a collection that is dropped and declared again has nothing of the former one") func drop() throws {
    let shelf = try RecordShelf(onDisk: true)
    let others = try shelf.collection("others", search: ["title"], positions: ["at"])
    try others.put("o", ["title": "apple", "at": ["lat": 1.0, "lon": 1.0]])
    #expect(try others.search("apple").count == 1)
    for _ in 0..<2 {
      let notes = try shelf.collection("notes", search: ["title"], positions: ["at"])
      #expect(try notes.search("apple").isEmpty)
      try notes.put("a", ["title": "apple", "at": ["lat": 1.0, "lon": 1.0]])
      for number in 0..<70 { try notes.put("n\(number)", ["at": ["lat": 50.0, "lon": 1.0]]) }
      #expect(try notes.search("apple").count == 1)
      #expect(try notes.near(latitude: 1, longitude: 1, within: 1).count == 1)
      #expect(try rows(shelf, "record_position") == 71)
      try shelf.store.drop("notes", discardsUnsent: true)
      #expect(try rows(shelf, "record_text") == 1)
      #expect(try rows(shelf, "record_position") == 0)
    }
    #expect(try others.search("apple").count == 1)
    try shelf.expectSound()
  }

  @Test("a write to a collection that was never searched creates no tables") func unsearched() throws {
    let shelf = try RecordShelf(onDisk: true)
    let notes = try shelf.collection("notes", search: ["title"], positions: ["at"])
    try notes.put("a", ["title": "apple", "at": ["lat": 1.0, "lon": 1.0]])
    try notes.put("a", ["title": "pear", "at": ["lat": 1.0, "lon": 2.0]])
    // A few records are examined without an index.
    #expect(try notes.near(latitude: 1, longitude: 2, within: 1).count == 1)
    #expect(try rows(shelf, "record_searched") == -1)
    try shelf.database.write { _ in
      #expect(try notes.search("pear").count == 1)
      try notes.put("a", ["title": "plum"])
      #expect(try notes.search("pear").isEmpty)
      #expect(try notes.search("plum").count == 1)
    }
    try notes.put("a", ["title": "cherry"])
    #expect(try notes.search("plum").isEmpty)
    try shelf.expectSound()
  }
}
