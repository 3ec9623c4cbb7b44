import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelState

@Suite("Marks of synchronized state")
struct StateMarkTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private func marks(_ store: StateFixture.Opened) throws -> [String: StateMark] {
    try store.state.read([]) { reader, _ in
      var marks: [String: StateMark] = [:]
      if let reader {
        try ReservedReader.each(reader.connection, states { marks[$0.text] = $1.mark })
      }
      return marks
    }
  }

  /// Marks one of each kind.
  private func markAll(_ state: StateStore) throws {
    try state.set("v", 1, synced: true)
    _ = try state.list("l", limit: 3, maxAge: 1000, isUnique: true, synced: true)
    _ = try state.set(named: "m", synced: true)
    _ = try state.scores("s", bounds: 0...10, synced: true)
  }

  private static let all: [String: StateMark] = [
    "value/v": StateMark(isSynced: true),
    "list/l": StateMark(
      isSynced: true, bounds: StateBounds(limit: 3, maxAge: 1000, isUnique: true)),
    "set/m": StateMark(isSynced: true),
    "scores/s": StateMark(isSynced: true, bounds: StateBounds(range: 0...10)),
  ]

  @Test("a mark is saved with its bounds, and stays until it is changed")
  func saved() throws {
    let store = try fixture.open()
    try markAll(store.state)
    #expect(try marks(store) == [:])
    try store.state.flush()
    #expect(try marks(store) == Self.all)
    try store.state.set("v", 2)
    try store.state.remove("v")
    try store.state.list("l", limit: 9).push(1)
    try store.state.set(named: "m").add(1)
    try store.state.scores("s").add("k", 1)
    try store.state.flush()
    #expect(try marks(fixture.open()) == Self.all)
    #expect(try StateStore.check(store.database).isEmpty)
  }

  @Test("without the parameter no state is marked")
  func unmarked() throws {
    let store = try fixture.open()
    try store.state.set("v", 1)
    try store.state.list("l", limit: 2).push(1)
    try store.state.flush()
    #expect(try marks(store) == [:])
  }

  @Test("the value that is set last decides about an unsaved mark only if it names one")
  func superseded() throws {
    let store = try fixture.open()
    try store.state.set("a", 1, synced: true)
    try store.state.set("a", 2)
    try store.state.set("b", 1, synced: true)
    try store.state.set("b", 2, synced: false)
    try store.state.set("c", 1, synced: true)
    try store.state.remove("c")
    try store.state.flush()
    let on = StateMark(isSynced: true)
    #expect(try marks(store) == ["value/a": on, "value/b": StateMark(isSynced: false), "value/c": on])
    #expect(try store.state.get("a") == 2)
  }

  @Test("the mark and the value are in one entry of the outbox file")
  func spooled() throws {
    let store = try fixture.open()
    try store.state.set("saved before", 1)
    try store.state.flush()
    let blocker = try fixture.block()
    try markAll(store.state)
    try store.state.set("off", 1, synced: false)
    #expect(try store.state.flush() == false)
    #expect(store.outbox.waiting(StateEntry.kind).count == 1)
    // A pending mark is known: asking for it again changes nothing.
    _ = try store.state.list("l", limit: 3, maxAge: 1000, isUnique: true, synced: true)
    try blocker.rollback()
    try store.state.flush()
    var expected = Self.all
    expected["value/off"] = StateMark(isSynced: false)
    #expect(try marks(store) == expected)
    #expect(try store.outbox.rejected(in: store.database).isEmpty)
  }

  @Test("a handle with the same mark changes nothing, and one with other bounds changes the bounds")
  func handles() throws {
    let store = try fixture.open()
    try markAll(store.state)
    try store.state.flush()
    _ = try store.state.set(named: "m", synced: true)
    _ = try store.state.scores("s", bounds: 0...10, synced: true)
    #expect(store.state.saver.operations { _ in true }.isEmpty)
    try store.state.flush()
    _ = try store.state.scores("s", bounds: 0...20, synced: true)
    try store.state.flush()
    #expect(try marks(store)["scores/s"] == StateMark(isSynced: true, bounds: StateBounds(range: 0...20)))
  }

  @Test("a mark is not one of the pending changes that make a save due")
  func counted() throws {
    var changes = UnsavedChanges(writer: 1)
    let name = try StateName("v", as: "key")
    for _ in 0..<2 {
      changes.add(
        StateTarget(id: StateID(.value, name), isMark: true), .mark(StateMark(isSynced: true)), time: 1)
      changes.add(StateTarget(id: StateID(.value, name)), .set(1), time: 1)
    }
    #expect(changes.count == 1)
    let save = changes.beginSave()
    #expect(save.operations.count == 2)
    changes.cancelSave(before: save.before)
    #expect(changes.count == 1)
    changes.add(
      StateTarget(id: StateID(.list, name), isMark: true), .mark(StateMark(isSynced: true)), time: 1)
    #expect(changes.count == 1 && changes.hasPending)
  }

  static let names: [(String, Bool)] = [
    (String(repeating: "x", count: 249), true), (String(repeating: "x", count: 250), false),
    ("a\u{1}b", false), ("a\u{85}b", false), ("a/b é", true),
  ]

  @Test("a key that the sync log cannot have is refused, and nothing is set", arguments: names)
  func named(name: String, isValid: Bool) throws {
    let state = try fixture.open().state
    let code = try stateCode { try state.set(name, 1, synced: true) }
    #expect(code == (isValid ? nil : .invalid))
    #expect(try (state.get(name) == 1) == isValid)
    try state.set(name, 2, synced: false)
    #expect(try state.get(name) == 2)
  }

  @Test("a read-only store returns marked handles")
  func readOnly() throws {
    let store = try fixture.open()
    try store.state.list("l", synced: true).push(1)
    try store.database.close()
    let reader = try fixture.open { $0.isReadOnly = true }
    #expect(try reader.state.list("l", limit: 5, synced: true).items().map(\.value) == [1])
    #expect(try stateCode { try reader.state.set("v", 1, synced: true) } == .readOnly)
  }

  // MARK: Tracking

  @Test("a bound store records changes of marked state only")
  func tracked() throws {
    let device = try StateSyncDevice(fixture)
    try device.bind()
    try markAll(device.state)
    try device.state.set("other", 1)
    try device.state.list("other").push(1)
    try device.state.flush()
    for id in Self.all.keys { #expect(try device.status(id) == .pending, "\(id)") }
    for id in ["value/other", "list/other"] { #expect(try device.status(id) == nil, "\(id)") }
    let remote = SyncStore()
    try device.sync(remote)
    #expect(try device.status("value/v") == .synced)
    try device.state.remove("v")
    try device.state.flush()
    #expect(try device.status("value/v") == .pending)
  }

  @Test("state that was marked before the store was bound is sent, also without an operation")
  func before() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.list("l").push(1)
    try device.state.flush()
    _ = try device.state.list("l", synced: true)
    let report = try device.sync(SyncStore())
    #expect(report.sent == 1)
    #expect(try device.status("list/l") == .synced)
  }

  @Test("check names rows that contradict themselves or the values")
  func checked() throws {
    let store = try fixture.open()
    try markAll(store.state)
    try store.state.flush()
    func findings(_ sql: String) throws -> Int {
      struct Undo: Error {}
      var count = 0
      do {
        try store.database.write { transaction in
          try transaction.connection.execute(sql)
          count = try StateStore.check(store.database).count
          throw Undo()
        }
      } catch is Undo {}
      return count
    }
    func replaced(_ text: String, _ other: String) -> String {
      "UPDATE record SET body = CAST(replace(body, '\(text)', '\(other)') AS BLOB)"
    }
    #expect(try findings("UPDATE record SET key = 'values/v' WHERE key = 'value/v'") == 1)
    #expect(try findings("UPDATE record SET key = key || char(1)") == 4)
    #expect(try findings(replaced("\"synced\":true", "\"synced\":true,\"removed\":true")) == 4)
    #expect(try findings(replaced("\"synced\":true", "\"synced\":1")) == 4)
    #expect(try findings(replaced("\"maximum\":10", "\"maximum\":-1")) == 1)
    #expect(try findings(replaced("\"limit\":3", "\"limit\":0")) == 1)
    // A document that is not JSON is named by the check of the records.
    #expect(try findings(replaced("\"value\":1", "\"value\":1}")) == 0)
  }
}
