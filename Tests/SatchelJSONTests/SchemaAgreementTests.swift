import SatchelJSON
import Testing

/// Compares with another implementation: Tests/Fixtures/schema.py writes the fixture with many schemas and
/// values.
@Suite("JSON Schema agrees with another implementation")
struct SchemaAgreementTests {
  @Test("on every schema and value of the fixture")
  func verdicts() throws {
    let fixture = try JSONFixture.read("schema.json")
    let values = try #require(fixture["values"]?.arrayValue)
    let cases = try #require(fixture["cases"]?.arrayValue)
    var (fitting, others) = (0, 0)
    for example in cases {
      let schema = try #require(example["schema"])
      let verdicts = try #require(example["verdicts"]?.stringValue)
      try #require(verdicts.utf8.count == values.count)
      let compiled: JSONSchema
      do {
        compiled = try JSONSchema(schema)
      } catch {
        Issue.record("\(try schema.text): \(error)")
        continue
      }
      for (value, verdict) in zip(values, verdicts.utf8) {
        let violations = compiled.check(value)
        let isWanted = verdict == UInt8(ascii: "1")
        let message = try "\(schema.text) \(value.text): \(violations)"
        #expect(violations.isEmpty == isWanted, "\(message)")
        if isWanted { fitting += 1 } else { others += 1 }
        for violation in violations {
          // Each pointer refers to an existing value.
          let location = try JSONPath(pointer: violation.pointer)
          let reached = try value.value(at: location)
          #expect(location.components.isEmpty || reached != nil, "\(message)")
          #expect(!violation.keyword.isEmpty && !violation.reason.isEmpty)
        }
      }
    }
    #expect(fitting > 5_000 && others > 5_000, "\(fitting) \(others)")
  }

  @Test("on invalid schemas")
  func refused() throws {
    let refused = try #require(try JSONFixture.read("schema.json")["refused"]?.arrayValue)
    #expect(refused.count > 50)
    for schema in refused {
      let message = try schema.text
      let error = #expect(throws: JSONError.self, "\(message)") { try JSONSchema(schema) }
      #expect(error?.pointer != nil, "\(message)")
    }
  }
}
