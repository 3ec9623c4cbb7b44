import SatchelJSON
import SatchelTesting
import Testing

@Suite("The tape")
struct JSONTapeTests {
  /// Calls `body` with the text's tape.
  static func withTape<Result>(_ text: String, _ body: (JSONTape) throws -> Result) throws -> Result {
    try Array(text.utf8).withUnsafeBytes { try body(JSONTape($0)) }
  }

  @Test("children are an array's elements and an object's values, in order")
  func children() throws {
    let text = #" {"a" : [1, [2, 3], {"x": 4}, "s"], "b":{}, "c": [], "d":null}"#
    try JSONTapeTests.withTape(text) { tape in
      let members = Array(tape.children(of: tape.root))
      #expect(members.map { tape.text($0 - 1) } == ["a", "b", "c", "d"])
      #expect(members.map { tape[$0].kind } == [.array, .object, .array, .null])
      let first = try #require(members.first)
      let elements = Array(tape.children(of: first))
      #expect(
        elements.map { String(decoding: tape.bytes[tape.rawRange($0)], as: UTF8.self) } == [
          "1", "[2, 3]", #"{"x": 4}"#, #""s""#,
        ])
      for childless in [members[1], members[2], members[3], elements[0], elements[3], first - 1] {
        #expect(Array(tape.children(of: childless)).isEmpty)
      }
      #expect(Array(tape.children(of: elements[2])).count == 1)
    }
  }

  @Test("a member is found by its key, with or without escapes, and not by a similar key")
  func members() throws {
    let text = #"{"id2":0,"id":1,"_st\u006frage":2,"i\u212a":3,"x":{"name":4}}"#
    try JSONTapeTests.withTape(text) { tape in
      func spelled(_ index: Int?) -> String? { index.map { tape.text($0) } }
      #expect(spelled(tape.member("id", of: tape.root)) == "1")
      #expect(spelled(tape.member("id2", of: tape.root)) == "0")
      #expect(spelled(tape.member("_storage", of: tape.root)) == "2")
      #expect(tape.member("iK", of: tape.root) == nil)
      #expect(tape.member("name", of: tape.root) == nil)
      #expect(tape.member("", of: tape.root) == nil)
      let inner = try #require(tape.member("x", of: tape.root))
      #expect(spelled(tape.member("name", of: inner)) == "4")
      #expect(tape.member("name", of: try #require(tape.member("id", of: tape.root))) == nil)
    }
    #expect(try JSONTapeTests.withTape(#"["name","v"]"#) { $0.member("name", of: $0.root) } == nil)
    #expect(try JSONTapeTests.withTape("{\"\":1}") { $0.member("", of: $0.root) } == 2)
  }

  @Test(
    "a string has its escapes resolved, raw bytes keep them",
    arguments: [
      (#""a\u00e9\n\"""#, "aé\n\""), (#""\ud83d\ude00""#, "😀"), (#""\u0000""#, "\u{0}"), (#""""#, ""),
      (#""\/\b\f\r\t\\""#, "/\u{8}\u{C}\r\t\\"), ("-0.0", "-0.0"), ("1E2", "1E2"), ("true", "true"),
    ])
  func texts(raw: String, text: String) throws {
    try JSONTapeTests.withTape("[ " + raw + " ]") { tape in
      #expect(tape.text(1) == text)
      #expect(tape.rawRange(1) == 2..<2 + raw.utf8.count)
      var copied: [UInt8] = []
      tape.copy(1, to: &copied)
      #expect(copied == Array(raw.utf8))
      #expect(tape.position(1) == JSONPosition(offset: 2, line: 1, column: 3))
      let value = try tape.value(1)
      let expected = try JSONValue(parsing: raw)
      #expect(value == expected)
    }
  }

  @Test(
    "an object is copied without its first, middle, last or only member",
    arguments: [
      (#"{"a":1}"#, 0, "{}"), (#"{ "a" : 1 }"#, 0, "{ }"), (#"{"a":1,"b":2,"c":3}"#, 0, #"{"b":2,"c":3}"#),
      (#"{"a":1,"b":2,"c":3}"#, 1, #"{"a":1,"c":3}"#), (#"{"a":1,"b":2,"c":3}"#, 2, #"{"a":1,"b":2}"#),
      (#"{ "a" : 1 , "b" : 2 , "c" : 3 }"#, 0, #"{ "b" : 2 , "c" : 3 }"#),
      (#"{ "a" : 1 , "b" : 2 , "c" : 3 }"#, 1, #"{ "a" : 1 , "c" : 3 }"#),
      (#"{ "a" : 1 , "b" : 2 , "c" : 3 }"#, 2, #"{ "a" : 1 , "b" : 2  }"#),
      (#"{"a":"x,y","b":"{,"}"#, 1, #"{"a":"x,y"}"#), (#"{"a":"x,y","b,":"{,"}"#, 0, #"{"b,":"{,"}"#),
      (#"{"a":{"b":[1,2]},"c":{}}"#, 0, #"{"c":{}}"#),
      (#"{"a":{"b":[1,2]},"c":{}}"#, 1, #"{"a":{"b":[1,2]}}"#),
      ("{\n\t\"a\":1,\n\t\"b\":2\n}", 1, "{\n\t\"a\":1\n}"),
      ("{\n\t\"a\":1,\n\t\"b\":2\n}", 0, "{\n\t\"b\":2\n}"),
    ])
  func copyWithout(text: String, member: Int, expected: String) throws {
    // Also inside another value: the outer text must not be read.
    for (before, after) in [("", ""), ("[0,{\"o\":", ",\"p\":1}]")] {
      try JSONTapeTests.withTape(before + text + after) { tape in
        let object = before.isEmpty ? tape.root : 4
        let children = Array(tape.children(of: object))
        var copied: [UInt8] = Array("x".utf8)
        tape.copy(object, without: children[member], to: &copied)
        #expect(String(decoding: copied, as: UTF8.self) == "x" + expected)
      }
    }
  }

  @Test("an object without any one member equals the value without it", arguments: 0..<40 as Range<UInt64>)
  func copyWithoutAny(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    let count = Int.random(in: 1...20, using: &generator)
    let members = (0..<count).map { index in
      ("k\(index)", JSONFixture.random(&generator, levels: 3))
    }
    let object = JSONObject(members)
    try JSONTapeTests.withTape(JSONAgreementTests.spaced(.object(object), &generator)) { tape in
      for (index, child) in tape.children(of: tape.root).enumerated() {
        var copied: [UInt8] = []
        tape.copy(tape.root, without: child, to: &copied)
        var rest = object
        rest.removeValue(forKey: members[index].0)
        let value = try JSONValue(parsing: copied)
        #expect(value == .object(rest))
      }
    }
  }

  @Test("a string that is not JSON has no tape", arguments: ["", "[1,]", "{\"a\":1,\"a\":1}", "1 1"])
  func refused(text: String) {
    #expect(throws: JSONError.self) { try JSONTapeTests.withTape(text) { $0.root } }
  }
}
