import SatchelJSON
import SatchelStorage
import Testing

@Suite("Migrations of records")
struct MigrationTests {
  private static func steps(_ text: String) throws -> RecordMigration {
    try RecordMigration(json: JSONValue(parsing: text))
  }

  private static func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test(
    "change a document as declared, and restore it",
    arguments: [
      (#"[{"rename":{"from":"a","to":"b"}}]"#, #"{"a":1,"c":2}"#, #"{"b":1,"c":2}"#),
      (#"[{"rename":{"from":"a","to":"b"}}]"#, #"{"b":1}"#, #"{"b":1}"#),
      (#"[{"rename":{"from":"a.x","to":"a.y"}}]"#, #"{"a":{"x":null}}"#, #"{"a":{"y":null}}"#),
      (#"[{"rename":{"from":"a.x","to":"a.y"}}]"#, #"{"a":null}"#, #"{"a":null}"#),
      (#"[{"move":{"from":"/a/b","to":"/c"}}]"#, #"{"a":{"b":[1]}}"#, #"{"a":{},"c":[1]}"#),
      (#"[{"move":{"from":"a","to":"x.y.z"}}]"#, #"{"a":1}"#, #"{"x":{"y":{"z":1}}}"#),
      (#"[{"move":{"from":"a","to":"x.y"}}]"#, #"{"a":1,"x":null}"#, #"{"x":{"y":1}}"#),
      (#"[{"move":{"from":"a","to":"x.y"}}]"#, #"{"a":1,"x":{}}"#, #"{"x":{"y":1}}"#),
      (#"[{"move":{"from":"/a~1b","to":"/c.d"}}]"#, #"{"a/b":1}"#, #"{"c.d":1}"#),
      (#"[{"default":{"path":"x","value":0}}]"#, "{}", #"{"x":0}"#),
      (#"[{"default":{"path":"x","value":0}}]"#, #"{"x":null}"#, #"{"x":null}"#),
      (#"[{"default":{"path":"x","value":0}}]"#, #"{"x":0}"#, #"{"x":0}"#),
      (#"[{"default":{"path":"x.y","value":[]}}]"#, #"{"x":null}"#, #"{"x":{"y":[]}}"#),
      (#"[{"remove":{"path":"x.y"}}]"#, #"{"x":{"y":{"z":1}}}"#, #"{"x":{}}"#),
      (#"[{"remove":{"path":"x"}}]"#, #"{"x":null}"#, "{}"),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":"12"}"#, #"{"x":12}"#),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":12.0}"#, #"{"x":12}"#),
      (#"[{"convert":{"path":"x","to":"integer","from":"string"}}]"#, #"{"x":12}"#, #"{"x":12}"#),
      (#"[{"convert":{"path":"x","to":"string","from":"integer"}}]"#, #"{"x":"n"}"#, #"{"x":"n"}"#),
      (#"[{"convert":{"path":"x","to":"string"}}]"#, #"{"x":1}"#, #"{"x":"1"}"#),
      (#"[{"convert":{"path":"x","to":"string"}}]"#, #"{"x":0.1}"#, #"{"x":"0.1"}"#),
      (#"[{"convert":{"path":"x","to":"string"}}]"#, #"{"x":true}"#, #"{"x":"true"}"#),
      (#"[{"convert":{"path":"x","to":"boolean"}}]"#, #"{"x":"false"}"#, #"{"x":false}"#),
      (#"[{"convert":{"path":"x","to":"number"}}]"#, #"{"x":"1e3"}"#, #"{"x":1000.0}"#),
      (#"[{"convert":{"path":"x","to":"number"}}]"#, #"{"x":"-7"}"#, #"{"x":-7}"#),
      (#"[{"convert":{"path":"x","to":"array"}}]"#, #"{"x":"a"}"#, #"{"x":["a"]}"#),
      (#"[{"convert":{"path":"x","to":"array"}}]"#, #"{"x":["a"]}"#, #"{"x":["a"]}"#),
      (#"[{"convert":{"path":"x","to":"boolean"}}]"#, #"{"x":null}"#, #"{"x":null}"#),
      (
        #"[{"move":{"from":"a","to":"n.a"}},{"default":{"path":"n.b","value":1}},{"rename":{"from":"n","to":"m"}}]"#,
        #"{"a":5}"#, #"{"m":{"a":5,"b":1}}"#
      ),
      ("[]", #"{"a":1}"#, #"{"a":1}"#),
    ])
  func thereAndBack(declaration: String, before: String, after: String) throws {
    let migration = try Self.steps(declaration)
    var document = try Self.object(before)
    var kept: [KeptValue] = []
    try migration.apply(to: &document, id: "r", version: 1, kept: &kept)
    #expect(try document == Self.object(after))
    let stored = try kept.map { try KeptValue(path: $0.path, bytes: $0.bytes()) }
    #expect(stored == kept)
    #expect(Set(kept.map(\.path)).count == kept.count)
    try migration.invert(&document, id: "r", version: 1, kept: stored)
    #expect(try document == Self.object(before))
  }

  @Test(
    "fail with the pointer and the cause, and leave the document unchanged",
    arguments: [
      (#"[{"rename":{"from":"a","to":"b"}}]"#, #"{"a":1,"b":2}"#, "/b", "already"),
      (#"[{"move":{"from":"a","to":"b.c"}}]"#, #"{"a":1,"b":2}"#, "/b", "a number, not an object"),
      (#"[{"move":{"from":"/a/0","to":"/b"}}]"#, #"{"a":[1]}"#, "/a", "an array, not an object"),
      (#"[{"remove":{"path":"a.b"}}]"#, #"{"a":"x"}"#, "/a", "a string"),
      (
        #"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":"12.5"}"#, "/x",
        #""12.5" cannot be converted to an integer"#
      ),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":" 12"}"#, "/x", "cannot"),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":9.5}"#, "/x", "9.5 cannot"),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":true}"#, "/x", "true cannot"),
      (
        #"[{"convert":{"path":"x","to":"number"}}]"#, #"{"x":"nan"}"#, "/x", "cannot be converted to a number"
      ),
      (
        #"[{"convert":{"path":"x","to":"boolean"}}]"#, #"{"x":1}"#, "/x", "1 cannot be converted to a boolean"
      ),
      (
        #"[{"convert":{"path":"x","to":"string"}}]"#, #"{"x":{}}"#, "/x",
        "an object cannot be converted to a string"
      ),
      (
        #"[{"remove":{"path":"k"}},{"convert":{"path":"x","to":"string"}}]"#, #"{"k":1,"x":[]}"#, "/x",
        "array"
      ),
    ])
  func refused(declaration: String, before: String, pointer: String, words: String) throws {
    let migration = try Self.steps(declaration)
    var document = try Self.object(before)
    var kept: [KeptValue] = []
    let error = try #require(throws: JSONError.self) {
      try migration.apply(to: &document, id: "r", version: 1, kept: &kept)
    }
    #expect(error.pointer == pointer && error.reason.contains(words), "\(error)")
    #expect(try document == Self.object(before))
    #expect(kept.isEmpty)
  }

  @Test(
    "migrate back documents that the newer version has edited",
    arguments: [
      (#"[{"remove":{"path":"x"}}]"#, #"{"x":1}"#, #"{"x":2}"#, #"{"x":2}"#),
      (#"[{"default":{"path":"x","value":0}}]"#, "{}", #"{"x":5}"#, #"{"x":5}"#),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":"1"}"#, #"{"x":22}"#, #"{"x":"22"}"#),
      (#"[{"convert":{"path":"x","to":"array"}}]"#, #"{"x":"1"}"#, #"{"x":["2"]}"#, #"{"x":"2"}"#),
      (#"[{"convert":{"path":"x","to":"array"}}]"#, #"{"x":{}}"#, #"{"x":[{"y":1}]}"#, #"{"x":{"y":1}}"#),
      (#"[{"move":{"from":"a","to":"b.c"}}]"#, #"{"a":1}"#, #"{"b":{"c":2,"d":3}}"#, #"{"a":2,"b":{"d":3}}"#),
      (#"[{"rename":{"from":"a","to":"b"}}]"#, #"{"a":1}"#, "{}", "{}"),
    ])
  func edited(declaration: String, before: String, edited: String, back: String) throws {
    let migration = try Self.steps(declaration)
    var document = try Self.object(before)
    var kept: [KeptValue] = []
    try migration.apply(to: &document, id: "r", version: 1, kept: &kept)
    document = try Self.object(edited)
    try migration.invert(&document, id: "r", version: 1, kept: kept)
    #expect(try document == Self.object(back))
  }

  @Test(
    "migrate back records written after the migration",
    arguments: [
      (#"[{"rename":{"from":"a","to":"b"}}]"#, #"{"b":1}"#, #"{"a":1}"#),
      (#"[{"convert":{"path":"x","to":"integer","from":"string"}}]"#, #"{"x":7}"#, #"{"x":"7"}"#),
      (#"[{"convert":{"path":"x","to":"array","from":"string"}}]"#, #"{"x":["7"]}"#, #"{"x":"7"}"#),
      (#"[{"convert":{"path":"x","to":"integer"}}]"#, #"{"x":7}"#, #"{"x":7}"#),
      (#"[{"default":{"path":"x","value":0}},{"remove":{"path":"y"}}]"#, #"{"x":0}"#, #"{"x":0}"#),
    ])
  func younger(declaration: String, before: String, back: String) throws {
    var document = try Self.object(before)
    try Self.steps(declaration).invert(&document, id: "r", version: 1, kept: [])
    #expect(try document == Self.object(back))
  }

  @Test("that are not invertible report it")
  func noWayBack() throws {
    var document = try Self.object(#"{"x":[1,2]}"#)
    let toArray = try Self.steps(#"[{"convert":{"path":"x","to":"array","from":"integer"}}]"#)
    let error = try #require(throws: JSONError.self) {
      try toArray.invert(&document, id: "r", version: 1, kept: [])
    }
    #expect(error.pointer == "/x" && error.reason.contains("2 elements"))
    let callback = try RecordMigration(json: "callback") { _, document, _, _ in document }
    #expect(!callback.isInvertible)
    #expect(throws: JSONError.self) { try callback.invert(&document, id: "r", version: 1, kept: []) }
  }

  @Test("by callback receive the record's id, document and versions, in both directions")
  func callback() throws {
    let migration = try RecordMigration(json: ["callback": ["inverse": true]]) { id, document, from, to in
      var document = document
      document["said"] = .string("\(id) \(from) \(to)")
      return document
    }
    var document = JSONObject()
    var kept: [KeptValue] = []
    try migration.apply(to: &document, id: "r1", version: 3, kept: &kept)
    #expect(document["said"] == "r1 3 4")
    try migration.invert(&document, id: "r1", version: 3, kept: [])
    #expect(document["said"] == "r1 4 3")
    let absent = try RecordMigration(json: "callback")
    #expect(throws: JSONError.self) { try absent.apply(to: &document, id: "r", version: 1, kept: &kept) }
  }

  @Test(
    "with invalid declarations are rejected with a pointer",
    arguments: [
      ("{}", ""), ("\"back\"", ""), ("[1]", "/0"), ("[{}]", "/0"), (#"[{"a":{}}]"#, "/0/a"),
      (#"[{"rename":{"from":"a"}}]"#, "/0/rename/to"), (#"[{"rename":{"from":"a","to":3}}]"#, "/0/rename/to"),
      (#"[{"rename":{"from":"a","to":"b.c"}}]"#, "/0/rename/to"),
      (#"[{"move":{"from":"a","to":"a.b"}}]"#, "/0/move/to"),
      (#"[{"move":{"from":"a","to":"a"}}]"#, "/0/move/to"),
      (#"[{"remove":{"path":""}}]"#, "/0/remove/path"), (#"[{"remove":{"path":"a..b"}}]"#, "/0/remove/path"),
      (#"[{"remove":{"path":"a","x":1}}]"#, "/0/remove/x"),
      (#"[{"default":{"path":"a"}}]"#, "/0/default/value"),
      (#"[{"convert":{"path":"a","to":"object"}}]"#, "/0/convert/to"),
      (#"[{"convert":{"path":"a","to":"array","from":5}}]"#, "/0/convert/from"),
      (#"[{"remove":{"path":"a"},"move":{}}]"#, "/0"), (#"{"callback":{"inverse":1}}"#, ""),
    ])
  func wrongDeclaration(text: String, pointer: String) throws {
    let error = try #require(throws: JSONError.self) { try Self.steps(text) }
    #expect(error.pointer == pointer, "\(error)")
  }

  @Test("are restored from their JSON declaration")
  func declaration() throws {
    let text =
      #"[{"rename":{"from":"/a","to":"/b"}},{"move":{"from":"/b","to":"/c/d"}},{"default":{"path":"/x","value":[1]}},{"remove":{"path":"/y"}},{"convert":{"path":"/z","to":"string"}},{"convert":{"path":"/z","to":"array","from":"string"}}]"#
    #expect(try Self.steps(text).json.text == text)
    #expect(try Self.steps(#"{"callback":{"inverse":true}}"#).json.text == #"{"callback":{"inverse":true}}"#)
    #expect(try Self.steps("\"callback\"").json == "callback")
  }
}
