import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelState

@Suite("State while the store cannot be written")
struct StateOutboxTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private func change(_ state: StateStore, _ round: Int64) throws {
    try state.set("n", .int(round))
    if round % 2 == 0 { try state.remove("odd") } else { try state.set("odd", .double(Double(round) + 0.5)) }
    try state.set("token", .int(round), sensitive: true)
    try state.list("l", limit: 3, maxAge: 1_000_000, isUnique: true).push(.int(round % 4))
    if round % 3 == 0 { try state.list("l").remove(1) }
    if round == 4 { try state.list("l").clear() }
    try state.set(named: "m").add(["round": .int(round % 3)])
    if round % 2 == 0 { try state.set(named: "m").remove(["round": 1]) }
    try state.scores("s").add("k", 0.75)
    try state.scores("s").add("k", -0.5)
    if round == 2 { try state.scores("s").remove("k") }
  }

  /// Everything that can be read.
  private func picture(_ state: StateStore) throws -> JSONValue {
    [
      "keys": .array(try state.keys().map { .string($0) }), "n": try state.get("n") ?? "none",
      "odd": try state.get("odd") ?? "none", "token": try state.get("token") ?? "none",
      "l": .array(try state.list("l").items().map { [$0.value, .int($0.time)] }),
      "m": .array(try state.set(named: "m").values()),
      "s": .array(try state.scores("s").all().map { [.string($0.key), .double($0.value)] }),
    ]
  }

  @Test(
    "reads of this and later handles see spooled changes, which are drained once and in order",
    arguments: 1...6)
  func spooled(rounds: Int) throws {
    let untroubled = try fixture.open(fixture.path + ".other")
    let store = try fixture.open()
    for state in [untroubled.state, store.state] {
      try state.setKey(StateFixture.key)
      try state.set("saved before", 1)
      try state.flush()
    }
    let blocker = try fixture.block()
    for round in 1...Int64(rounds) {
      for state in [untroubled.state, store.state] { try change(state, round) }
      #expect(try untroubled.state.flush())
      #expect(try store.state.flush() == false)
      fixture.pass(milliseconds: 10)
    }
    let expected = try picture(untroubled.state)
    #expect(try picture(store.state) == expected)
    // A later handle, as after a kill: spooled changes count although the store cannot be written yet.
    let later = try fixture.open()
    try later.state.setKey(StateFixture.key)
    #expect(try picture(later.state) == expected)
    try later.state.scores("s").add("later", 0.125)
    #expect(try later.state.flush() == false)
    try blocker.rollback()
    #expect(try store.state.flush())
    #expect(!fixture.isSpooled)
    #expect(try later.state.scores("s").value("later") == 0.125)
    try untroubled.state.scores("s").add("later", 0.125)
    let end = try picture(untroubled.state)
    for state in [store.state, later.state] {
      #expect(try picture(state) == end)
      try state.flush()
      #expect(try picture(state) == end)
    }
    try store.database.close()
    try later.database.close()
    let last = try fixture.open()
    try last.state.setKey(StateFixture.key)
    #expect(try picture(last.state) == end)
    #expect(try last.outbox.rejected(in: last.database).isEmpty)
  }

  @Test("closing on a full disk spools all changes, and the next opening drains them")
  func fullAtClosing() throws {
    let store = try fixture.open()
    try store.state.set("k", 1)
    try store.state.flush()
    try store.database.maintain { try $0.execute("PRAGMA max_page_count = 8") }
    let long = JSONValue.string(String(repeating: "x", count: 100_000))
    try store.state.set("long", long)
    try store.state.scores("s").add("k", 0.5)
    #expect(try store.state.flush() == false)
    try store.state.scores("s").add("k", 0.25)
    try store.database.close()
    #expect(fixture.isSpooled)
    let later = try fixture.open()
    #expect(!fixture.isSpooled)
    #expect(try later.state.get("long") == long)
    #expect(try later.state.scores("s").value("k") == 0.75)
  }

  @Test(
    "timed saves spool to the outbox file as well, and report it; the first successful save removes the file")
  func autosave() throws {
    let store = try fixture.open(nil, StateFixture.quickly)
    let observed = StateObserved()
    let subscription = try store.database.observe { observed.add($0) }
    let blocker = try fixture.block()
    try store.state.set("k", 1)
    #expect(stateWaits { observed.keys == ["@spooled"] })
    try blocker.rollback()
    try store.state.set("l", 2)
    #expect(stateWaits { observed.keys.contains("value/l") })
    #expect(observed.keys == ["@spooled", "value/k", "@drained", "value/l"])
    #expect(!fixture.isSpooled)
    subscription.cancel()
  }

  @Test("flush and close throw when neither file can be written; the changes stay in memory and are retried")
  func neither() throws {
    let store = try fixture.open(nil, StateFixture.quickly)
    let observed = StateObserved()
    let subscription = try store.database.observe { observed.add($0) }
    // A directory at the path of the outbox file.
    try FileManager.default.createDirectory(atPath: fixture.outboxPath, withIntermediateDirectories: false)
    let blocker = try fixture.block()
    try store.state.set("k", 1)
    #expect(stateWaits { observed.keys.contains("@unsaved") })
    #expect(try store.state.get("k") == 1)
    let error = try #require(throws: SatchelError.self) { try store.state.flush() }
    #expect(error.code == .busy && error.message.contains("outbox file"))
    try store.state.scores("s").add("k", 0.5)
    try blocker.rollback()
    // It never was an outbox file, so it does not prevent saving.
    #expect(try store.state.flush())
    #expect(try store.state.scores("s").value("k") == 0.5)
    #expect(try fixture.open().state.get("k") == 1)
    let another = try fixture.block()
    try store.state.set("k", 2)
    #expect(try stateCode { try store.database.close() } == .busy)
    #expect(store.database.isClosed)
    try another.rollback()
    subscription.cancel()
  }

  @Test("an entry whose commit succeeded but reported a failure is not applied again")
  func appearance() throws {
    let store = try fixture.open()
    try store.state.scores("s").add("k", 0.25)
    try store.state.list("l").push("x")
    let blocker = try fixture.block()
    #expect(try store.state.flush() == false)
    try blocker.rollback()
    // The same entry, as it would be spooled if the commit had succeeded.
    let bytes = try Data(contentsOf: URL(filePath: fixture.outboxPath))
    try store.state.flush()
    try bytes.write(to: URL(filePath: fixture.outboxPath))
    try store.database.write { try $0.connection.execute("DELETE FROM outbox_applied") }
    try store.state.flush()
    #expect(try store.state.scores("s").value("k") == 0.25)
    #expect(try store.state.list("l").items().count == 1)
  }

  static let entries: [JSONValue] = [
    1, [:], ["writer": 1], ["writer": 1, "operations": [1]],
    ["writer": 1, "operations": [["id": "value/k", "time": 1, "number": 1]]],
    ["writer": 1, "operations": [["id": "value/", "time": 1, "number": 1, "set": 1]]],
    ["writer": 1, "operations": [["id": "value/k", "time": 1, "set": 1]]],
    ["writer": 1, "operations": [["id": "set/m", "time": 1, "number": 1, "set": 1]]],
    ["writer": 1, "operations": [["id": "list/l", "time": 1, "number": 1, "set": 1]]],
    [
      "writer": 1,
      "operations": [["id": "scores/s", "key": "k", "time": 1, "number": 1, "add": ["delta": 1]]],
    ],
    [
      "writer": 1,
      "operations": [
        [
          "id": "scores/s", "key": "k", "time": 1, "number": 1,
          "add": ["delta": 1, "minimum": 2, "maximum": 1],
        ]
      ],
    ],
    ["writer": 1, "operations": [["id": "list/l", "time": 1, "number": 1, "drop": "0"]]],
    [
      "writer": 1,
      "operations": [["id": "list/l", "time": 1, "number": 1, "push": ["value": 1, "limit": 0]]],
    ],
    ["writer": 1, "operations": [["id": "list/l", "time": 1, "number": 1, "unheard": 1]]],
  ]

  @Test("invalid entries are rejected and kept", arguments: entries)
  func strange(entry: JSONValue) throws {
    let store = try fixture.open()
    let whole: JSONValue = ["state": entry]
    try OutboxFile(store: fixture.path).append(whole.serialized())
    #expect(try store.state.flush())
    #expect(try store.outbox.rejected(in: store.database).count == 1)
    #expect(try store.state.keys() == [])
  }
}
