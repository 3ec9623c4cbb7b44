import SatchelJSON
import Testing

@Suite("The scanner: positions of errors, and duplicate keys")
struct JSONScannerPositionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var offset: Int
    var line = 1
    var column: Int
    var pointer: String?

    init(_ text: String, _ offset: Int, line: Int = 1, column: Int, at pointer: String?) {
      (self.text, self.offset, self.line, self.column, self.pointer) = (text, offset, line, column, pointer)
    }

    var testDescription: String { text }
  }

  @Test(
    "an error names offset, line, column and pointer",
    arguments: [
      Case("", 0, column: 1, at: nil),
      Case(" ", 1, column: 2, at: ""),
      Case("\n\n", 2, line: 3, column: 1, at: ""),
      Case("\u{FEFF}1", 0, column: 1, at: ""),
      Case("1 2", 2, column: 3, at: ""),
      Case("[] x", 3, column: 4, at: ""),
      Case("[", 1, column: 2, at: ""),
      Case("[1,2", 4, column: 5, at: "/1"),
      Case("[1,]", 3, column: 4, at: "/0"),
      Case("[1 2]", 3, column: 4, at: "/0"),
      Case("[0, 1e9223372036854775807]", 4, column: 5, at: "/1"),
      Case("{\n \"b\": [true, nul]}", 15, line: 2, column: 14, at: "/b/1"),
      Case("{\r\n\"é\": x}", 9, line: 2, column: 7, at: "/é"),
      Case(#"{"a/b":{"m~n":tru}}"#, 14, column: 15, at: "/a~1b/m~0n"),
      Case(#"{"a\n\"":tru}"#, 9, column: 10, at: "/a\n\""),
      Case(#"{"":[[],[x]]}"#, 9, column: 10, at: "//1/0"),
      Case(#"{"a":1 "b":2}"#, 7, column: 8, at: "/a"),
      Case(#"{"a" 1}"#, 5, column: 6, at: "/a"),
      // Where a key is expected, the error is about the object.
      Case(#"{"o":{"a":1,b}}"#, 12, column: 13, at: "/o"),
      Case(#"{"o":{"a":1,"\x":2}}"#, 13, column: 14, at: "/o"),
      Case(#"{"a":[{"b":1},{"c":2}"#, 21, column: 22, at: "/a/1"),
      Case(#"["\ud800"]"#, 2, column: 3, at: "/0"),
    ])
  func position(example: Case) throws {
    let error = try #require(JSONScannerTests.refusal(example.text))
    #expect(
      error.position == JSONPosition(offset: example.offset, line: example.line, column: example.column))
    #expect(error.pointer == example.pointer)
  }

  @Test(
    "a duplicate key is reported at its second position",
    arguments: [
      Case(#"{"a":1,"a":2}"#, 7, column: 8, at: "/a"),
      Case(#"{"":1,"":2}"#, 6, column: 7, at: "/"),
      Case(#"{"x":{"a":1,"b":2,"a":3},"a":1}"#, 18, column: 19, at: "/x/a"),
      Case(#"{"\u0061":1,"b":2,"a":3}"#, 18, column: 19, at: "/a"),
      Case(#"{"a":1,"b":2,"\u0061":3,"c":4}"#, 13, column: 14, at: "/a"),
      Case(#"{"\u00e9":1,"é":2}"#, 12, column: 13, at: "/é"),
      Case(#"{"\ud83d\ude00":1,"😀":2}"#, 18, column: 19, at: "/😀"),
      Case(#"{"\/":1,"/":2}"#, 8, column: 9, at: "/~1"),
      Case(#"[0,{"a":1,"a":2,"a":3}]"#, 10, column: 11, at: "/1/a"),
    ])
  func duplicate(example: Case) throws {
    try position(example: example)
    #expect(JSONScannerTests.refusal(example.text)?.reason.hasPrefix("duplicate key \"") == true)
  }

  @Test("among many keys the first duplicate is named", arguments: [11, 12, 13, 14, 40, 1000])
  func duplicateAmongMany(count: Int) throws {
    for first in Set([0, 1, count / 2, count - 1]) {
      // Two keys are repeated, the one that sorts first later; and the earlier one a third time.
      var keys = (0..<count).map { "k\($0)" }
      let again = keys.count
      keys += ["k\(first)", "k0", "k\(first)"]
      for key in 0..<5 { keys.append("after\(key)") }
      let members = keys.map { "\"\($0)\":0" }
      let text = "{\"o\":{" + members.joined(separator: ",") + "}}"
      let offset = 6 + members[..<again].reduce(0) { $0 + $1.utf8.count + 1 }
      let error = try #require(JSONScannerTests.refusal(text))
      #expect(error.position?.offset == offset)
      #expect(error.pointer == "/o/k\(first)")
      let distinct = "{" + Set(members).sorted().joined(separator: ",") + "}"
      #expect(JSONScannerTests.refusal(distinct) == nil)
    }
  }

  @Test(
    "keys are compared by their code points, not by their appearance or numbers",
    arguments: [
      "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"\u00e9":1,"e\u0301":2}"#, #"{"\u212a":1,"K":2}"#,
      #"{"\u037e":1,";":2}"#,
      #"{"\u0061":1,"é":2,"233":3}"#, #"{"\u0061":1,"éé":2,"233 233":3}"#, #"{"\u0061":1,"A":2,"\\u0061":3}"#,
      "{\"\u{AC00}\":1,\"\u{1100}\u{1161}\":2}",
    ])
  func distinctKeys(text: String) throws {
    #expect(JSONScannerTests.refusal(text) == nil)
    let value = try JSONValue(parsing: text)
    #expect(value.objectValue?.count == text.split(separator: ",").count)
  }
}
