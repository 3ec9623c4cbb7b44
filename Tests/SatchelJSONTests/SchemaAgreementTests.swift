import SatchelJSON
import Testing

/// Another implementation's word on many schemas and values: Tests/Fixtures/schema.py makes the file.
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
        let told = try "\(schema.text) \(value.text): \(violations)"
        #expect(violations.isEmpty == isWanted, "\(told)")
        if isWanted { fitting += 1 } else { others += 1 }
        for violation in violations {
          // Each names a place that is there.
          let place = try JSONPath(pointer: violation.pointer)
          let reached = try value.value(at: place)
          #expect(place.components.isEmpty || reached != nil, "\(told)")
          #expect(!violation.keyword.isEmpty && !violation.reason.isEmpty)
        }
      }
    }
    #expect(fitting > 5_000 && others > 5_000, "\(fitting) \(others)")
  }

  @Test("on what is no schema")
  func refused() throws {
    let refused = try #require(try JSONFixture.read("schema.json")["refused"]?.arrayValue)
    #expect(refused.count > 50)
    for schema in refused {
      let told = try schema.text
      let error = #expect(throws: JSONError.self, "\(told)") { try JSONSchema(schema) }
      #expect(error?.pointer != nil, "\(told)")
    }
  }
}
