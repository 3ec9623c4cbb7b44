import SatchelCore
import SatchelJSON
import SatchelStorageTesting
import Testing

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
  }
}
