import Foundation
import SatchelJSON
import Testing

@Suite("Values with a JSON form")
struct JSONConvertibleTests {
  /// A value whose JSON form has a member of each kind.
  private struct Sample: JSONCodable, Equatable {
    var name: String
    var value: JSONValue

    init(_ name: String, _ value: JSONValue) { (self.name, self.value) = (name, value) }

    init(json: JSONValue) throws {
      guard let name = json["name"]?.stringValue else {
        throw JSONError("must be a string", pointer: "/name")
      }
      self.init(name, json["value"] ?? .null)
    }

    var json: JSONValue { ["name": .string(name), "value": value] }
  }

  private struct Failing: JSONCodable {
    struct Reason: Error, CustomStringConvertible { let description = "the reason" }

    init(json: JSONValue) throws { throw Reason() }
    var json: JSONValue { get throws { throw Reason() } }
  }

  @Test("a value prints as compact JSON; one without a JSON form as its type and the reason")
  func description() {
    #expect("\(Sample("a\n", [1, 1.0]))" == #"{"name":"a\n","value":[1,1.0]}"#)
    let failure = "\(Sample("a", ["b": .double(.nan)]))"
    #expect(failure.hasPrefix("Sample: ") && failure.contains("/value/b") && failure.contains("nan"))
    #expect("\(JSONValue.array([.null, "x"]))" == #"[null,"x"]"#)
  }

  @Test("a value is encoded as its JSON form, and 1.0 stays a double")
  func coding() throws {
    let sample = Sample("a", ["whole": 1, "double": 1.0, "none": .null, "list": [true, "x"]])
    let json = try JSONValue(encoding: ["sample": sample])
    #expect(json == ["sample": sample.json])
    #expect(try json.decode(as: [String: Sample].self) == ["sample": sample])
  }

  @Test("Foundation's coders take values as well")
  func foundation() throws {
    let sample = Sample("é", ["a": [1, 2.5, "x", false], "b": .null])
    let bytes = try JSONEncoder().encode([sample])
    #expect(try JSONDecoder().decode([Sample].self, from: bytes) == [sample])
    #expect(try JSONValue(parsing: Array(bytes)) == [sample.json])
  }

  @Test("a decoding error names the JSON Pointer of the error")
  func errors() throws {
    let json: JSONValue = ["list": [["name": "a"], ["name": 1]]]
    let error = try #require(throws: DecodingError.self) { try json.decode(as: [String: [Sample]].self) }
    #expect(JSONError(error) == JSONError("must be a string", pointer: "/list/1/name"))
    let bytes = try json.serialized()
    let theirs = try #require(throws: DecodingError.self) {
      try JSONDecoder().decode([String: [Sample]].self, from: Data(bytes))
    }
    guard case .dataCorrupted(let context) = theirs else {
      Issue.record("\(theirs)")
      return
    }
    #expect(context.codingPath.map(\.stringValue).first == "list")
    #expect(context.codingPath.map(\.stringValue).last == "name")
    let other = try #require(throws: DecodingError.self) { try JSONValue.null.decode(as: Failing.self) }
    #expect(JSONError(other).reason == "the reason")
  }
}
