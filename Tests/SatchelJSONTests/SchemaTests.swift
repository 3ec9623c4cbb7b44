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
    "returns every violation with its location and keyword",
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

  @Test("reports the reasons")
  func reasons() throws {
    let schema = try JSONSchema([
      "properties": [
        "credits": ["maximum": 10], "code": ["pattern": "^[A-Z]{2}$"], "kind": ["type": ["string", "null"]],
        "tags": ["uniqueItems": true], "title": ["maxLength": 3],
      ]
    ])
    let violations = schema.check([
      "credits": 12, "code": "x", "kind": [], "tags": [1, 2, 1], "title": "Algebra",
    ])
    #expect(
      violations.map(\.description) == [
        "/credits: 12 is more than 10", #"/code: "x" does not match "^[A-Z]{2}$""#,
        "/kind: an array, not a string or null", "/tags: the elements 0 and 2 are equal",
        "/title: 7 characters are more than 3",
      ])
  }

  @Test(
    "computes multiples in decimal",
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

  @Test(
    "are exact for numbers beyond Int64 and beyond a double",
    arguments: [
      (#"{"maximum":18446744073709551615}"#, "18446744073709551615", true),
      (#"{"maximum":18446744073709551615}"#, "18446744073709551616", false),
      (#"{"maximum":18446744073709551615}"#, "18446744073709551616.0", false),
      (#"{"maximum":18446744073709551615}"#, "3", true), (#"{"minimum":-1e400}"#, "-1e308", true),
      (#"{"minimum":-1e400}"#, "-10.1e399", false), (#"{"maximum":1e308}"#, "1e309", false),
      (#"{"minimum":9223372036854775807}"#, "9223372036854775808", true),
      (#"{"exclusiveMaximum":1e999999999999}"#, "1e999999999998", true),
      (#"{"multipleOf":10}"#, "18446744073709551615", false),
      (#"{"multipleOf":5}"#, "18446744073709551615", true),
      (#"{"multipleOf":0.01}"#, "1e999999999999999", true), (#"{"multipleOf":7}"#, "7e400", true),
      (#"{"multipleOf":7}"#, "1e400", false), (#"{"multipleOf":1e400}"#, "3e401", true),
      (#"{"multipleOf":1e400}"#, "5", false), (#"{"multipleOf":3}"#, "1e999999999999", false),
      (#"{"type":"integer"}"#, "18446744073709551615", true), (#"{"type":"integer"}"#, "1.5e400", true),
      (#"{"type":"number"}"#, "1e400", true), (#"{"type":"string"}"#, "1e400", false),
      (#"{"enum":[1e400]}"#, "10e399", true),
      (#"{"const":18446744073709551616.0}"#, "18446744073709551616", true),
      (#"{"const":18446744073709551616.0}"#, "18446744073709551617", false),
      (#"{"uniqueItems":true}"#, "[18446744073709551616,1,18446744073709551616.0]", false),
      (#"{"uniqueItems":true}"#, "[18446744073709551616,18446744073709551617,1e400]", true),
      (#"{"uniqueItems":true}"#, "[[],1e400,10e399]", false), (#"{"maxLength":1e400}"#, #""a""#, true),
    ])
  func bigNumbers(schema: String, value: String, fits: Bool) throws {
    #expect(try check(schema, value).isEmpty == fits)
  }

  @Test("a divisor of more than 19 digits is refused with its location")
  func longDivisor() throws {
    for schema in [#"{"multipleOf":18446744073709551617123}"#, #"{"multipleOf":-1e400}"#] {
      let error = try #require(throws: JSONError.self) { try JSONSchema(JSONValue(parsing: schema)) }
      #expect(error.pointer == "/multipleOf")
    }
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
    "refuses unsupported or invalid keywords, with the location",
    arguments: [
      (#"{"$ref":"https://example.com/x.json"}"#, "/$ref", "not fetched"),
      (#"{"$ref":"other.json#/a"}"#, "/$ref", "not in this schema"),
      (##"{"items":{"$ref":"#/nowhere"}}"##, "/items/$ref", "missing location"),
      (##"{"$ref":"#none"}"##, "/$ref", "anchor"), (##"{"$ref":"#/a%zz"}"##, "/$ref", "escape"),
      (##"{"$ref":"#/a~2"}"##, "/$ref", "~"), (##"{"$ref":"#/x","x":5}"##, "/x", "a number"),
      (##"{"$ref":"#"}"##, "", "without end"),
      (##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##, "", "without end"),
      (##"{"anyOf":[{"not":{"$ref":"#"}}]}"##, "", "without end"),
      (##"{"if":true,"else":{"$ref":"#"}}"##, "", "without end"),
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

  @Test("has patterns close to ECMAScript")
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

  @Test("does not hang on a slow pattern, and does not invert the undecided result")
  func slowPattern() throws {
    let value = JSONValue.string(String(repeating: "a", count: 5_000) + "b")
    for schema: JSONValue in [
      ["pattern": "^(a+)+$"], ["not": ["pattern": "^(a+)+$"]], ["anyOf": [["pattern": "^(a+)+$"], true]],
      ["if": ["pattern": "^(a+)+$"], "then": true, "else": true],
    ] {
      let violations = try JSONSchema(schema).check(value)
      #expect(
        violations.first?.keyword == "pattern" && violations.first?.reason.contains("too long") == true,
        "\(violations)")
    }
    #expect(throws: JSONError.self) {
      try JSONSchema(["pattern": .string(String(repeating: "(", count: 100_000))])
    }
  }

  @Test("names the package when PCRE2 is missing")
  func missingLibrary() {
    var message = [CChar](repeating: 0, count: 256)
    #expect(!cpattern_can_load("libnothing-of-this-name.so", &message, message.count))
    let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(text.contains("libpcre2-8-0"))
    // A library that exists, but is not PCRE2.
    #expect(!cpattern_can_load("libc.so.6", &message, message.count))
    #expect(cpattern_load(&message, message.count))
  }

  @Test("returns at most 100 violations")
  func manyViolations() throws {
    let schema = try JSONSchema(["items": ["type": "string"]])
    #expect(schema.check(.array((0..<1_000).map { .int($0) })).count == 100)
    #expect(schema.check(.array((0..<99).map { .int($0) })).count == 99)
  }

  @Test("accepts the work of a large document")
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
    // Ten times as many elements: pairwise comparison would take a hundred times as long.
    #expect(long < short * 40)
    elements.append(["n": [0.5], "id": 40_000.0])
    #expect(schema.check(.array(elements)).first?.reason == "the elements 40000 and 50000 are equal")
  }

  @Test("follows recursion to the maximum depth of a document, also on a small stack")
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
    let result = SharedResult()
    let (fitting, other) = (value, wrong)
    let thread = Thread { result.set(schema.check(fitting), schema.check(other)) }
    thread.stackSize = 512 << 10
    thread.start()
    let (one, two) = result.wait()
    #expect(one.isEmpty)
    #expect(two.first?.pointer == String(repeating: "/a", count: 512))
  }

  @Test("ends with a violation on schemas that multiply the work, or nest without end")
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

  @Test("schemas that multiply the work by oneOf and not are refused as soon as those by allOf")
  func branches() throws {
    func seconds(_ level: (JSONValue) -> JSONValue) throws -> Duration {
      var definitions: JSONObject = ["l24": ["type": "object"]]
      for number in 0..<24 {
        definitions["l\(number)"] = level(["$ref": .string("#/$defs/l\(number + 1)")])
      }
      let schema = try JSONSchema(["$ref": "#/$defs/l0", "$defs": .object(definitions)])
      return ContinuousClock().measure {
        #expect(schema.check(["a": 1]).first?.reason.contains("too often") == true)
      }
    }
    let all = try seconds { ["allOf": [$0, $0]] }
    // A thread for each crossing of the caller's stack took 40 times as long.
    #expect(try seconds { ["oneOf": [$0, ["not": $0]]] } < all * 10)
    #expect(try seconds { ["anyOf": [["not": $0], $0]] } < all * 10)
  }
}

/// A result from another thread.
private final class SharedResult: @unchecked Sendable {
  // Unchecked: written before the signal and read after it.
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
