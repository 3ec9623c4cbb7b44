import SatchelCore
import SatchelJSON
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords
@testable import SatchelStorage

@Suite("Querying records")
struct RecordQueryTests {
  /// The same records twice: with and without indexes.
  private let collections: [RecordCollection]
  private let shelf: RecordShelf

  init() throws {
    shelf = try RecordShelf()
    let plain = try shelf.collection("plain")
    let indexed = try shelf.collection(
      "indexed", indexes: ["n", "s", "deep.x", "/list/0", "mixed"].map { RecordIndex($0) })
    collections = [plain, indexed]
    for collection in collections {
      try collection.put("a", text: #"{"n":1,"s":"apple","deep":{"x":true},"list":["p","q"],"mixed":null}"#)
      try collection.put(
        "b", text: #"{"n":2.0,"s":"apricot","deep":{"x":false},"list":[1,{"k":1.0}],"mixed":3}"#)
      try collection.put(
        "c", text: #"{"n":9007199254740993,"s":"b\u0061nana","deep":7,"list":[],"mixed":"z"}"#)
      try collection.put("d", text: #"{"n":9007199254740992,"s":"é","list":"text with needle","mixed":[1]}"#)
      try collection.put("e", text: #"{"n":-0.0,"s":"","deep":{"x":null},"mixed":{"k":1}}"#)
      try collection.put("f", text: #"{"n":"1","s":"apple pie","mixed":true}"#)
      try collection.put("g", text: #"{"x":{"n":5}}"#)
    }
  }

  private func expect(_ query: JSONValue, _ ids: String, _ place: SourceLocation = #_sourceLocation) throws {
    for collection in collections {
      #expect(try collection.ids(query).joined() == ids, "\(collection.name)", sourceLocation: place)
      #expect(try collection.count(query) == ids.utf8.count, "\(collection.name)", sourceLocation: place)
    }
  }

  @Test(
    "conditions",
    arguments: [
      (#"{"n":1}"#, "a"), (#"{"n":1.0}"#, "a"), (#"{"n":2}"#, "b"), (#"{"n":0}"#, "e"), (#"{"n":"1"}"#, "f"),
      (#"{"n":9007199254740993}"#, "c"), (#"{"n":9007199254740992.0}"#, "d"),
      (#"{"n":{"gt":9007199254740992}}"#, "c"), (#"{"n":{"gte":1,"lt":9007199254740993}}"#, "abd"),
      (#"{"n":{"lt":1}}"#, "e"), (#"{"n":{"gte":"0"}}"#, "f"), (#"{"n":{"ne":1}}"#, "bcdefg"),
      (#"{"s":{"prefix":"ap"}}"#, "abf"), (#"{"s":{"prefix":""}}"#, "abcdef"), (#"{"s":"banana"}"#, "c"),
      (#"{"s":{"gt":"apple","lte":"banana"}}"#, "bcf"), (#"{"s":{"in":["é","apple",7]}}"#, "ad"),
      (#"{"s":{"contains":"pl"}}"#, "af"), (#"{"list":{"contains":"q"}}"#, "a"),
      (#"{"list":{"contains":{"k":1}}}"#, "b"), (#"{"list":{"contains":"needle"}}"#, "d"),
      (#"{"/list/0":"p"}"#, "a"), (#"{"/list/0":1.0}"#, "b"), (#"{"list.0":"p"}"#, ""),
      (#"{"deep.x":true}"#, "a"), (#"{"/deep/x":null}"#, "e"), (#"{"deep.x":{"exists":true}}"#, "abe"),
      (#"{"deep.x":{"exists":false}}"#, "cdfg"), (#"{"x.n":{"gt":4.5}}"#, "g"),
      (#"{"mixed":null}"#, "a"), (#"{"mixed":{"eq":[1.0]}}"#, "d"), (#"{"mixed":{"eq":{"k":1}}}"#, "e"),
      (#"{"mixed":{"in":[[1],{"k":1.0},true]}}"#, "def"),
      (#"{"any":[{"n":1},{"s":"é"}]}"#, "ad"), (#"{"not":{"n":{"exists":true}}}"#, "g"),
      (#"{"all":[{"n":{"gte":0}},{"s":{"prefix":"a"}}],"deep.x":false}"#, "b"),
      (#"{"any":[]}"#, ""), (#"{}"#, "abcdefg"), (#"{"n":{"in":[]}}"#, ""),
      (#"{"@id":"c"}"#, "c"), (#"{"@id":{"in":["g","a","zz"]}}"#, "ag"), (#"{"@id":{"gte":"f"}}"#, "fg"),
      (#"{"@revision":1,"@sync_status":"local","@created":{"gt":0}}"#, "abcdefg"),
      (#"{"n":{"gt":1,"lt":1}}"#, ""),
    ])
  func conditions(filter: String, ids: String) throws {
    try expect(["where": try JSONValue(parsing: Array(filter.utf8))], ids)
  }

  @Test(
    "orders",
    arguments: [
      (#"{"order_by":"n"}"#, "geabdcf"), (#"{"order_by":"-n"}"#, "fcdbaeg"),
      (#"{"order_by":["-n"],"limit":2}"#, "fc"),
      (#"{"order_by":"n","offset":2,"limit":2}"#, "ab"), (#"{"order_by":"mixed"}"#, "gafbcde"),
      (#"{"order_by":["@revision","-@id"]}"#, "gfedcba"), (#"{"limit":2,"offset":1}"#, "bc"),
      (#"{"limit":0}"#, ""),
      (#"{"order_by":"s","where":{"s":{"exists":true}},"limit":3}"#, "eaf"),
      (#"{"order_by":"-s","where":{"s":{"prefix":"a"}}}"#, "bfa"),
      (#"{"order_by":["s","n"],"where":{"n":{"gte":0}},"limit":2}"#, "ea"), (#"{"offset":6}"#, "g"),
      (#"{"offset":9}"#, ""),
    ])
  func orders(query: String, ids: String) throws {
    let json = try JSONValue(parsing: Array(query.utf8))
    for collection in collections {
      #expect(try collection.ids(json).joined() == ids, "\(collection.name)")
    }
  }

  @Test(
    "an invalid query is rejected with a pointer",
    arguments: [
      (#"[]"#, "must be an object"), (#"{"were":{}}"#, "/were"),
      (#"{"where":{"a":{"near":1}}}"#, "/where/a/near"),
      (#"{"where":{"a":[1]}}"#, "/where/a"), (#"{"where":{"any":[1]}}"#, "/where/any/0"),
      (#"{"where":{"a":{}}}"#, "/where/a"), (#"{"limit":-1}"#, "/limit"),
      (#"{"order_by":[1]}"#, "/order_by/0"),
      (#"{"where":{"a..b":1}}"#, "a..b"), (#"{"where":{"":1}}"#, "path is empty"),
      (#"{"where":{"@x":1}}"#, "@x"),
      (#"{"where":{"a":{"lt":null}}}"#, "range"), (#"{"where":{"/~2":1}}"#, "~"),
      (#"{"order_by":"-"}"#, "path"),
      (#"{"where":{"a\u0062":{"prefix":1}}}"#, "/where/ab/prefix"),
    ])
  func refused(query: String, part: String) throws {
    let json = try JSONValue(parsing: Array(query.utf8))
    let text = message(.invalid) { _ = try collections[0].list(RecordQuery(json: json)) }
    #expect(text.contains(part), "\(text)")
  }

  @Test("strings longer than an index's keys are compared and ordered by all of their bytes")
  func longTexts() throws {
    let long = String(repeating: "x", count: 511)
    for (number, tail) in ["bb", "b", "", "ba", "c"].enumerated() {
      for collection in collections {
        try collection.put("t\(number)", ["s": .string(long + tail), "long": true])
      }
    }
    for collection in collections {
      #expect(try collection.ids(["where": ["s": .string(long + "b")]]) == ["t1"])
    }
    for collection in collections {
      let ordered = try collection.ids([
        "where": ["s": ["prefix": .string(long)]], "order_by": "s", "limit": 9,
      ])
      #expect(ordered == ["t2", "t1", "t3", "t0", "t4"])
      #expect(try collection.count(["where": ["s": ["gt": .string(long + "b")]]]) == 4)
      #expect(
        try collection.ids(["where": ["s": ["gt": .string(long + "b")], "long": true]]) == ["t0", "t3", "t4"])
    }
  }

  @Test("a query that an index covers reads no documents, and one with an order and a limit reads few")
  func plans() throws {
    let shelf = try RecordShelf()
    let indexed = try shelf.collection("many", indexes: [RecordIndex("n"), RecordIndex("s")])
    try shelf.database.write { _ in
      for number in 0..<500 {
        try indexed.put("r\(number)", ["n": .int(Int64(number)), "s": .string("s\(number % 5)")])
      }
    }
    func statements(_ body: () throws -> Void) throws -> [String] {
      let heard = Locked<[String]>([])
      // A store in memory has one connection, so it is the one that reads.
      try shelf.database.read {
        traceStatements(of: $0.handle) { sql in heard.withLock { $0.append(sql) } }
      }
      try body()
      try shelf.database.read { traceStatements(of: $0.handle, nil) }
      return heard.withLock { $0 }
    }
    let counting = try statements { () throws in
      #expect(try indexed.count(["where": ["n": ["gte": 100, "lt": 200]]]) == 100)
      #expect(try indexed.count(["where": ["s": "s3"]]) == 100)
    }
    #expect(!counting.contains { $0.contains("body") })
    let ordered = try statements { () throws in
      #expect(try indexed.ids(["order_by": "-n", "limit": 3]) == ["r499", "r498", "r497"])
    }
    #expect(ordered.filter { $0.contains("body") }.count <= 4)
    let selective = try statements { () throws in
      #expect(try indexed.ids(["where": ["s": "s1", "n": 6]]) == ["r6"])
    }
    #expect(selective.filter { $0.contains("body") }.count == 1)
    // The order is that of the index, also when some records lack the path.
    for number in 0..<3 { try indexed.put("none\(number)", ["s": "s"]) }
    for (order, ids) in [
      ("n", ["none0", "none1", "none2", "r0"]), ("-n", ["r499", "r498", "r497", "r496"]),
    ] {
      let incomplete = try statements { () throws in
        #expect(try indexed.ids(["order_by": .string(order), "limit": 4]) == ids)
      }
      #expect(incomplete.filter { $0.contains("body") }.count <= 5, "\(incomplete)")
      #expect(!incomplete.contains { $0.contains("body") && $0.contains("id > ?") }, "\(incomplete)")
    }
    let missing = try statements { () throws in
      #expect(try indexed.count(["where": ["n": ["exists": false]]]) == 3)
    }
    #expect(!missing.contains { $0.contains("body") })
  }

  @Test("records that lack the path of an index have the same order and limit as without the index")
  func missingPaths() throws {
    let shelf = try RecordShelf()
    let plain = try shelf.collection("plain")
    let indexed = try shelf.collection("indexed", indexes: [RecordIndex("a"), RecordIndex("b")])
    var random = SeededRandom(seed: 41)
    func value() -> JSONValue? {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: return nil
      case 2: return .null
      case 3: return .string("t\(Int.random(in: 0..<5, using: &random))")
      default: return .int(Int64.random(in: 0..<6, using: &random))
      }
    }
    func change(_ id: String) throws {
      let isDeleted = Int.random(in: 0..<10, using: &random) == 0
      var document = JSONObject()
      if let a = value() { document["a"] = a }
      if let b = value() { document["b"] = b }
      for collection in [plain, indexed] {
        if isDeleted { try collection.delete(id) } else { try collection.put(id, .object(document)) }
      }
    }
    for step in 0..<600 {
      try change("r\(Int.random(in: 0..<120, using: &random))")
      guard step % 10 == 9 else { continue }
      let orders: [JSONValue] = ["a", "-a", ["b", "-a"], ["-b", "a"]]
      var query: JSONObject = ["order_by": orders[step / 10 % 4]]
      if step % 3 > 0 { query["limit"] = .int(Int64.random(in: 0..<40, using: &random)) }
      if step % 4 > 1 { query["offset"] = .int(Int64.random(in: 0..<20, using: &random)) }
      let filters: [JSONValue] = [
        [:], ["a": ["exists": false]], ["a": ["exists": true]], ["b": ["gte": 2]], ["a": ["ne": 1]],
      ]
      query["where"] = filters[step / 10 % 5]
      #expect(try indexed.ids(.object(query)) == plain.ids(.object(query)), "\(step) \(query)")
      #expect(try indexed.count(.object(query)) == plain.count(.object(query)), "\(step) \(query)")
    }
    try shelf.expectSound()
    // An index that is built later has the same entries.
    let later = try shelf.collection("plain", indexes: [RecordIndex("a")])
    #expect(
      try later.ids(["order_by": "a", "limit": 500]) == indexed.ids(["order_by": "a", "limit": 500]))
    try shelf.expectSound()
  }

  @Test("a condition on a relation uses the references, and finds what a scan of the collection finds")
  func relations() throws {
    let shelf = try RecordShelf()
    let tags = try shelf.collection("tags")
    let notes = try shelf.collection(
      "notes", indexes: [RecordIndex("n")],
      relations: [
        "tags": RecordRelation("tags", many: true), "deep.main": RecordRelation("tags", onDelete: .nullify),
      ])
    let others = try shelf.collection("others", relations: ["tags": RecordRelation("tags", many: true)])
    let plain = try shelf.collection("plain")
    for number in 0..<8 { try tags.put("t\(number)", [:]) }
    var random = SeededRandom(seed: 7)
    for number in 0..<400 {
      let all = (0..<8).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
      let ids = all.map { JSONValue.string("t\($0)") }
      let list = JSONValue.array(ids + ids.prefix(1))
      var document: JSONObject = ["n": .int(Int64(number % 10))]
      if number % 7 > 0 { document["tags"] = number % 11 == 0 ? JSONValue.null : list }
      let main = number % 5 == 0 ? JSONValue.null : JSONValue.string("t\(number % 8)")
      if number % 3 > 0 { document["deep"] = ["main": main] }
      for collection in [notes, others, plain] where collection.name != "others" || number % 2 == 0 {
        var document = document
        if collection.name == "others" { document["deep"] = nil }
        try collection.put("r\(number)", .object(document))
      }
    }
    let filters: [JSONValue] = [
      ["tags": ["contains": "t3"]], ["tags": ["contains": "t3"], "n": 4], ["tags": ["contains": "none"]],
      ["tags": ["contains": 5]], ["tags": ["contains": ""]], ["/tags": ["contains": "t0"]],
      ["deep.main": "t4"],
      ["deep.main": .null], ["deep.main": ["in": ["t1", "t2", "t1"]]], ["deep.main": ["in": ["t1", .null]]],
      ["deep.main": ["contains": "1"]],
      ["all": [["tags": ["contains": "t1"]], ["tags": ["contains": "t2"]]]],
      ["tags": ["contains": "t5"], "deep.main": "t5"], ["not": ["tags": ["contains": "t1"]]],
      ["deep.main": 5],
      ["any": [["tags": ["contains": "t1"]], ["n": 2]]], ["tags": ["eq": ["t1"]]],
    ]
    for filter in filters {
      for rest: JSONObject in [[:], ["limit": 3, "offset": 1], ["order_by": "-n", "limit": 9]] {
        var query = rest
        query["where"] = filter
        #expect(try notes.ids(.object(query)) == plain.ids(.object(query)), "\(query)")
        #expect(try notes.count(.object(query)) == plain.count(.object(query)), "\(query)")
      }
    }
    let heard = Locked<[String]>([])
    try shelf.database.read {
      traceStatements(of: $0.handle) { sql in heard.withLock { $0.append(sql) } }
    }
    let expected = try notes.count(["where": ["tags": ["contains": "t3"]]])
    #expect(expected > 20 && !heard.withLock { $0.contains { $0.contains("body") } })
    let found = try notes.ids(["where": ["tags": ["contains": "t3"]]])
    #expect(found.count == expected)
    let statements = heard.withLock { $0 }
    try shelf.database.read { traceStatements(of: $0.handle, nil) }
    #expect(statements.filter { $0.contains("body") }.count == expected, "no scan")
    // The references themselves are found by their key, without other collections' and without sorting.
    let search = try #require(statements.first { $0.hasPrefix("SELECT source FROM record_reference") })
    let plan = try shelf.database.read { try queryPlan(of: search, on: $0.handle) }
    #expect(
      plan == [
        "SEARCH record_reference USING PRIMARY KEY (target_collection=? AND target_key=? AND source>? AND source<?)"
      ])
  }
}
