import Foundation
import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelRecords
import SatchelStorage
import Testing

@Suite("Mirrors of collections")
struct MirrorTests {
  private static func record(_ id: String, _ document: String, revision: Int64 = 1) -> MirrorRecord {
    MirrorRecord(id: id, revision: revision, created: -5, modified: .max, document: Array(document.utf8))
  }

  private static let file = MirrorFile(
    collection: "courses", version: 2,
    records: [
      record("z/\"é", #"{"k":"a \\\" b\\","n":[1,1.0,1e2,-0.0],"é":"\u00e9"}"#),
      record("a", "{}", revision: 7),
      record("Z", #"{"deep":{"er":[[],{}]},"t":true}"#),
    ])

  @Test("are one record a line, ordered by id, with a checksum")
  func form() throws {
    let text = String(decoding: try Self.file.serialized(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines[0] == #"{"format":1,"collection":"courses","version":2,"records":["#)
    #expect(
      lines[1].hasPrefix(#"{"id":"Z","revision":1,"created":-5,"modified":9223372036854775807,"document":{"#))
    #expect(lines[2].hasPrefix(#"{"id":"a","revision":7"#) && lines[3].hasPrefix(#"{"id":"z/\"é""#))
    #expect(lines[4].hasPrefix(#"],"sha256":""#) && text.hasSuffix("\"}\n"))
    #expect(try JSONValue(parsing: text)["records"]?.arrayValue?.count == 3)
  }

  @Test("are read back byte for byte")
  func roundTrip() throws {
    #expect(try MirrorFile(parsing: Self.file.serialized(), collection: "courses") == Self.file)
    let empty = MirrorFile(collection: "c", version: 1, records: [])
    #expect(try MirrorFile(parsing: empty.serialized(), collection: "c") == empty)
    let spaced = MirrorFile(
      collection: "c", version: 1, records: [Self.record("a", " {\n\t\"a b\" : [ 1e2 , \" \\\" \" ] }\r\n")])
    let back = try MirrorFile(parsing: spaced.serialized(), collection: "c")
    #expect(back.records.first?.document == Array(#"{"a b":[1e2," \" "]}"#.utf8))
  }

  @Test("are rejected at every prefix, with the position")
  func prefixes() throws {
    let text = try Self.file.serialized()
    for count in 0..<text.count - 1 {
      let error = try #require(throws: JSONError.self) {
        try MirrorFile(parsing: Array(text[..<count]), collection: "courses")
      }
      #expect(error.position != nil, "\(count): \(error)")
    }
  }

  @Test(
    "with a flipped byte are rejected with the position, or have equal content",
    arguments: [1, 2, 4, 8, 16, 32, 64, 128, 255])
  func flips(mask: UInt8) throws {
    let text = try Self.file.serialized()
    var refused = 0
    for place in text.indices {
      var flipped = text
      flipped[place] ^= mask
      do {
        #expect(try MirrorFile(parsing: flipped, collection: "courses") == Self.file, "\(place)")
      } catch let error as JSONError {
        refused += 1
        #expect(error.position != nil, "\(place): \(error)")
      }
    }
    #expect(refused >= text.count - 1)
  }

  @Test("may be edited by hand when their checksum is removed")
  func editedByHand() throws {
    let text = """
      { "version": 1, "collection": "c", "records": [
        {"document": {"b": 2}, "id": "b", "revision": 1, "created": 0, "modified": 0},
        {"document": {}, "id": "a", "revision": 1, "created": 0, "modified": 0} ], "format": 1 }
      """
    let mirror = try MirrorFile(parsing: Array(text.utf8), collection: "c")
    #expect(mirror.records.map(\.id) == ["a", "b"])
  }

  @Test(
    "that are not mirrors are rejected with the position",
    arguments: [
      ("[]", ""), ("{}", ""), (#"{"format":2,"collection":"c","version":1,"records":[]}"#, "/format"),
      (#"{"format":1.0,"collection":"c","version":1,"records":[]}"#, "/format"),
      (#"{"format":1,"collection":"d","version":1,"records":[]}"#, "/collection"),
      (#"{"format":1,"collection":"c","version":0,"records":[]}"#, "/version"),
      (#"{"format":1,"collection":"c","version":1,"records":{}}"#, "/records"),
      (#"{"format":1,"collection":"c","version":1,"records":[],"more":1}"#, "/more"),
      (#"{"format":1,"collection":"c","version":1,"records":[],"sha256":1}"#, "/sha256"),
      (#"{"format":1,"collection":"c","version":1,"records":[1]}"#, "/records/0"),
      (Self.with(#"{"id":"","revision":1,"created":0,"modified":0,"document":{}}"#), "/records/0/id"),
      (Self.with(#"{"id":"\u0001","revision":1,"created":0,"modified":0,"document":{}}"#), "/records/0/id"),
      (Self.with(#"{"id":"\u0085","revision":1,"created":0,"modified":0,"document":{}}"#), "/records/0/id"),
      (Self.with(#"{"id":"a","revision":0,"created":0,"modified":0,"document":{}}"#), "/records/0/revision"),
      (Self.with(#"{"id":"a","revision":1,"created":0.5,"modified":0,"document":{}}"#), "/records/0/created"),
      (Self.with(#"{"id":"a","revision":1,"created":0,"modified":0,"document":[]}"#), "/records/0/document"),
      (Self.with(#"{"id":"a","revision":1,"created":0,"document":{}}"#), "/records/0"),
      (Self.with(#"{"id":"a","revision":1,"created":0,"modified":0,"document":{},"x":1}"#), "/records/0/x"),
      (
        Self.with(
          #"{"id":"a","revision":1,"created":0,"modified":0,"document":{}},{"id":"\u0061","revision":1,"created":0,"modified":0,"document":{}}"#
        ), "/records/1"
      ),
    ])
  func refused(text: String, pointer: String) throws {
    let error = try #require(throws: JSONError.self) {
      try MirrorFile(parsing: Array(text.utf8), collection: "c")
    }
    #expect(error.pointer == pointer && error.position?.line == 1, "\(error)")
  }

  private static func with(_ records: String) -> String {
    #"{"format":1,"collection":"c","version":1,"records":["# + records + "]}"
  }

  @Test("hold documents of 509 levels, and reject deeper ones and values that are not objects")
  func unfit() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "{\"a\":", count: levels - 1) + "{}" + String(repeating: "}", count: levels - 1)
    }
    let fit = MirrorFile(collection: "c", version: 1, records: [Self.record("a", nested(509))])
    #expect(try MirrorFile(parsing: fit.serialized(), collection: "c") == fit)
    for document in [nested(510), "[]", "1", "", "{\"a\":1", "{\"a\":1}}"] {
      let unfit = MirrorFile(collection: "c", version: 1, records: [Self.record("bad", document)])
      let error = try #require(throws: SatchelError.self) { try unfit.serialized() }
      #expect(error.code == .invalid && error.message.hasPrefix("c/bad: "))
    }
  }

  @Test("are compared record by record, down to the first value that differs")
  func compare() throws {
    let store = [
      Self.record("same", #"{"a":1,"b":[1,"x"]}"#), Self.record("only-here", "{}"),
      Self.record("value", #"{"a":{"b/c":[1,2]}}"#), Self.record("more", #"{"a":1}"#),
      Self.record("longer", #"{"a":[1,2]}"#), Self.record("revision", "{}", revision: 2),
      Self.record("number", #"{"a":1}"#),
    ]
    let mirror = MirrorFile(
      collection: "c", version: 1,
      records: [
        Self.record("same", #"{"b":[1,"\u0078"],"a":1}"#), Self.record("only-there", "{}"),
        Self.record("value", #"{"a":{"b/c":[1,3]}}"#), Self.record("more", #"{"a":1,"z":0}"#),
        Self.record("longer", #"{"a":[1]}"#), Self.record("revision", "{}"),
        Self.record("number", #"{"a":1.0}"#),
      ])
    let differences = try MirrorFile.compare(store: store, mirror: mirror)
    let told = differences.map { "\($0.id) \($0.kind.rawValue) \($0.pointer ?? "-")" }
    #expect(
      told == [
        "longer differs /a/1", "more differs /z", "number differs /a", "only-here missing_in_file -",
        "only-there missing_in_store -", "revision differs -", "value differs /a/b~1c/1",
      ])
    #expect(
      differences.first?.json.objectValue == ["id": "longer", "kind": "differs", "pointer": "/a/1"])
    #expect(try MirrorFile.compare(store: mirror.records, mirror: mirror).isEmpty)
  }
}
