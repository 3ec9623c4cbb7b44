import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelState

@Suite("Values of state")
struct StateValueTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  static let values: [JSONValue] = [
    .null, true, false, 0, .int(.min), .int(.max), 1.0, 0.1, -0.0, 1e300, "", "e\u{301}", "é", [],
    [1, [2, [.null]]],
    ["a": ["b": 1.5], "": [], "ключ": "\u{0}"], .object([:]),
  ]

  @Test("values of Swift types are read as they were set") func typed() throws {
    struct Screen: Codable, Equatable {
      var tab: String
      var path: [String] = []
    }
    let state = try fixture.open().state
    try state.set("screen", Screen(tab: "courses", path: ["algebra"]))
    #expect(try state.get("screen", as: Screen.self) == Screen(tab: "courses", path: ["algebra"]))
    #expect(try state.get("screen") == ["tab": "courses", "path": ["algebra"]])
    #expect(try state.get("none", as: Screen.self) == nil)
    try state.set("screen", ["tab": 7])
    let error = #expect(throws: SatchelError.self) { try state.get("screen", as: Screen.self) }
    #expect(error?.code == .invalid && error?.message.hasPrefix("state/screen: ") == true)
    #expect(throws: SatchelError.self) { try state.set("size", Double.nan) }
  }

  @Test(
    "any JSON value is returned unchanged, before and after it is saved, and by another handle",
    arguments: values)
  func comesBack(value: JSONValue) throws {
    let first = try fixture.open()
    try first.state.set("k", value)
    #expect(try first.state.get("k") == value)
    #expect(try first.state.flush())
    #expect(try first.state.get("k") == value)
    #expect(try fixture.open().state.get("k") == value)
    try first.state.remove("k")
    #expect(try first.state.get("k") == nil)
    try first.database.close()
    #expect(try fixture.open().state.get("k") == nil)
  }

  @Test(
    "keys are 1 to 255 bytes without NUL, and compared by bytes; others are rejected",
    arguments: ["", String(repeating: "é", count: 128), "a\u{0}b"])
  func badKeys(key: String) throws {
    let state = try fixture.open().state
    #expect(try stateCode { try state.set(key, 1) } == .invalid)
    #expect(try stateCode { _ = try state.get(key) } == .invalid)
    #expect(try stateCode { try state.remove(key) } == .invalid)
    #expect(try stateCode { _ = try state.list(key) } == .invalid)
    #expect(try stateCode { _ = try state.set(named: key) } == .invalid)
    #expect(try stateCode { _ = try state.scores(key) } == .invalid)
    #expect(try stateCode { try state.scores("s").add(key, 1) } == .invalid)
  }

  @Test("names of story libraries are reserved: hosts neither use nor see them")
  func reserved() throws {
    let store = try fixture.open()
    let tales = ReservedState(store.state, collection: "tales")
    try tales.set("position", of: "well", to: 1)
    try tales.list("visited", of: "well").push("rim")
    for isSaved in [false, true] {
      if isSaved { try store.state.flush() }
      for name in ["@stories/", "@stories/tales/position/well"] {
        let calls: [() throws -> Void] = [
          { try store.state.set(name, 1) }, { try store.state.set(name, 1, synced: false) },
          { try store.state.setSynced(name, false) }, { _ = try store.state.get(name) },
          { try store.state.remove(name) }, { _ = try store.state.list(name) },
          { _ = try store.state.set(named: name) }, { _ = try store.state.scores(name) },
          { try store.state.setSensitive(.list, name) }, { try store.state.clear(.list, name) },
          { try store.state.declare(StateDeclaration(defaults: [name: 1])) },
        ]
        for call in calls { #expect(try stateCode(of: call) == .invalid) }
      }
      #expect(try store.state.keys() == [] && store.state.keys(prefix: "@stories/") == [])
      #expect(try tales.value("position", of: "well")?.value == 1)
      #expect(try tales.values("position")["well"] == 1 && tales.values("position")["rim"] == nil)
    }
    try store.state.set("@stories", 1)
    try store.state.scores("tales").add("@stories/x", 1)
    #expect(try store.state.keys() == ["@stories"])
  }

  @Test("two Unicode encodings of a letter are two keys, in memory and in the file")
  func encodings() throws {
    let store = try fixture.open()
    for isSaved in [false, true] {
      try store.state.set("é", 1)
      try store.state.set("e\u{301}", 2)
      if isSaved { try store.state.flush() }
      #expect(try store.state.get("é") == 1)
      #expect(try store.state.get("e\u{301}") == 2)
      #expect(try store.state.keys().map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("é".utf8)])
    }
  }

  @Test("keys are listed by prefix and in byte order, pending ones with saved ones")
  func keys() throws {
    let store = try fixture.open()
    let longest = String(repeating: "x", count: 255)
    for key in ["b", "a/2", "a/10", "a", "A", "ä", "a/\u{10FFFF}", longest] { try store.state.set(key, 1) }
    try store.state.flush()
    try store.state.remove("a/2")
    try store.state.set("a/1", 1)
    #expect(try store.state.keys() == ["A", "a", "a/1", "a/10", "a/\u{10FFFF}", "b", longest, "ä"])
    #expect(try store.state.keys(prefix: "a/") == ["a/1", "a/10", "a/\u{10FFFF}"])
    #expect(try store.state.keys(prefix: longest) == [longest])
    #expect(try store.state.keys(prefix: longest + "x") == [])
  }

  @Test("a value that is not JSON, too deep or too large is rejected, and nothing is changed")
  func badValues() throws {
    let state = try fixture.open().state
    try state.set("k", "kept")
    var deep = JSONValue.null
    for _ in 0..<513 { deep = [deep] }
    let large = JSONValue.string(String(repeating: "x", count: StateStore.maximumBytes))
    for value in [JSONValue.double(.nan), [.double(.infinity)], deep, large] {
      #expect(try stateCode { try state.set("k", value) } == .invalid)
      #expect(try stateCode { try state.list("l").push(value) } == .invalid)
      #expect(try stateCode { try state.set(named: "s").add(value) } == .invalid)
    }
    #expect(try state.get("k") == "kept")
    let full = JSONValue.string(String(repeating: "x", count: StateStore.maximumBytes - 2))
    try state.set("k", full)
    try state.flush()
    #expect(try state.get("k") == full)
  }

  @Test("a closed store throws; a read-only store can be read, and not written")
  func closed() throws {
    let store = try fixture.open()
    try store.state.set("k", 1)
    try store.database.close()
    let lookups: [() throws -> Void] = [
      { try store.state.set("k", 2) }, { _ = try store.state.get("k") }, { _ = try store.state.keys() },
      { try store.state.flush() }, { _ = try store.state.list("l").items() },
      { _ = try store.state.scores("s").all() }, { _ = try store.state.set(named: "s").values() },
      { try store.state.setKey(StateFixture.key) },
    ]
    for lookup in lookups { #expect(try stateCode(of: lookup) == .closed) }
    let reader = try fixture.open { $0.isReadOnly = true }
    #expect(try reader.state.get("k") == 1)
    #expect(try stateCode { try reader.state.set("k", 2) } == .readOnly)
    #expect(try stateCode { try reader.state.scores("s").add("k", 1) } == .readOnly)
    #expect(try reader.state.flush())
  }

  @Test("a store without state gets its tables with the first save")
  func noTables() throws {
    let store = try fixture.open()
    #expect(try store.state.get("k") == nil)
    #expect(try store.state.keys() == [])
    #expect(try store.state.list("l").items() == [])
    #expect(try store.database.has(RecordSchema.subject) == false)
    try store.state.set("k", 1)
    #expect(try store.database.has(RecordSchema.subject) == false)
    try store.state.flush()
    #expect(try store.database.has(RecordSchema.subject))
  }

  @Test("state in memory works as in a file, also inside a transaction")
  func memory() throws {
    let store = try fixture.open(":memory:", StateFixture.quickly)
    try store.database.write { _ in
      try store.state.set("k", 1)
      #expect(try store.state.get("k") == 1)
      #expect(try store.state.scores("s").add("k", 0.5) == 0.5)
      #expect(try stateCode { try store.state.flush() } == .invalid)
    }
    try store.state.flush()
    #expect(try store.state.get("k") == 1)
    #expect(try store.state.scores("s").all().map(\.value) == [0.5])
    #expect(!store.outbox.isSpooled)
  }
}
