import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage
import Testing

@testable import SatchelRecords

/// What travels, and under which names.
struct RecordSyncEnvelopeTests {
  private let keys: RecordKeys

  init() throws { keys = try RecordKeys(user: UserID("anna"), collection: "courses") }

  // MARK: Keys

  @Test("keys are readable where that is possible") func keysReadableWhere() throws {
    let table = [
      ("c1", "c1"), ("a.b-c_D", "a.b-c_D"), (".hidden", "%2Ehidden"), ("..", "%2E."), ("a/b", "a%2Fb"),
      ("50%", "50%25"), ("é", "%C3%A9"), ("e\u{301}", "e%CC%81"), (" ", "%20"), ("x.json", "x.json"),
    ]
    for (id, name) in table {
      let key = try keys.key(id)
      #expect(key.text == "records/anna/courses/\(name).json")
      #expect(keys.id(key)?.utf8.elementsEqual(id.utf8) == true)
    }
  }

  @Test("each id has one key, and each key at most one id") func eachIdOne() throws {
    var random = SystemRandomNumberGenerator()
    let parts = [
      "a", "Z", "9", ".", "..", "/", "%", "%2E", "-", "_", " ", "é", "e\u{301}", "東", "👩‍👧", "~", "\\",
    ]
    var seen: [ObjectKey: [UInt8]] = [:]
    for _ in 0..<5_000 {
      let id = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? "a"
      }
      .joined()
      let key = try keys.key(id)
      #expect(keys.id(key)?.utf8.elementsEqual(id.utf8) == true)
      #expect(seen.updateValue(Array(id.utf8), forKey: key) ?? Array(id.utf8) == Array(id.utf8))
    }
    let longest = String(repeating: "é", count: 127) + "a"
    #expect(keys.id(try keys.key(longest)) == longest)
  }

  @Test(
    "what is no id has no key",
    arguments: ["", "a\u{0}", "a\nb", "\u{7F}", "\u{85}", String(repeating: "x", count: 256)])
  func whatNoId(_ id: String) {
    #expect(throws: ObjectStoreError.self) { try keys.key(id) }
  }

  @Test(
    "other objects are no records",
    arguments: [
      "a", "a.txt", ".json", "sub/a.json", "%2e.json", "%41.json", ".a.json", "%.json", "%C3.json",
      "a%2.json",
      "%0A.json", "é.json",
    ])
  func otherObjectsNo(_ name: String) throws {
    #expect(keys.id(try ObjectKey("records/anna/courses/\(name)")) == nil)
  }

  // MARK: Envelopes

  private func envelope(
    _ document: String?, writer: String = "one", revision: Int64 = 1, modified: Int64 = 5,
    on parent: RecordEnvelope? = nil
  ) -> RecordEnvelope {
    RecordEnvelope(
      RecordContent(
        document: document.map { Array($0.utf8) }, revision: revision, created: 3, modified: modified),
      id: "c/1", version: 2, writer: writer, on: parent)
  }

  @Test("an envelope comes back as it was", arguments: [#"{"a":1.0, "b" : "é"}"#, "{}", nil])
  func envelopeComesBack(_ document: String?) throws {
    let parent = envelope(#"{}"#, writer: "\"other\"")
    let written = envelope(document, on: parent)
    #expect(try RecordEnvelope(parsing: written.bytes, id: "c/1") == written)
    let json = try JSONValue(parsing: written.bytes)
    #expect(json["deleted"]?.boolValue == (document == nil))
    #expect((json["document"] == nil) == (document == nil))
    #expect(json["ancestors"]?.objectValue?.count == 1)
  }

  @Test("an envelope knows what it was built on") func envelopeKnowsWhat() throws {
    let first = envelope("{}", writer: "one")
    let second = envelope("{}", writer: "two", on: first)
    let third = envelope("{}", writer: "three", on: second)
    let fourth = envelope("{}", writer: "one", on: third)
    #expect(second.isBuilt(on: first) && third.isBuilt(on: first) && third.isBuilt(on: second))
    #expect(!first.isBuilt(on: second) && !first.isBuilt(on: first))
    // Of each writer the last one counts.
    let fifth = envelope("{}", writer: "two", on: fourth)
    #expect(fifth.isBuilt(on: fourth) && fifth.isBuilt(on: third) && !fifth.isBuilt(on: first))
    var last = fifth
    for number in 0..<100 { last = envelope("{}", writer: "w\(number)", on: last) }
    #expect(last.ancestors.count == RecordEnvelope.maximumAncestors)
    #expect(try RecordEnvelope(parsing: last.bytes, id: "c/1") == last)
  }

  @Test("what is built on something is not older than that") func whatBuiltSomething() {
    let future = envelope("{}", modified: 1_000)
    #expect(envelope("{}", writer: "two", modified: 7, on: future).content.modified == 1_000)
  }

  private static func text(_ change: (inout JSONObject) -> Void) throws -> String {
    var object: JSONObject = [
      "format": 1, "id": "c/1", "version": 1, "revision": 1, "created": 1, "modified": 1, "deleted": false,
      "writer": "w", "ancestors": [:], "document": [:],
    ]
    change(&object)
    return try JSONValue.object(object).text
  }

  static let hostile: [(String, String)] = [
    ("", "line 1"), ("[]", "is no object"), ("{", "line 1"), ("null", "is no object"),
    ("{\"format\":1}", "/id"), ("{\"format\":1,\"format\":1}", "duplicate key"), ("\u{FEFF}{}", "line 1"),
  ]

  @Test("what is no envelope is refused with its place", arguments: hostile)
  func whatNoEnvelope(_ text: String, _ reason: String) {
    let error = #expect(throws: SatchelError.self) {
      try RecordEnvelope(parsing: Array(text.utf8), id: "c/1")
    }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test("every member is looked at") func everyMemberLooked() throws {
    let big = JSONObject((0..<40).map { ("w\($0)", .string(String(repeating: "0", count: 32))) })
    let changes: [(String, JSONValue?)] = [
      ("format", 0), ("format", "1"), ("format", nil), ("id", "c/2"), ("id", 1), ("id", ""), ("version", 0),
      ("version", .int(.max)), ("version", 1.0), ("revision", -1), ("created", -1), ("created", .int(.max)),
      ("modified", .int(.min)), ("modified", .null), ("deleted", "no"), ("deleted", true), ("deleted", nil),
      ("writer", ""), ("writer", nil), ("writer", .string(String(repeating: "w", count: 129))),
      ("ancestors", []), ("ancestors", ["w": 1]), ("ancestors", ["w": "short"]), ("ancestors", .object(big)),
      ("document", nil), ("document", []), ("document", .null),
    ]
    for (name, value) in changes {
      let text = try Self.text { $0[name] = value }
      let error = #expect(throws: SatchelError.self) {
        try RecordEnvelope(parsing: Array(text.utf8), id: "c/1")
      }
      #expect(
        error?.code == .invalid && error?.message.contains("/\(name == "deleted" ? "d" : name)") == true)
    }
    let newer = try Self.text { $0["format"] = 2 }
    let error = #expect(throws: SatchelError.self) {
      try RecordEnvelope(parsing: Array(newer.utf8), id: "c/1")
    }
    #expect(error?.code == .newer)
    let more = try Self.text { $0["more"] = [1] }
    #expect(try RecordEnvelope(parsing: Array(more.utf8), id: "c/1").writer == "w")
  }

  @Test("no bytes bring a reader down") func noBytesBring() throws {
    var random = SystemRandomNumberGenerator()
    let sound = envelope(#"{"a":[1,2,{"b":"\u00e9"}]}"#, on: envelope("{}", writer: "two")).bytes
    for _ in 0..<20_000 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { break }
      }
      do {
        let read = try RecordEnvelope(parsing: bytes, id: "c/1")
        #expect(read.id == "c/1" && read.bytes == bytes)
      } catch let error as SatchelError {
        #expect(error.code == .invalid || error.code == .newer)
      }
    }
  }
}
