import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@Suite("JSON texts of values")
struct JSONTextTests {
  @Test(
    "invalid JSON is an error with its position",
    arguments: [
      "", " ", "{", "[1,]", "{\"a\":1,}", "[1] x", "1 2", "nul", "'a'", "[01]", "+1", ".5", "1.", "NaN",
      "Infinity", "\u{FEFF}1", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", #""\ud800""#, #""\udc00""#,
      #""\ud800\u0041""#, #"{"a\u0000b":1}"#, "1e9223372036854775807",
      "\"\u{1}\"", "\"a\nb\"", #""\x""#, "[1}", "// x\n1",
    ])
  func refused(text: String) throws {
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
    let position = try #require(error.position)
    #expect(position.line >= 1 && position.column >= 1)
    #expect((0...text.utf8.count).contains(position.offset))
    #expect(!error.reason.isEmpty)
  }

  @Test(
    "bytes that are not UTF-8 are an error",
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xEF, 0xBB, 0xBF, 0x31],
    ]
      as [[UInt8]])
  func badBytes(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
  }

  @Test("an error has line and column in bytes")
  func position() throws {
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: "{\n  \"é\": tru\n}") }
    #expect(error.position?.line == 2)
    #expect(error.position?.column == 9)
    #expect(error.position?.offset == 10)
  }

  @Test(
    "numbers keep their type and value",
    arguments: [
      ("0", .int(0)), ("-0", .int(0)), ("-9223372036854775808", .int(.min)),
      ("9223372036854775807", .int(.max)),
      ("0.1", .double(0.1)), ("100.0", .double(100)), ("1e22", .double(1e22)), ("1E2", .double(100)),
      ("5e-324", .double(.leastNonzeroMagnitude)), ("1e-999", .double(0)),
      ("1.7976931348623157e308", .double(1.7976931348623157e308)),
      ("9223372036854775808", big("9223372036854775808")),
      ("-9223372036854775809", big("-9223372036854775809")),
      ("1e400", big("1e400")), ("-1.50E+0400", big("-1.50E+0400")),
    ] as [(String, JSONValue)])
  func numbers(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
    #expect(try JSONValue(parsing: value.text) == value)
  }

  @Test(
    "values are written compactly, in the shortest form",
    arguments: [
      (.double(100), "100.0"), (.double(-0.0), "-0.0"), (.double(0.1), "0.1"), (.double(1e22), "1e+22"),
      (.int(-5), "-5"), ([], "[]"), ([:], "{}"),
      (["b": [1, .null, true], "a": "x"], #"{"b":[1,null,true],"a":"x"}"#),
      ("é\u{1F600}/\u{7F}\u{2028}", "\"é\u{1F600}/\u{7F}\u{2028}\""),
      ("\"\\\u{8}\t\n\u{C}\r\u{0}\u{1F}", #""\"\\\b\t\n\f\r\u0000\u001f""#),
    ] as [(JSONValue, String)])
  func written(value: JSONValue, text: String) throws {
    #expect(try value.text == text)
    #expect(try JSONValue(parsing: text) == value)
  }

  @Test("minus zero keeps its sign")
  func minusNought() throws {
    #expect(try JSONValue(parsing: "-0.0").doubleValue?.sign == .minus)
    #expect(try JSONValue(parsing: "-0").text == "0")
  }

  @Test("NaN and infinity cannot be written; the error has their location, and nothing is appended")
  func notFinite() throws {
    for number in [Double.nan, .infinity, -.infinity] {
      let value: JSONValue = ["a/b": [1, .double(number)]]
      var bytes: [UInt8] = [7]
      let error = try #require(throws: JSONError.self) { try value.write(into: &bytes) }
      #expect(error.pointer == "/a~1b/1")
      #expect(bytes == [7])
    }
  }

  @Test("512 levels are read and written, 513 are not", arguments: ["[": "]", "{\"a\":": "}"])
  func levels(open: String, close: String) throws {
    func nested(_ levels: Int) -> String {
      String(repeating: open, count: levels - 1) + (open == "[" ? "[]" : "{}")
        + String(repeating: close, count: levels - 1)
    }
    let deepest = try JSONValue(parsing: nested(512))
    #expect(deepest.depth == 512)
    #expect(try deepest.text == nested(512))
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: nested(513)) }
    #expect(error.reason.contains("512"))
    #expect(error.position?.offset == open.utf8.count * 512)
    #expect(throws: JSONError.self) { try ([deepest] as JSONValue).serialized() }
    #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
  }

  @Test("brackets inside strings are not levels")
  func brackets() throws {
    let text = String(repeating: "[{", count: 1000) + "\\\"["
    #expect(try JSONValue(parsing: "[\"\(text)\"]").depth == 1)
  }

  @Test("random doubles round-trip bit by bit")
  func doubles() throws {
    var generator = SeededRandom(seed: 1)
    for _ in 0..<20_000 {
      let double = JSONFixture.finiteDouble(&generator)
      let back = try JSONValue(parsing: JSONValue.double(double).serialized())
      guard case .double(let value) = back, value.bitPattern == double.bitPattern else {
        Issue.record("\(double) came back as \(back)")
        return
      }
    }
  }

  @Test("random values round-trip, with keys in order", arguments: Portion.of(2...6 as ClosedRange<UInt64>))
  func values(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    for _ in 0..<400 {
      let value = JSONFixture.random(&generator, levels: 5)
      let bytes = try value.serialized()
      let back = try JSONValue(parsing: bytes)
      #expect(back == value)
      #expect(try back.serialized() == bytes)
    }
  }

  @Test("many threads may parse at once")
  func threads() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let value = try JSONValue(parsing: "{\"n\":\(number),\"list\":[{\"x\":\"y\"}]}")
          #expect(value["n"] == .int(Int64(number)))
        }
      }
      try await group.waitForAll()
    }
  }
}
