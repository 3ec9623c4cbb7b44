import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelRecords
import SatchelStorage
import Testing

@Suite("Paths that a schema excludes")
struct UnknownPathTests {
  private static let schema: JSONValue = [
    "additionalProperties": false,
    "properties": [
      "title": ["type": "string"], "author": ["$ref": "#/$defs/person"], "open": ["type": "object"],
      "tags": ["type": "array", "items": ["type": "string"]],
      "parts": ["type": "array", "items": ["$ref": "#/$defs/person"]],
      "either": ["anyOf": [["$ref": "#/$defs/person"], ["type": "null"], ["type": "string"]]],
      "self": ["$ref": "#"],
    ],
    "$defs": [
      "person": [
        "type": ["object", "null"], "unevaluatedProperties": false,
        "properties": ["name": true, "mail": ["type": "string"]],
      ]
    ],
  ]

  @Test(
    "are errors with the likely path, wherever a path is given",
    arguments: [
      ("auhtor", #""auhtor": the schema has no "auhtor": did you mean "author"?"#),
      ("author.nmae", #""author.nmae": the schema has no "nmae": did you mean "author.name"?"#),
      ("/author/nmae", #"did you mean "/author/name"?"#), ("zzzzzz", #"the schema has no "zzzzzz""#),
      ("title.length", #"the schema has no "length" in "title""#),
      ("either.mial", #"did you mean "either.mail"?"#),
      ("self.self.self.auhtor", #"did you mean "self.self.self.author"?"#),
      ("author.name.x.y", ""), ("open.anything", ""), ("/tags/0", ""), ("/parts/0/name", ""), ("tags", ""),
      ("@id", ""), ("self.self.author.mail", ""),
    ])
  func queries(path: String, says: String) throws {
    let books = try RecordShelf().collection("books", schema: Self.schema)
    func check(_ body: () throws -> Void) {
      let found = message(.invalid, body)
      #expect(
        says.isEmpty ? found == "no error" : found.hasPrefix("books: \"\(path)\"") && found.contains(says),
        "\(found)")
    }
    let query = try RecordQuery(json: ["where": .object([path: "x"])])
    check { _ = try books.list(query) }
    check { _ = try books.count(query) }
    check { _ = try books.watch(query) { _ in } }
    check { _ = try books.ids(["where": ["any": [["title": "x"], ["not": .object([path: "x"])]]]]) }
    check { _ = try books.ids(["order_by": .string("-" + path)]) }
  }

  @Test("are errors in a declaration, also of a collection that has its schema already")
  func declarations() throws {
    let shelf = try RecordShelf()
    #expect(
      message(.invalid) {
        _ = try shelf.collection("books", indexes: [RecordIndex("auhtor")], schema: Self.schema)
      }.contains(#"did you mean "author"?"#))
    #expect(
      message(.invalid) {
        _ = try shelf.collection("books", relations: ["auhtor": RecordRelation("books")], schema: Self.schema)
      }.contains(#"did you mean "author"?"#))
    _ = try shelf.collection("books", indexes: [RecordIndex("author.name")], schema: Self.schema)
    #expect(
      message(.invalid) { _ = try shelf.collection("books", indexes: [RecordIndex("titel")]) }
        .contains(#"did you mean "title"?"#))
  }

  @Test("do not exist where the schema allows unknown members")
  func open() throws {
    for schema: JSONValue in [
      ["properties": ["author": true]], ["additionalProperties": ["type": "string"]], true,
      ["additionalProperties": false, "patternProperties": ["^a": true], "properties": ["author": true]],
      ["anyOf": [["additionalProperties": false], ["properties": ["x": true]]]],
      ["unevaluatedProperties": false, "allOf": [["properties": ["auhtor": true]]]],
    ] {
      let shelf = try RecordShelf()
      let books = try shelf.collection("books", schema: schema)
      #expect(try books.ids(["where": ["auhtor": "x"]]) == [])
    }
  }
}

@Suite("Paths that no record has")
struct UnusedPathTests {
  private let shelf: RecordShelf
  private let books: RecordCollection

  init() throws {
    shelf = try RecordShelf()
    books = try shelf.collection("books", indexes: [RecordIndex("year")])
    try books.putAll([
      ("a", ["title": "Emma", "author": ["name": "Jane"], "year": 1815]),
      ("b", ["title": "Ulysses", "tags": ["x"]]),
    ])
  }

  @Test(
    "are warnings of the handle, with the likely path, after a query that looked at every record",
    arguments: [
      (["where": ["titel": "Emma"]], #"query: no record has "titel": did you mean "title"?"#),
      (["order_by": "author.nmae"], #"query: no record has "author.nmae": did you mean "author.name"?"#),
      (
        ["where": ["/author/nmae": ["ne": 1]]],
        #"query: no record has "/author/nmae": did you mean "/author/name"?"#
      ),
      (["where": ["any": [["title": "x"], ["zzzzzz": 1]]]], #"query: no record has "zzzzzz""#),
      (["where": ["lower(titel)": "x"]], #"query: no record has "titel": did you mean "title"?"#),
      (["where": ["tag[*]": "x"]], #"query: no record has "tag""#),
    ] as [(JSONValue, String)])
  func queries(query: JSONValue, says: String) throws {
    for _ in 1...2 { _ = try books.ids(query) }
    #expect(try books.warnings == [says])
    #expect(try shelf.collection("books").warnings == [])
  }

  @Test(
    "give no warning where a record has the path, where the query asks for it, or where not all were looked at",
    arguments: [
      ["where": ["tags[*]": "x"]], ["where": ["archived": ["exists": false]]],
      ["where": ["year": 1, "titel": 1]],
      ["order_by": "tags"], ["limit": 1, "where": ["not": ["titel": 1]]],
      ["where": ["@id": "a", "titel": 1]],
    ] as [JSONValue])
  func withoutWarning(query: JSONValue) throws {
    _ = try books.ids(query)
    #expect(try books.warnings == [])
  }

  @Test("are noticed by counts, groups, sums and writes with a condition, and not in an empty collection")
  func others() throws {
    _ = try books.count(.field("yaer", .equals(1)))
    _ = try books.aggregate(groupBy: ["titel"])
    _ = try books.aggregate([RecordAggregate(.sum, "prise")])
    _ = try books.delete(where: .field("isbn", .equals(1)))
    #expect(try books.warnings.count == 4)
    let empty = try shelf.collection("empty")
    #expect(try empty.count(.field("a", .equals(1))) == 0 && empty.warnings.isEmpty)
    for number in 0..<30 { _ = try books.count(.field("none\(number)", .equals(1))) }
    #expect(try books.warnings.count == 20)
  }
}
