import SatchelJSON
import SatchelTesting
import Testing

@Suite("JSON edits and paths")
struct JSONEditTests {
  @Test(
    "every case of the vectors",
    arguments: try JSONFixture.read("vectors/edits.json")["cases"]?.arrayValue ?? [])
  func vector(example: JSONValue) throws {
    let existing = try #require(example["existing"])
    let new = try #require(example["new"])
    let config = try #require(example["config"])
    if example["error"] == true {
      let error = try #require(throws: JSONError.self) {
        try JSONEdit(config: config).apply(to: existing, new: new)
      }
      #expect(error.pointer != nil)
    } else {
      let result = try JSONEdit(config: config).apply(to: existing, new: new)
      #expect(result == example["result"])
    }
  }

  @Test("the vectors exist")
  func vectorsExist() throws {
    #expect(try JSONFixture.read("vectors/edits.json")["cases"]?.arrayValue?.isEmpty == false)
  }

  @Test(
    "a path addresses a value, or none",
    arguments: [
      ("", ["a": ["b": [1, 2]], "x.y": 3, "n": .null]), ("a.b", [1, 2]), ("/a/b/1", 2), ("/a/b/2", nil),
      ("/a/b/-", nil), ("/x.y", 3), ("a.c", nil), ("a.c.d.e", nil), ("n", .some(.null)), ("n.x", nil),
      ("/n/x", nil),
      ("/a/b/9223372036854775807", nil),
    ] as [(String, JSONValue?)])
  func valueAt(path: String, expected: JSONValue?) throws {
    let value: JSONValue = ["a": ["b": [1, 2]], "x.y": 3, "n": .null]
    #expect(try value.value(at: path) == expected)
  }

  @Test(
    "a path through something without members is an error that names the component",
    arguments: [
      ("a.b.c", "/a"), ("s.t", "/s"), ("l.0", "/l"), ("/l/x", "/l/x"), ("/l/01", "/l/01"), ("/l/0/z", "/l/0"),
      ("/l/+1", "/l/+1"), ("/l/", "/l/"), ("/l/99999999999999999999", "/l/99999999999999999999"),
    ])
  func pathThrough(path: String, pointer: String) throws {
    let value: JSONValue = ["a": 1, "s": "text", "l": [1]]
    let error = try #require(throws: JSONError.self) { try value.value(at: path) }
    #expect(error.pointer == pointer)
    var changed = value
    #expect(throws: JSONError.self) { try changed.modify(at: path) { $0 = 1 } }
    #expect(changed == value)
  }

  @Test("a malformed path is an error", arguments: [".", "a..b", ".a", "a.", "/a~", "/a~2b", "/~"])
  func malformed(path: String) {
    #expect(throws: JSONError.self) { try JSONPath(path) }
  }

  @Test("a path has at most 512 components")
  func longPath() throws {
    let longest = Array(repeating: "a", count: 512).joined(separator: ".")
    var value: JSONValue = .null
    try value.modify(at: longest) { $0 = 1 }
    #expect(value.depth == 512)
    #expect(try value.value(at: longest) == 1)
    #expect(throws: JSONError.self) { try JSONPath(longest + ".a") }
  }

  @Test("pointers unescape, and paths print as pointers")
  func pointers() throws {
    let value: JSONValue = ["": ["a/b": 1, "m~n": 2, "~1": 3], "\u{301}x": 4]
    #expect(try value.value(at: "//a~1b") == 1)
    #expect(try value.value(at: "//m~0n") == 2)
    #expect(try value.value(at: "//~01") == 3)
    #expect(try value.value(at: "/\u{301}x") == 4)
    #expect(try JSONPath("a.b/c~d").pointer == "/a/b~1c~0d")
    #expect(try JSONPath("/a~1b").components == ["a/b"])
  }

  @Test("modifying creates missing objects, also in place of null")
  func modifyMakes() throws {
    var value: JSONValue = ["n": .null, "l": [["x": 1]]]
    try value.modify(at: "n.a.b") { $0 = 1 }
    try value.modify(at: "/l/0/x") { $0 = 2 }
    try value.modify(at: "/l/0/y/z") { $0 = 3 }
    #expect(value == ["n": ["a": ["b": 1]], "l": [["x": 2, "y": ["z": 3]]]])
  }

  @Test("modifying to nil removes, and creates nothing on the path")
  func modifyRemoves() throws {
    let original: JSONValue = ["a": ["b": 1, "c": 2], "l": [1, 2, 3]]
    var value = original
    try value.modify(at: "a.x.y") { $0 = nil }
    #expect(value == original)
    try value.modify(at: "a.b") { $0 = nil }
    try value.modify(at: "/l/1") { $0 = nil }
    #expect(value == ["a": ["c": 2], "l": [1, 3]])
    try value.modify(at: "") { $0 = nil }
    #expect(value == .null)
  }

  @Test("an error of the change leaves the value unchanged")
  func modifyThrows() throws {
    let original: JSONValue = ["a": [["b": 1]], "c": 2]
    for path in ["/a/0/b", "/a/0/new/er", "", "c"] {
      var value = original
      #expect(throws: JSONError.self) { try value.modify(at: path) { _ in throw JSONError("no") } }
      #expect(value == original)
    }
    var value = original
    #expect(throws: JSONError.self) { try value.modify(at: "/a/1/b") { $0 = 1 } }
    #expect(value == original)
  }

  @Test(
    "a config of the wrong type is an error that names the key",
    arguments: [
      (["operation": 1], "/operation"), (["operation": "Merge"], "/operation"),
      (["target_path": []], "/target_path"),
      (["target_path": "a..b"], "/target_path"), (["operation": "merge", "match": "x"], "/match"),
      (["operation": "remove"], "/match"), (["operation": "remove", "match": .null], "/match"), ("merge", ""),
      ([], ""),
    ] as [(JSONValue, String)])
  func badConfig(config: JSONValue, pointer: String) throws {
    let error = try #require(throws: JSONError.self) { try JSONEdit(config: config) }
    #expect(error.pointer == pointer)
  }

  @Test("unknown keys of a config are ignored")
  func extraConfig() throws {
    let edit = try JSONEdit(config: ["layout": "grid", "operation": .null, "target_path": "a"])
    #expect(edit.operation == .merge)
    #expect(try edit.apply(to: ["a": ["x": 1]], new: ["y": 2]) == ["a": ["x": 1, "y": 2]])
  }

  @Test("removing from a missing value changes nothing, from a value that is not an array is an error")
  func remove() throws {
    let edit = try JSONEdit(config: ["operation": "remove", "target_path": "a.b", "match": ["id": 1]])
    #expect(try edit.apply(to: ["a": [:]], new: .null) == ["a": [:]])
    #expect(try edit.apply(to: ["a": ["b": .null]], new: .null) == ["a": ["b": .null]])
    let error = try #require(throws: JSONError.self) { try edit.apply(to: ["a": ["b": [:]]], new: .null) }
    #expect(error.pointer == "/a/b")
  }

  @Test("edits do not create values of more than 512 levels", arguments: ["merge", "append", "merge_patch"])
  func depth(operation: String) throws {
    let deep = try JSONValue(parsing: String(repeating: "[", count: 511) + String(repeating: "]", count: 511))
    let fits = try JSONEdit(config: ["operation": .string(operation), "target_path": "a"])
    #expect(try fits.apply(to: [:], new: deep).depth == 512)
    let tooDeep = try JSONEdit(config: ["operation": .string(operation), "target_path": "a.b"])
    #expect(throws: JSONError.self) { try tooDeep.apply(to: [:], new: deep) }
  }

  @Test("merging a value with itself changes nothing, and the new one wins otherwise")
  func mergeProperties() throws {
    var generator = SeededRandom(seed: 3)
    for _ in 0..<300 {
      let value = JSONFixture.random(&generator, levels: 4)
      let other = JSONFixture.random(&generator, levels: 4)
      #expect(try value.merging(value) == value)
      #expect(try value.merging(other).merging(other) == value.merging(other))
      #expect(try value.mergePatched(by: other).mergePatched(by: other) == value.mergePatched(by: other))
    }
  }
}
