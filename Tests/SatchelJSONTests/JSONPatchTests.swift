import SatchelJSON
import Testing

@Suite("Merge Patch and JSON Patch")
struct JSONPatchTests {
  @Test(
    "Merge Patch has the results of RFC 7396",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
      (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      (#"{"a":"foo"}"#, #"null"#, #"null"#),
      (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
      (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
  func mergePatch(target: String, patch: String, result: String) throws {
    let patched = try JSONValue(parsing: target).mergePatched(by: JSONValue(parsing: patch))
    #expect(try patched.text == result)
  }

  @Test("a Merge Patch removes thousands of members in one pass")
  func mergePatchLarge() throws {
    let target = JSONObject((0..<50_000).map { ("k\($0)", JSONValue.int(Int64($0))) })
    let patch = JSONObject((0..<50_000).filter { $0 % 10 > 0 }.map { ("k\($0)", JSONValue.null) })
    let patched = try JSONValue.object(target).mergePatched(by: .object(patch))
    #expect(patched.objectValue?.count == 5_000)
    #expect(patched["k49990"] == 49_990)
  }

  @Test(
    "JSON Patch has the results of RFC 6902",
    arguments: [
      (
        #"{"town":"Pisa"}"#, #"[{"op":"add","path":"/river","value":"Arno"}]"#,
        #"{"town":"Pisa","river":"Arno"}"#
      ),
      (#"{"l":["a","c"]}"#, #"[{"op":"add","path":"/l/1","value":"b"}]"#, #"{"l":["a","b","c"]}"#),
      (#"{"l":["a"]}"#, #"[{"op":"add","path":"/l/1","value":["x"]}]"#, #"{"l":["a",["x"]]}"#),
      (#"{"l":["a"]}"#, #"[{"op":"add","path":"/l/-","value":{"y":1}}]"#, #"{"l":["a",{"y":1}]}"#),
      (#"{"a":1}"#, #"[{"op":"add","path":"/a","value":null}]"#, #"{"a":null}"#),
      (#"{"a":1}"#, #"[{"op":"add","path":"","value":[2]}]"#, "[2]"),
      (#"{"a":1,"b":2}"#, #"[{"op":"remove","path":"/a"}]"#, #"{"b":2}"#),
      (#"{"l":[1,2,3]}"#, #"[{"op":"remove","path":"/l/1"}]"#, #"{"l":[1,3]}"#),
      (#"{"a":null}"#, #"[{"op":"remove","path":"/a"}]"#, "{}"),
      (#"{"a":1,"b":2}"#, #"[{"op":"replace","path":"/a","value":"x"}]"#, #"{"a":"x","b":2}"#),
      (#"{"a":1}"#, #"[{"op":"replace","path":"","value":7}]"#, "7"),
      (
        #"{"from":{"x":1,"y":2},"to":{}}"#, #"[{"op":"move","from":"/from/x","path":"/to/z"}]"#,
        #"{"from":{"y":2},"to":{"z":1}}"#
      ),
      (
        #"{"l":["eat","all","wood","grass"]}"#, #"[{"op":"move","from":"/l/1","path":"/l/3"}]"#,
        #"{"l":["eat","wood","grass","all"]}"#
      ),
      (#"{"a":1}"#, #"[{"op":"move","from":"/a","path":"/a"}]"#, #"{"a":1}"#),
      (
        #"{"a":[1]}"#, #"[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]"#,
        #"{"a":[1],"b":[1,2]}"#
      ),
      (#"{"a":[1,{"b":2}]}"#, #"[{"op":"test","path":"/a/1","value":{"b":2}}]"#, #"{"a":[1,{"b":2}]}"#),
      (#"{"a":1,"b":[2.0]}"#, #"[{"op":"test","path":"","value":{"b":[2],"a":1.0}}]"#, #"{"a":1,"b":[2.0]}"#),
      (
        #"{"/":9,"~1":10}"#,
        #"[{"op":"test","path":"/~01","value":10},{"op":"test","path":"/~1","value":9}]"#,
        #"{"/":9,"~1":10}"#
      ),
      (#"{"a":1}"#, #"[{"op":"add","path":"/b","value":1,"note":"ignored"}]"#, #"{"a":1,"b":1}"#),
      (#"{"a":1}"#, "[]", #"{"a":1}"#),
    ])
  func patch(target: String, patch: String, result: String) throws {
    let patched = try JSONPatch(json: JSONValue(parsing: patch)).apply(to: JSONValue(parsing: target))
    #expect(try patched.text == result)
  }

  @Test(
    "an operation that cannot be applied is reported with its index and pointer",
    arguments: [
      (#"[{"op":"add","path":"/x/y","value":1}]"#, "operation 0 (add)", "/x"),
      (#"[{"op":"add","path":"/a","value":2},{"op":"remove","path":"/x"}]"#, "operation 1 (remove)", "/x"),
      (#"[{"op":"replace","path":"/x","value":1}]"#, "operation 0 (replace)", "/x"),
      (#"[{"op":"add","path":"/l/2","value":1}]"#, "operation 0 (add)", "/l/2"),
      (#"[{"op":"add","path":"/l/01","value":1}]"#, "operation 0 (add)", "/l/01"),
      (#"[{"op":"remove","path":"/l/-"}]"#, "operation 0 (remove)", "/l/-"),
      (#"[{"op":"remove","path":"/l/1"}]"#, "operation 0 (remove)", "/l/1"),
      (#"[{"op":"add","path":"/a/b","value":1}]"#, "operation 0 (add)", "/a"),
      (#"[{"op":"add","path":"/n/b","value":1}]"#, "operation 0 (add)", "/n"),
      (#"[{"op":"move","from":"/o","path":"/o/p"}]"#, "operation 0 (move)", "/o/p"),
      (#"[{"op":"move","from":"/x","path":"/y"}]"#, "operation 0 (move)", "/x"),
      (#"[{"op":"copy","from":"/x","path":"/y"}]"#, "operation 0 (copy)", "/x"),
      (#"[{"op":"test","path":"/a","value":"1"}]"#, "operation 0 (test)", "/a"),
      (#"[{"op":"test","path":"/x","value":null}]"#, "operation 0 (test)", "/x"),
    ])
  func failure(patch: String, name: String, pointer: String) throws {
    let target: JSONValue = ["a": 1, "l": [0], "n": .null, "o": [:]]
    let patch = try JSONPatch(json: JSONValue(parsing: patch))
    let error = try #require(throws: JSONError.self) { try patch.apply(to: target) }
    #expect(error.reason.hasPrefix(name))
    #expect(error.pointer == pointer)
  }

  @Test(
    "a malformed patch is an error before any operation is applied",
    arguments: [
      "{}", "null", "[1]", #"[{"path":"/a"}]"#, #"[{"op":"add","path":"/a"}]"#, #"[{"op":"remove"}]"#,
      #"[{"op":"remove","path":"a"}]"#, #"[{"op":"remove","path":7}]"#, #"[{"op":"explode","path":"/a"}]"#,
      #"[{"op":"move","path":"/a"}]"#, #"[{"op":"remove","path":"/~"}]"#, #"[{"op":1,"path":"/a"}]"#,
    ])
  func malformed(patch: String) throws {
    let error = try #require(throws: JSONError.self) { try JSONPatch(json: JSONValue(parsing: patch)) }
    #expect(error.pointer != nil)
  }

  @Test("a patch that repeatedly copies the whole value into itself is stopped")
  func bomb() throws {
    let text = JSONValue.string(String(repeating: "x", count: 1000))
    var doubling: [JSONValue] = []
    for number in 0..<100 {
      doubling.append(["op": "copy", "from": "/0", "path": "/0/k\(number)"])
    }
    let patch = try JSONPatch(json: .array(doubling))
    #expect(throws: JSONError.self) { try patch.apply(to: [["t": text]]) }

    let nesting: [JSONValue] = Array(repeating: ["op": "copy", "from": "", "path": "/a"], count: 600)
    #expect(throws: JSONError.self) { try JSONPatch(json: .array(nesting)).apply(to: [:]) }
  }

  @Test("moving never nests deeper than 512 levels")
  func moveDepth() throws {
    var operations: [JSONValue] = [["op": "add", "path": "/0", "value": [:]]]
    for number in 1...600 {
      operations.append(["op": "add", "path": "/\(number)", "value": [:]])
      operations.append(["op": "move", "from": "/\(number - 1)", "path": "/\(number)/x"])
    }
    #expect(throws: JSONError.self) { try JSONPatch(json: .array(operations)).apply(to: [:]) }
    let fits = try JSONPatch(json: .array(Array(operations.prefix(1001)))).apply(to: [:])
    #expect(fits.depth == 502)
  }

  @Test("a change inside a large object does not copy the object", .timeLimit(.minutes(20)))
  func inPlace() throws {
    let count = 50_000
    let target = JSONObject((0..<count).map { ("k\($0)", ["tags": []] as JSONValue) })
    let operations: [JSONValue] = (0..<count).map {
      ["op": "add", "path": "/k\($0)/tags/-", "value": .int(Int64($0))]
    }
    let patched = try JSONPatch(json: .array(operations)).apply(to: .object(target))
    #expect(try patched.value(at: "/k49999/tags") == [49_999])
    #expect(target["k49999"] == ["tags": []])
  }
}
