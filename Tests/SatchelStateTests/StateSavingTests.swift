import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelState

@Suite("Times at which state is saved")
struct StateSavingTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private func saved(_ database: Database) throws -> Int64 {
    guard try database.has(RecordSchema.subject) else { return 0 }
    return try database.read { try $0.number("SELECT count(*) FROM record") }
  }

  @Test("saves when the save delay has passed without a change, independent of the system clock")
  func saveDelay() throws {
    let store = try fixture.open(nil, StateOptions(saveDelay: 100, maxPending: 100, maxDelay: 3_600_000))
    let start = ContinuousClock.now
    for number in 0..<4 {
      try store.state.set("\(number)", 1)
      fixture.pass(milliseconds: number % 2 == 0 ? 1_000_000_000 : -1_000_000_000)
      usleep(30_000)
      #expect(try saved(store.database) == 0 || ContinuousClock.now - start > .milliseconds(100))
    }
    #expect(try stateWaits { try saved(store.database) == 4 })
    #expect(ContinuousClock.now - start >= .milliseconds(190))
  }

  @Test("saves when enough changes are pending; one key that is set ten times is one change")
  func maxPending() throws {
    let store = try fixture.open(nil, StateOptions(saveDelay: 3_600_000, maxPending: 10, maxDelay: 3_600_000))
    for number in 0..<30 { try store.state.set("k", .int(Int64(number))) }
    for number in 0..<8 { try store.state.set("\(number)", 1) }
    usleep(150_000)
    #expect(try saved(store.database) == 0)
    try store.state.set("tenth", 1)
    #expect(try stateWaits { try saved(store.database) == 10 })
    #expect(try fixture.open().state.get("k") == 29)
  }

  @Test("saves when a change was pending for the maximum delay, although further changes follow")
  func maxDelay() throws {
    let store = try fixture.open(nil, StateOptions(saveDelay: 100, maxPending: .max, maxDelay: 300))
    let start = ContinuousClock.now
    var number = 0
    while try saved(store.database) == 0, ContinuousClock.now - start < .seconds(120) {
      number += 1
      try store.state.set("\(number % 5)", .int(Int64(number)))
      usleep(10_000)
    }
    #expect(ContinuousClock.now - start >= .milliseconds(290))
    #expect(try saved(store.database) > 0)
  }

  @Test("new options apply immediately")
  func configure() throws {
    let store = try fixture.open()
    try store.state.set("k", 1)
    store.state.configure(StateFixture.quickly)
    #expect(try stateWaits { try saved(store.database) == 1 })
    let defaults = StateOptions(saveDelay: 2000, maxPending: 10, maxDelay: 5000)
    #expect(StateOptions(saveDelay: -1, maxPending: 0, maxDelay: 0) == defaults)
  }

  @Test("saves when the store is closed or released")
  func closing() throws {
    let store = try fixture.open()
    try store.state.set("closed", 1)
    try store.database.close()
    do {
      let other = try fixture.open()
      try other.state.set("given up", 2)
    }
    #expect(try fixture.open().state.keys() == ["closed", "given up"])
    #expect(!fixture.isSpooled)
  }

  @Test("a transaction that was begun and not ended does not discard state when the store closes")
  func closingInTransaction() throws {
    let store = try fixture.open()
    try store.database.begin()
    try store.state.set("k", 1)
    #expect(try stateCode { try store.state.flush() } == .invalid)
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.key) } == .invalid)
    try store.database.close()
    #expect(try fixture.open().state.get("k") == 1)
  }

  @Test("observers are notified when a change is in the file, those of another handle too")
  func observers() throws {
    let (store, other) = (try fixture.open(), try fixture.open())
    let (own, others) = (StateObserved(), StateObserved())
    let subscriptions = [
      try store.database.observe { own.add($0) }, try other.database.observe { others.add($0) },
    ]
    try store.state.set("theme", "dark")
    try store.state.set("theme", "light")
    try store.state.list("history").push("x")
    try store.state.set(named: "seen").add("x")
    try store.state.set(named: "seen").add("y")
    try store.state.scores("cuisine").add("thai", 0.5)
    #expect(own.keys.isEmpty)
    try store.state.flush()
    let keys = ["value/theme", "list/history", "set/seen", "scores/cuisine"]
    #expect(own.keys == keys)
    #expect(stateWaits { others.keys == keys })
    #expect(try other.state.get("theme") == "light")
    subscriptions.forEach { $0.cancel() }
  }

  @Test("reads see the saved changes of another handle, with the handle's own pending changes on top")
  func others() throws {
    let (first, second) = (try fixture.open(), try fixture.open())
    try first.state.set("k", 1)
    try first.state.flush()
    #expect(try second.state.get("k") == 1)
    try second.state.set("k", 2)
    #expect(try first.state.get("k") == 1)
    try second.state.flush()
    #expect(try first.state.get("k") == 2)
    try first.state.set("k", 3)
    #expect(try first.state.get("k") == 3)
  }

  @Test("a read does not wait for a save that waits for another writer")
  func readingDoesNotWait() throws {
    let store = try fixture.open(nil, StateFixture.quickly) { $0.busyTimeout = 600_000 }
    try store.state.set("saved", 1)
    try store.state.scores("s").add("k", 0.25)
    try store.state.flush()
    let blocker = try fixture.block()
    try store.state.set("k", 1)
    try store.state.scores("s").add("k", 0.25)
    usleep(200_000)
    let isRead = DispatchSemaphore(value: 0)
    let reading = Thread {
      #expect((try? store.state.get("k")) == 1)
      #expect((try? store.state.get("saved")) == 1)
      #expect((try? store.state.scores("s").value("k")) == 0.5)
      _ = try? store.state.set("k", 2)
      #expect((try? store.state.get("k")) == 2)
      isRead.signal()
    }
    reading.start()
    // The save waits for ten minutes.
    #expect(isRead.wait(timeout: .now() + 120) == .success)
    try blocker.rollback()
    try store.state.flush()
    #expect(try store.state.scores("s").value("k") == 0.5)
    #expect(try fixture.open().state.get("k") == 2)
  }
}
