import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@Suite("JSON values")
struct JSONValueTests {
  @Test("1 and 1.0 differ, the order of keys is ignored")
  func equality() {
    #expect(JSONValue.int(1) != .double(1))
    #expect(JSONValue.null != .bool(false))
    #expect(["a": 1, "b": [2]] as JSONValue == ["b": [2], "a": 1])
    #expect(["a": 1, "b": 2] as JSONValue != ["a": 1, "c": 2])
    #expect([1, 2] as JSONValue != [2, 1])
    #expect([1, 2] as JSONValue != [1])
  }

  @Test("strings and keys are compared by their bytes, not by Unicode equivalence")
  func bytes() throws {
    #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    let value = try JSONValue(parsing: #"{"\u00e9": 1, "e\u0301": 2}"#)
    #expect(value["\u{E9}"] == 1)
    #expect(value["e\u{301}"] == 2)
    #expect(value.objectValue?.count == 2)
  }

  @Test("comparing values deeper than the limit does not overflow the stack")
  func deepEquality() {
    var left: JSONValue = 1
    var right: JSONValue = 1
    for _ in 0..<2000 {
      left = [left]
      right = [right]
    }
    #expect(left == right)
    #expect(left.depth == 2000)
    #expect(throws: JSONError.self) { try left.serialized() }
  }

  @Test("an object keeps its order, small or large", arguments: [3, 16, 17, 18, 200])
  func order(count: Int) {
    var object = JSONObject()
    for number in 0..<count { object["k\(number)"] = .int(Int64(number)) }
    object["k1"] = "changed"
    #expect(object.keys == (0..<count).map { "k\($0)" })
    #expect(object["k1"] == "changed")
    #expect(object["absent"] == nil)

    object["k0"] = nil
    #expect(object.removeValue(forKey: "k0") == nil)
    #expect(object.removeValue(forKey: "k1") == "changed")
    object["k0"] = "again"
    #expect(object.keys == (2..<count).map { "k\($0)" } + ["k0"])
    for number in 2..<count { #expect(object["k\(number)"] == .int(Int64(number))) }

    object.removeAll { key, _ in key.hasSuffix("2") }
    #expect(object["k2"] == nil)
    #expect(object["k0"] == "again")
    #expect(object.map(\.key) == object.keys)
  }

  @Test("an object behaves like a list of members")
  func model() {
    var generator = SeededRandom(seed: 4)
    var object = JSONObject()
    var model: [(key: String, value: JSONValue)] = []
    for step in 0..<20_000 {
      // Grows beyond the index threshold, and shrinks below it again.
      let growing = step / 200 % 2 == 0
      let key = "k\(Int.random(in: 0..<60, using: &generator))"
      let position = model.firstIndex { $0.key == key }
      #expect(object[key] == position.map { model[$0].value })
      if Int.random(in: 0..<10, using: &generator) < (growing ? 7 : 2) {
        let value = JSONValue.int(Int64(step))
        object[key] = value
        if let position { model[position].value = value } else { model.append((key, value)) }
      } else {
        object[key] = nil
        if let position { model.remove(at: position) }
      }
      #expect(object.count == model.count)
    }
    #expect(object.elementsEqual(model) { $0.key == $1.key && $0.value == $1.value })
  }

  @Test("a repeated key of a literal has its last value")
  func literal() {
    let value: JSONValue = ["a": 1, "b": .null, "a": 2.5]
    #expect(value["a"] == 2.5)
    #expect(value["b"] == .null)
    #expect(value["c"] == nil)
    #expect(value.objectValue?.keys == ["a", "b"])
  }

  @Test("values round-trip with Foundation's coders")
  func codable() throws {
    let value: JSONValue = [
      "null": .null, "truth": true, "int": -9_223_372_036_854_775_808, "double": 0.1, "text": "a\u{0}\"é",
      "list": [1, [], [:], "x"], "object": ["deep": [["deeper": false]]],
    ]
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    #expect(try data.withUnsafeBytes { try JSONValue(parsing: $0) } == value)
  }

  @Test("an integer beyond Int64 passes through Foundation's coders")
  func codableBeyond() throws {
    let data = Data("[18446744073709551615]".utf8)
    let value = try JSONDecoder().decode(JSONValue.self, from: data)
    #expect(value == [big("18446744073709551615")])
    #expect(try JSONEncoder().encode(value) == data)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([big("1e400")]) }
  }
}
