import SatchelJSON
import Testing

@Suite("Keywords of a JSON Schema")
struct SchemaKeywordTests {
  @Test("that are unknown are named, with the one that was probably meant")
  func unknown() throws {
    let schema = try JSONSchema([
      "properties": ["n": ["minimun": 1, "maximum": 5], "a/b": ["items": ["maxlength": 3]]],
      "$defs": ["unused": ["patternproperties": [:]]], "id": "x", "ref": "y", "wholly-unknown": 1,
      "x-note": 2,
      "title": "t", "default": ["minimun": 1], "const": ["minimun": 1], "contentSchema": [:],
      "$vocabulary": [:],
    ])
    #expect(
      Set(schema.warnings.map(\.description)) == [
        #"/properties/n/minimun: unknown keyword, without effect: did you mean "minimum"?"#,
        #"/properties/a~1b/items/maxlength: unknown keyword, without effect: did you mean "maxLength"?"#,
        ##"/$defs/unused/patternproperties: unknown keyword, without effect: did you mean "patternProperties"?"##,
        #"/id: unknown keyword, without effect: did you mean "$id"?"#,
        #"/ref: unknown keyword, without effect: did you mean "$ref"?"#,
        "/wholly-unknown: unknown keyword, without effect",
      ])
    #expect(schema.warnings.first { $0.keyword == "minimun" }?.suggestion == "minimum")
    // It has no effect: the document is valid.
    #expect(try JSONSchema(["minimun": 1]).check(0).isEmpty)
    #expect(try JSONSchema(["minimum": 1]).warnings.isEmpty)
  }

  @Test("that are unknown: at most 100 of them are named, in bounded time")
  func manyUnknown() throws {
    let members = (0..<20_000).map { ("minimun\($0)", JSONValue.int(1)) }
    #expect(try JSONSchema(.object(JSONObject(members))).warnings.count == 100)
    var long = JSONObject()
    long[String(repeating: "x", count: 100_000)] = 1
    let warnings = try JSONSchema(.object(long)).warnings
    #expect(warnings.count == 1 && warnings[0].suggestion == nil)
  }

  @Test(
    "that were assertions in an earlier draft are rejected by name",
    arguments: [
      ("dependencies", "dependentRequired"), ("additionalItems", "prefixItems"),
      ("divisibleBy", "multipleOf"),
      ("disallow", "not"), ("extends", "allOf"), ("$recursiveRef", "$ref"), ("$recursiveAnchor", "$ref"),
    ])
  func earlier(keyword: String, advice: String) throws {
    var inner = JSONObject()
    inner[keyword] = ["a": ["b"]]
    let schema: JSONValue = ["properties": ["p": .object(inner)]]
    let error = try #require(throws: JSONError.self) { try JSONSchema(schema) }
    #expect(error.pointer == "/properties/p/\(keyword)")
    #expect(error.reason.contains("\"\(keyword)\"") && error.reason.contains("\"\(advice)\""), "\(error)")
    // A property with that name is not a keyword.
    var named = JSONObject()
    named[keyword] = ["type": "integer"]
    #expect(try JSONSchema(["properties": .object(named)]).warnings.isEmpty)
  }

  @Test("of an array of schemas in \"items\" say what to use")
  func arrayOfItems() throws {
    let error = try #require(throws: JSONError.self) { try JSONSchema(["items": [["type": "string"]]]) }
    #expect(error.pointer == "/items" && error.reason.contains("prefixItems"))
  }

  @Test("\\s in a pattern is the white space of ECMA-262, inside of a class and outside")
  func whiteSpace() throws {
    let spaces =
      "\t\n\u{B}\u{C}\r \u{A0}\u{1680}\u{2000}\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}"
    let others =
      "a_0-\\]\u{0}\u{8}\u{E}\u{1F}!\u{84}\u{85}\u{9F}\u{A1}\u{180E}\u{1FFF}\u{200B}\u{2060}\u{FF00}😀"
    let patterns = [
      (#"^\s$"#, true), (#"^[\s]$"#, true), (#"^[^\S]$"#, true), (#"^[\s-]$"#, true), (#"^(?!\S)[^]$"#, true),
      (#"^\S$"#, false), (#"^[\S]$"#, false), (#"^[^\s]$"#, false), (#"^[\S\n]$"#, false),
    ]
    for (pattern, wantsSpace) in patterns {
      let schema = try JSONSchema(["pattern": .string(pattern)])
      func fits(_ scalar: Unicode.Scalar) -> Bool { schema.check(.string(String(scalar))).isEmpty }
      for scalar in spaces.unicodeScalars where !(pattern.contains("n]") && scalar == "\n") {
        #expect(fits(scalar) == wantsSpace, "\(pattern) \(scalar.value)")
      }
      for scalar in others.unicodeScalars where !(pattern.contains("s-]") && scalar == "-") {
        #expect(fits(scalar) != wantsSpace, "\(pattern) \(scalar.value)")
      }
    }
  }

  @Test(
    "patterns keep their meaning around \\s",
    arguments: [
      (#"^\\s$"#, #"\s"#, true), (#"^\\s$"#, " ", false), (#"^[\\s]+$"#, #"s\s"#, true),
      (#"^\[\s\]$"#, "[ ]", true),
      (#"^[[:alpha:]]$"#, ":]", true), (#"^[[:alpha:]]$"#, "x", false), (#"^[a[]+$"#, "[a[", true),
      (#"^[\s\-x]+$"#, "- x", true), (#"^[]\s$"#, " ", false), (#"^\S+\s\S+$"#, "São\u{A0}Paulo", true),
    ])
  func rewritten(pattern: String, text: String, isMatch: Bool) throws {
    #expect(try JSONSchema(["pattern": .string(pattern)]).check(.string(text)).isEmpty == isMatch)
  }

  @Test("an error of anyOf and oneOf names the nearest schema, and the reason")
  func nearest() throws {
    let shapes: JSONValue = [
      "oneOf": [
        [
          "type": "object", "required": ["kind", "radius"],
          "properties": ["kind": ["const": "circle"], "radius": ["type": "number"]],
        ],
        [
          "type": "object", "required": ["kind", "to"],
          "properties": ["kind": ["const": "line"], "to": ["items": ["type": "number"]]],
        ],
        ["type": "string"],
      ]
    ]
    let schema = try JSONSchema(["properties": ["shape": shapes]])
    func reason(_ shape: JSONValue) -> String { schema.check(["shape": shape]).map(\.description).joined() }
    let none = #"/shape: matches none of the 3 schemas of "oneOf"; nearest is schema "#
    #expect(reason(["kind": "circle", "radius": "5"]) == none + "0: /shape/radius: a string, not a number")
    #expect(
      reason(["kind": "line", "to": ["a", 2, "b"]])
        == none + "1: /shape/to/0: a string, not a number (and 1 more)")
    #expect(reason(true) == none + "0: /shape: a boolean, not an object")
    // Inside of each other, and the verdict of a schema of booleans.
    let nested = try JSONSchema(["anyOf": [false, ["anyOf": [["type": "string"], ["minimum": 3]]]]])
    #expect(
      nested.check(1).first?.reason
        == #"matches none of the 2 schemas of "anyOf"; nearest is schema 1: matches none of the 2 schemas of "#
        + #""anyOf"; nearest is schema 1: 1 is less than 3"#)
  }

  @Test("explaining a failure costs little more than finding it")
  func explosion() throws {
    var schema: JSONValue = ["type": "string"]
    for _ in 0..<100 { schema = ["anyOf": [schema, ["type": "boolean"], ["not": [:]]]] }
    let violations = try JSONSchema(schema).check(1)
    #expect(violations.count == 1 && violations[0].keyword == "anyOf")
    #expect(violations[0].reason.utf8.count < 1_000)
    let wide = try JSONSchema([
      "items": ["anyOf": [["type": "string"], ["required": ["a"], "type": "object"]]]
    ])
    #expect(wide.check(.array([JSONValue](repeating: 5, count: 100_000))).count == 100)
  }
}
