import CPattern
import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@Suite("JSON Schema")
struct SchemaTests {
  private func check(_ schema: String, _ value: String) throws -> [String] {
    try JSONSchema(JSONValue(parsing: schema)).check(JSONValue(parsing: value)).map {
      "\($0.pointer) \($0.keyword)"
    }
  }

  @Test(
    "tells every violation with its place and keyword",
    arguments: [
      (
        #"{"type":"object","required":["id","n"],"properties":{"n":{"type":"integer","maximum":3},"l":{"items":{"minLength":2}}}}"#,
        #"{"n":7.5,"l":["ok","x",""]}"#,
        [" required", "/n type", "/n maximum", "/l/1 minLength", "/l/2 minLength"]
      ),
      (
        #"{"additionalProperties":false,"properties":{"a":true}}"#, #"{"a":1,"b/c":2}"#,
        ["/b~1c additionalProperties"]
      ),
      (#"{"allOf":[{"type":"string"},{"minimum":5}]}"#, "1", [" type", " minimum"]),
      (
        ##"{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"const":[1]}}}"##, ##"{"a":[2]}"##,
        ["/a const"]
      ),
      (#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#, "1", [" anyOf"]),
      (#"{"oneOf":[true,true]}"#, "1", [" oneOf"]), (#"{"not":{}}"#, "1", [" not"]),
      ("false", "1", [" false"]),
      (#"{"if":{"type":"integer"},"then":false}"#, "1", [" then"]),
      (#"{"uniqueItems":true,"contains":{"type":"null"}}"#, "[1,1.0]", [" uniqueItems", " contains"]),
      (#"{"propertyNames":{"maxLength":1}}"#, #"{"ab":1}"#, [" propertyNames"]),
      (
        #"{"items":{"properties":{"a":true},"unevaluatedProperties":false}}"#, #"[{"b":1}]"#,
        ["/0/b unevaluatedProperties"]
      ),
      (#"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, [" dependentRequired"]),
    ])
  func violations(schema: String, value: String, expected: [String]) throws {
    #expect(try check(schema, value) == expected)
  }

  @Test("says why in words")
  func reasons() throws {
    let schema = try JSONSchema([
      "properties": [
        "credits": ["maximum": 10], "code": ["pattern": "^[A-Z]{2}$"], "kind": ["type": ["string", "null"]],
        "tags": ["uniqueItems": true], "title": ["maxLength": 3],
      ]
    ])
    let told = schema.check(["credits": 12, "code": "x", "kind": [], "tags": [1, 2, 1], "title": "Algebra"])
    #expect(
      told.map(\.description) == [
        "/credits: 12 is more than 10", #"/code: "x" does not match "^[A-Z]{2}$""#,
        "/kind: an array, not a string or null", "/tags: the elements 0 and 2 are equal",
        "/title: 7 characters are more than 3",
      ])
  }

  @Test(
    "counts in decimals and compares exactly",
    arguments: [
      ("19.99", "0.01", true), ("19.995", "0.01", false), ("0.3", "0.1", true), ("1e300", "3", false),
      ("1e300", "7e-300", false), ("7e300", "7e-300", true), ("0", "1e-300", true),
      ("1e-300", "1e300", false),
      ("9223372036854775807", "7", true), ("9223372036854775807", "1.5", false), ("-4.5", "1.5", true),
      ("-9223372036854775808", "2", true), ("123456789012345678", "0.001", true), ("5e-324", "5e-324", true),
      ("1.7976931348623157e308", "1e-5", true),
    ])
  func multiples(value: String, divisor: String, isMultiple: Bool) throws {
    #expect(try check(#"{"multipleOf":\#(divisor)}"#, value).isEmpty == isMultiple)
  }

  @Test("does not round integers to doubles")
  func exactBounds() throws {
    #expect(try !check(#"{"minimum":9007199254740993.5}"#, "9007199254740993").isEmpty)
    #expect(try check(#"{"exclusiveMaximum":9223372036854775808.0}"#, "9223372036854775807").isEmpty)
    #expect(try !check(#"{"maximum":9223372036854775806}"#, "9223372036854775808.0").isEmpty)
    #expect(try check(#"{"minimum":-9223372036854775808.0}"#, "-9223372036854775808").isEmpty)
    #expect(try !check(#"{"exclusiveMinimum":-0.5}"#, "-1").isEmpty)
  }

  @Test(
    "refuses what it cannot follow, with the place",
    arguments: [
      (#"{"$ref":"https://example.com/x.json"}"#, "/$ref", "nothing is fetched"),
      (#"{"$ref":"other.json#/a"}"#, "/$ref", "not in this schema"),
      (##"{"items":{"$ref":"#/nowhere"}}"##, "/items/$ref", "leads to nothing"),
      (##"{"$ref":"#none"}"##, "/$ref", "anchor"), (##"{"$ref":"#/a%zz"}"##, "/$ref", "escape"),
      (##"{"$ref":"#/a~2"}"##, "/$ref", "~"), (##"{"$ref":"#/x","x":5}"##, "/x", "a number"),
      (##"{"$ref":"#"}"##, "", "without an end"),
      (##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##, "", "without an end"),
      (##"{"anyOf":[{"not":{"$ref":"#"}}]}"##, "", "without an end"),
      (##"{"if":true,"else":{"$ref":"#"}}"##, "", "without an end"),
      (##"{"$dynamicRef":"#x"}"##, "/$dynamicRef", "not supported"),
      (#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#, "/$schema", "2020-12"),
      (#"{"pattern":"a("}"#, "/pattern", "byte 2"),
      (#"{"patternProperties":{"[":true}}"#, "/patternProperties/[", "expression"),
      (#"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"#, "/$defs", "twice"),
      (#"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}"#, "/$defs", "twice"),
    ] as [(String, String, String)])
  func refused(schema: String, pointer: String, words: String) throws {
    let error = try #require(throws: JSONError.self) { try JSONSchema(JSONValue(parsing: schema)) }
    #expect(error.pointer?.hasPrefix(pointer) == true && error.reason.contains(words), "\(error)")
  }

  @Test("reads patterns nearly as ECMAScript does")
  func patterns() throws {
    let examples: [(String, String, Bool)] = [
      (#"^\\u{1F600}$"#, "😀", true), (#"^\\d$"#, "٣", false), (#"a$"#, #"a\n"#, false),
      (#"^[^]$"#, #"\n"#, true),
      (#"[]"#, "a", false), (#"^\\p{L}+$"#, "éß", true), (#"^(?!x).$"#, "x", false), (#"^.$"#, #"\r"#, false),
      (#"(?<y>\\d)\\k<y>"#, "11", true), (#"\\x41"#, "A", true), (#"\\//"#, "//", true),
    ]
    for (pattern, text, isMatch) in examples {
      #expect(try check(#"{"pattern":"\#(pattern)"}"#, "\"\(text)\"").isEmpty == isMatch, "\(pattern)")
    }
  }

  @Test("does not hang on a pattern that takes too long, and does not take that for its contrary")
  func slowPattern() throws {
    let value = JSONValue.string(String(repeating: "a", count: 5_000) + "b")
    for schema: JSONValue in [
      ["pattern": "^(a+)+$"], ["not": ["pattern": "^(a+)+$"]], ["anyOf": [["pattern": "^(a+)+$"], true]],
      ["if": ["pattern": "^(a+)+$"], "then": true, "else": true],
    ] {
      let told = try JSONSchema(schema).check(value)
      #expect(told.first?.keyword == "pattern" && told.first?.reason.contains("too long") == true, "\(told)")
    }
    #expect(throws: JSONError.self) {
      try JSONSchema(["pattern": .string(String(repeating: "(", count: 100_000))])
    }
  }

  @Test("says which package is missing when PCRE2 is")
  func missingLibrary() {
    var message = [CChar](repeating: 0, count: 256)
    #expect(!cpattern_can_load("libnothing-of-this-name.so", &message, message.count))
    let told = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(told.contains("libpcre2-8-0"))
    // One that is there, and is not it.
    #expect(!cpattern_can_load("libc.so.6", &message, message.count))
    #expect(cpattern_load(&message, message.count))
  }

  @Test("tells at most 100 violations")
  func manyViolations() throws {
    let schema = try JSONSchema(["items": ["type": "string"]])
    #expect(schema.check(.array((0..<1_000).map { .int($0) })).count == 100)
    #expect(schema.check(.array((0..<99).map { .int($0) })).count == 99)
  }

  @Test("does not take a large document for a schema that multiplies the work")
  func largeDocument() throws {
    let schema = try JSONSchema(["items": ["allOf": [["minimum": 0], ["type": "integer"], ["maximum": 9]]]])
    #expect(schema.check(.array([JSONValue](repeating: 5, count: 300_000))).isEmpty)
  }

  @Test("finds equal elements among many without comparing each with each")
  func uniqueItems() throws {
    let schema = try JSONSchema(["uniqueItems": true])
    var elements = (0..<50_000).map { JSONValue.object(["id": .int($0), "n": [.double(0.5)]]) }
    let fewer = JSONValue.array(Array(elements.prefix(5_000)))
    let short = Work.processorSeconds { #expect(schema.check(fewer).isEmpty) }
    let long = Work.processorSeconds { #expect(schema.check(.array(elements)).isEmpty) }
    // Ten times as many elements: comparing each with each would take a hundred times as long.
    #expect(long < short * 40)
    elements.append(["n": [0.5], "id": 40_000.0])
    #expect(schema.check(.array(elements)).first?.reason == "the elements 40000 and 50000 are equal")
  }

  @Test("follows recursion as deep as a document can be, also on a small stack")
  func deepDocuments() throws {
    let schema = try JSONSchema([
      "$ref": "#/$defs/node",
      "$defs": [
        "node": [
          "type": ["object", "integer"], "properties": ["a": ["allOf": [["$ref": "#/$defs/node"]]]],
          "unevaluatedProperties": false,
        ]
      ],
    ])
    var value: JSONValue = 1
    var wrong: JSONValue = "x"
    for _ in 0..<512 {
      value = ["a": value]
      wrong = ["a": wrong]
    }
    let told = Told()
    let (fitting, other) = (value, wrong)
    let thread = Thread { told.set(schema.check(fitting), schema.check(other)) }
    thread.stackSize = 512 << 10
    thread.start()
    let (one, two) = told.wait()
    #expect(one.isEmpty)
    #expect(two.first?.pointer == String(repeating: "/a", count: 512))
  }

  @Test("ends with a word on schemas that multiply the work, or nest without end")
  func explosions() throws {
    var definitions = JSONObject()
    for level in 0..<60 {
      let next: JSONValue = ["$ref": .string("#/$defs/l\(level + 1)")]
      definitions["l\(level)"] = ["allOf": [next, next]]
    }
    definitions["l60"] = true
    var schema = JSONObject()
    schema["$ref"] = "#/$defs/l0"
    schema["$defs"] = .object(definitions)
    #expect(try JSONSchema(.object(schema)).check(1).first?.reason.contains("too often") == true)
    for level in 0..<5_000 {
      definitions["l\(level)"] = ["allOf": [["$ref": .string("#/$defs/l\(level + 1)")]]]
    }
    definitions["l5000"] = true
    schema["$defs"] = .object(definitions)
    #expect(try JSONSchema(.object(schema)).check(1).first?.reason.contains("too often") == true)
  }
}

/// What another thread found out.
private final class Told: @unchecked Sendable {
  // Unchecked: written before the signal and read behind it.
  private var answer: ([JSONSchemaViolation], [JSONSchemaViolation]) = ([], [])
  private let semaphore = DispatchSemaphore(value: 0)

  func set(_ one: [JSONSchemaViolation], _ two: [JSONSchemaViolation]) {
    answer = (one, two)
    semaphore.signal()
  }

  func wait() -> ([JSONSchemaViolation], [JSONSchemaViolation]) {
    semaphore.wait()
    return answer
  }
}
