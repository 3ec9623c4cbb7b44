import Foundation
import SatchelCore
import SatchelJSON
import SatchelDocuments
import SatchelStorage
import Testing

@testable import SatchelState

@Suite("Sensitive lists, sets and scores of several handles and keys")
struct SensitiveHandlesTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test("an empty list is sealed with whichever key is set, also after another was lost")
  func lostKey() throws {
    let first = try fixture.open(key: StateFixture.key)
    let list = try first.state.list("l", sensitive: true)
    try list.push(1)
    try first.state.flush()
    try list.clear()
    try first.database.close()
    let second = try fixture.open(key: StateFixture.otherKey)
    try second.state.list("l").push(2)
    try second.state.flush()
    try second.database.close()
    #expect(try fixture.open(key: StateFixture.otherKey).state.list("l").items().map(\.value) == [2])
  }

  @Test("are cleared without the key, with waiting and pending changes")
  func clearing() throws {
    let first = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(first.state)
    try first.state.flush()
    try first.state.set(named: "m").add("pending")
    try first.state.set(named: "m").clear()
    #expect(try first.state.set(named: "m").values().isEmpty)
    #expect(try first.state.set(named: "m").add("new"))
    let blocker = try fixture.block()
    #expect(try stateCode { try first.state.scores("s").clear() } == .busy)
    try first.state.scores("s").add("spooled", 1)
    #expect(try !first.state.flush())
    #expect(try stateCode { try first.state.scores("s").clear() } == .busy)
    try blocker.rollback()
    try first.database.close()
    let second = try fixture.open(key: nil)
    #expect(try !StateStore.check(second.database).isEmpty)
    try second.state.scores("s").clear()
    try second.state.set(named: "m").clear()
    #expect(try stateCode { try second.state.clear(.value, "v") } == .invalid)
    #expect(try stateCode { try second.state.setKey(StateFixture.otherKey) } == .unauthorized)
    try second.state.clear(.list, "l")
    #expect(try StateStore.check(second.database).isEmpty)
    try second.state.setKey(StateFixture.otherKey)
    try StateFixture.fillSensitive(second.state)
    try StateFixture.expectFilled(second.state)
  }

  @Test("another process's new key is detected, and no change is lost")
  func otherHandle() throws {
    let (first, second) = (try fixture.open(key: StateFixture.key), try fixture.open(key: StateFixture.key))
    try StateFixture.fillSensitive(first.state)
    try first.state.flush()
    _ = try second.state.list("l", sensitive: true)
    try second.state.scores("s", sensitive: true).add("pending", 0.5)
    try second.state.list("l").push("pending")
    try first.state.rotateKey(to: StateFixture.otherKey)
    #expect(try stateCode { try second.state.list("l").push("x") } == .unauthorized)
    #expect(try stateCode { _ = try second.state.list("l").items() } == .unauthorized)
    #expect(try second.state.flush())
    let waits = try StateStore.check(first.database)
    #expect(waits.count == 2 && waits.allSatisfy { $0.message.contains("waits for the encryption key") })
    try second.state.setKey(StateFixture.otherKey)
    for store in [second, first] {
      #expect(try store.state.list("l").items().first?.value == "pending")
      #expect(try store.state.scores("s").value("pending") == 0.5)
    }
    #expect(try StateStore.check(first.database).isEmpty)
  }

  @Test("writes that were spooled with the key wait until the key is set, and are applied in order")
  func waiting() throws {
    let first = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(first.state)
    try first.state.flush()
    var blocker: Database? = try fixture.block()
    try first.state.list("l").push("spooled")
    try first.state.scores("s").add("\(StateFixture.marker) 0", 0.5)
    try first.state.set(named: "m").add("spooled")
    try first.state.set(named: "m").remove("spooled")
    try first.state.set("theme", "dark")
    #expect(try !first.state.flush())
    try first.database.close()
    // Still spooled: read from the outbox file once the key is set.
    let second = try fixture.open(key: nil)
    #expect(try second.state.get("theme") == "dark")
    try second.state.setKey(StateFixture.key)
    #expect(try second.state.list("l").items().first?.value == "spooled")
    #expect(try second.state.scores("s").value("\(StateFixture.marker) 0") == 0.75)
    try second.database.close()
    try blocker?.rollback()
    blocker = nil
    // Drained without the key.
    let third = try fixture.open(key: nil)
    #expect(try !fixture.isSpooled && third.outbox.rejected(in: third.database).isEmpty)
    #expect(try third.state.get("theme") == "dark")
    #expect(try StateStore.check(third.database).count == 3)
    #expect(try fixture.files().range(of: Data("MARKER".utf8)) == nil)
    try third.state.setKey(StateFixture.key)
    #expect(try third.state.list("l").items().first?.value == "spooled")
    #expect(try third.state.scores("s").value("\(StateFixture.marker) 0") == 0.75)
    #expect(try third.state.set(named: "m").values().count == 3)
    #expect(try StateStore.check(third.database).isEmpty)
  }

  @Test("additions of a handle without the mark are sealed, or wait for the key", arguments: [false, true])
  func unaware(hasKey: Bool) throws {
    let unaware = try fixture.open(key: hasKey ? StateFixture.key : nil)
    try unaware.state.list("l").push("before")
    try unaware.state.flush()
    let first = try fixture.open(key: StateFixture.key)
    try unaware.state.list("l").push("pending")
    _ = try first.state.list("l", sensitive: true)
    #expect(try unaware.state.flush())
    if !hasKey {
      #expect(try first.state.list("l").items().map(\.value) == ["before"])
      #expect(try stateCode { try unaware.state.list("l").push("now it knows") } == .unauthorized)
      try unaware.state.setKey(StateFixture.key)
    }
    #expect(try first.state.list("l").items().map(\.value) == ["pending", "before"])
    #expect(try unaware.state.list("l").items().map(\.value) == ["pending", "before"])
    #expect(try StateStore.check(first.database).isEmpty)
    // And the other way round.
    try unaware.state.list("l").push("sealed")
    _ = try first.state.list("l", sensitive: false)
    try unaware.state.flush()
    #expect(try first.state.list("l").items().map(\.value) == ["sealed", "pending", "before"])
    #expect(try StateStore.check(first.database).isEmpty)
  }

  @Test("recovering keeps sealed lists, sets and scores sealed")
  func recovering() throws {
    let store = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(store.state)
    try store.state.flush()
    // As when the row of the collection was lost.
    try store.database.write { try $0.connection.execute("DELETE FROM record_collection") }
    #expect(throws: SatchelError.self) { try store.state.list("l").items() }
    try store.database.close()
    let later = try fixture.open(key: nil)
    #expect(try RecordCollection.repair(later.database).contains { $0.message.contains("@state") })
    try later.database.close()
    let last = try fixture.open(key: StateFixture.key)
    #expect(try StateStore.check(last.database).isEmpty)
    try StateFixture.expectFilled(last.state)
    #expect(try last.sealedCount() == 3)
  }
}
