import SatchelJSON
import Testing

/// The required tests of draft 2020-12 of the JSON-Schema-Test-Suite.
@Suite("JSON Schema gives no wrong verdict")
struct SchemaSuiteTests {
  @Test("on the tests of the JSON-Schema-Test-Suite; schemas that it cannot judge are rejected by name")
  func verdicts() throws {
    let groups = try #require(try JSONFixture.read("schema-suite.json")["groups"]?.arrayValue)
    var verdicts = 0
    var rejected: Set<String> = []
    for group in groups {
      let schema = try #require(group["schema"])
      let tests = try #require(group["tests"]?.arrayValue)
      let name = "\(group["file"]?.stringValue ?? "") \(group["description"]?.stringValue ?? "")"
      let compiled: JSONSchema
      do {
        compiled = try JSONSchema(schema)
      } catch let error as JSONError {
        let isKnown = [
          "\"$dynamicRef\" is not supported", "\"$dynamicAnchor\" is not supported", "not fetched",
          "only draft 2020-12", "unknown property after \\P or \\p",
        ].contains { error.reason.contains($0) }
        #expect(isKnown, "\(name): \(error)")
        rejected.insert(group["file"]?.stringValue ?? "")
        continue
      }
      for test in tests {
        let value = try #require(test["data"])
        let violations = compiled.check(value)
        let message = try "\(name): \(value.text): \(violations)"
        #expect(violations.isEmpty == test["valid"]?.boolValue, "\(message)")
        verdicts += 1
      }
    }
    #expect(verdicts >= 1_200)
    let expected: Set = [
      // PCRE2 knows the short names of Unicode's properties, \p{L}, and not \p{Letter}.
      "pattern", "patternProperties",
      "defs", "dynamicRef", "ref", "refRemote", "unevaluatedItems", "unevaluatedProperties", "vocabulary",
    ]
    #expect(rejected == expected)
  }
}
