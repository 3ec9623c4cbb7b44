import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelState

@Suite("Sensitive lists, sets and scores")
struct SensitiveStateTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test("have no plain text, and no unkeyed hash, in any file", arguments: [false, true])
  func nowhere(isSpooled: Bool) throws {
    let store = try fixture.open(key: StateFixture.key)
    // Marked before: that is written at once.
    for (kind, name) in [(Change.StateKey.Kind.list, "l"), (.set, "m"), (.scores, "s")] {
      try store.state.setSensitive(kind, name)
    }
    let blocker = isSpooled ? try fixture.block() : nil
    try StateFixture.fillSensitive(store.state)
    try store.state.list("l").remove(.string("\(StateFixture.marker) gone"))
    try store.state.set(named: "m").remove(.string("\(StateFixture.marker) gone"))
    try store.state.set("plain", "in the clear, for comparison")
    #expect(try store.state.flush() != isSpooled)
    try StateFixture.expectFilled(store.state)
    let found = try fixture.files()
    #expect(found.range(of: Data("for comparison".utf8)) != nil)
    #expect(found.range(of: Data("MARKER".utf8)) == nil)
    #expect(found.range(of: Data(Array("MARKER".utf8).hexadecimal.utf8)) == nil)
    for value: JSONValue in [
      .string("\(StateFixture.marker) 0"), .string("\(StateFixture.marker) gone"),
      ["word": .string("\(StateFixture.marker) 0"), "n": 1],
    ] {
      #expect(found.range(of: Data(SHA256.digest(try value.canonicalText()))) == nil)
      #expect(found.range(of: Data(try StateName(identityOf: value).text.utf8)) == nil)
    }
    try blocker?.rollback()
    #expect(try store.state.flush())
    try StateFixture.expectFilled(store.state)
    try store.database.close()
    try StateFixture.expectFilled(fixture.open(key: StateFixture.key).state)
    #expect(try fixture.files().range(of: Data("MARKER".utf8)) == nil)
  }

  @Test(
    "behave like plain ones: members once, items in order and once, scores within bounds",
    arguments: [false, true])
  func rules(isSavedEachTime: Bool) throws {
    let store = try fixture.open(key: StateFixture.key)
    func save() throws { if isSavedEachTime { try store.state.flush() } }
    let set = try store.state.set(named: "m", sensitive: true)
    var isNew: [Bool] = []
    for value: JSONValue in ["b", ["x": 1, "y": 2], ["y": 2, "x": 1], "b", 1, 1.0] {
      isNew.append(try set.add(value))
      try save()
    }
    #expect(isNew == [true, true, false, false, true, true])
    #expect(try set.remove("b") && !set.remove("b") && !set.contains("b"))
    try save()
    #expect(try set.values() == [1, 1.0, ["x": 1, "y": 2]])
    try store.state.set(named: "n", sensitive: true).add(1)
    let list = try store.state.list("l", limit: 3, isUnique: true, sensitive: true)
    for value in ["a", "b", "c", "a", "d"] {
      try list.push(.string(value))
      try save()
    }
    #expect(try list.items().map(\.value) == ["d", "a", "c"])
    try list.insert("e", at: fixture.clock.load(ordering: .relaxed) - 1)
    try list.remove("c")
    try save()
    #expect(try list.items().map(\.value) == ["d", "a"])
    let scores = try store.state.scores("s", sensitive: true)
    #expect(try scores.add("k", 0.75) == 0.75 && scores.add("k", 0.75) == 1)
    try save()
    #expect(try scores.add("k", -0.5) == 0.5)
    try scores.add("other", 0.125)
    try scores.remove("k")
    try save()
    #expect(try scores.value("k") == 0 && scores.all().map(\.value) == [0.125])
    try store.state.flush()
    // Equal content of two sets is sealed differently.
    try store.state.set(named: "o", sensitive: true).add(1)
    try store.state.flush()
    #expect(try store.sealedCount() == 5)
    #expect(try store.body("set/n") != store.body("set/o"))
    #expect(try StateStore.check(store.database).isEmpty)
  }

  @Test("adding and reading require the key, and a wrong one is rejected")
  func keys() throws {
    let first = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(first.state)
    try first.state.set("plain", 1)
    try first.database.close()

    let second = try fixture.open(key: nil)
    let state = second.state
    let calls: [() throws -> Void] = [
      { try state.list("l").push(1) }, { _ = try state.list("l").items() }, { try state.list("l").remove(1) },
      { try state.list("l").insert(1, at: 1) }, { try state.set(named: "m").add(1) },
      { try state.set(named: "m").remove(1) }, { _ = try state.set(named: "m").contains(1) },
      { _ = try state.set(named: "m").values() }, { try state.scores("s").add("k", 1) },
      { _ = try state.scores("s").value("k") }, { _ = try state.scores("s").all() },
      { try state.scores("s").remove("k") }, { try state.rotateKey(to: StateFixture.otherKey) },
      { try state.setKey(StateFixture.otherKey) }, { _ = try state.list("l", sensitive: false) },
    ]
    for (number, call) in calls.enumerated() {
      #expect(try stateCode(of: call) == .unauthorized, "call \(number)")
    }
    #expect(try state.get("plain") == 1)
    try state.list("searches").push("plain")
    _ = try state.list("l", sensitive: true)
    #expect(try state.flush())
    try state.setKey(StateFixture.key)
    try StateFixture.expectFilled(state)
    // A list can be emptied without the key, as a value can be removed.
    try second.database.close()
    let third = try fixture.open(key: nil)
    try third.state.list("l").clear()
    try third.state.flush()
    #expect(try stateCode { try third.state.setKey(StateFixture.otherKey) } == .unauthorized)
    try third.state.setKey(StateFixture.key)
    #expect(try third.state.list("l").items() == [])
    try third.state.list("l").push("new")
    #expect(try third.state.set(named: "m").values().count == 3)
  }

  @Test("become sensitive, and plain again, with their contents, in one transaction")
  func conversion() throws {
    let store = try fixture.open(key: StateFixture.key)
    let (list, set, scores) = (
      try store.state.list("l"), try store.state.set(named: "m"), try store.state.scores("s")
    )
    for number in 0..<600 {
      fixture.pass(milliseconds: 1)
      try list.push(.int(Int64(number % 50)))
      try set.add(.int(Int64(number)))
      try scores.add("\(number)", Double(number) / 1000)
    }
    let (items, members, values) = (try list.items(), try set.values(), try scores.all().map(\.value))
    for isSensitive in [true, false, true] {
      _ = try store.state.list("l", sensitive: isSensitive)
      _ = try store.state.set(named: "m", sensitive: isSensitive)
      _ = try store.state.scores("s", sensitive: isSensitive)
      #expect(try store.sealedCount() == (isSensitive ? 3 : 0))
      #expect(try list.items() == items && set.values() == members)
      #expect(try scores.all().map(\.value) == values && set.contains(17) && scores.value("17") == 0.017)
      #expect(try StateStore.check(store.database).isEmpty)
    }
    #expect(try stateCode { try store.state.setSensitive(.value, "v") } == .invalid)
    try store.database.write { _ in
      #expect(try stateCode { _ = try store.state.list("l", sensitive: false) } == .invalid)
      _ = try store.state.list("l", sensitive: true)
    }
    // Not without the key, and not while older changes are spooled.
    try store.database.close()
    let other = try fixture.open(key: nil)
    try other.state.list("plain").push(1)
    #expect(try stateCode { _ = try other.state.list("plain", sensitive: true) } == .unauthorized)
    #expect(try other.state.list("plain").items().map(\.value) == [1])
    try other.state.setKey(StateFixture.key)
    let blocker = try fixture.block()
    #expect(try stateCode { _ = try other.state.list("plain", sensitive: true) } == .busy)
    try blocker.rollback()
    _ = try other.state.list("plain", sensitive: true)
    #expect(try other.state.list("plain").items().map(\.value) == [1])
  }

  @Test("rotating seals and hashes them with the new key, all or nothing")
  func rotating() throws {
    let store = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(store.state)
    try store.state.flush()
    let ids = ["list/l", "set/m", "scores/s"]
    func rows() throws -> Set<String> { Set(try ids.map { try store.body($0) }) }
    let before = try rows()
    #expect(before.count == 3)
    try store.state.list("l").push("pending")
    try store.state.rotateKey(to: StateFixture.otherKey)
    #expect(try rows().isDisjoint(with: before))
    try store.state.list("l").remove("pending")
    try StateFixture.expectFilled(store.state)
    try store.state.flush()
    let sound = try rows()
    // A character near the end of the sealed text.
    let body = try store.body("scores/s")
    let flipped = body.dropLast(5).last == "A" ? "B" : "A"
    try store.setBody("scores/s", body.dropLast(6) + flipped + body.suffix(5))
    let broken = try rows()
    // A row that cannot be opened stops it.
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.key) } == .damaged)
    #expect(try rows() == broken && broken != sound)
    #expect(try stateCode { _ = try store.state.scores("s").all() } == .damaged)
    try store.database.close()
    let later = try fixture.open(key: nil)
    #expect(try stateCode { try later.state.setKey(StateFixture.key) } == .unauthorized)
    try later.state.setKey(StateFixture.otherKey)
    #expect(try later.state.set(named: "m").values().count == 3)
  }

  @Test("a row that was moved or changed is damage, which check names")
  func tampered() throws {
    let store = try fixture.open(key: StateFixture.key)
    try StateFixture.fillSensitive(store.state)
    try store.state.set(named: "n", sensitive: true).add("other")
    try store.state.flush()
    let changes: [(String, () throws -> Void)] = [
      (
        "UPDATE record SET body = (SELECT body FROM record WHERE key = 'set/n') WHERE key = 'set/m'",
        { _ = try store.state.set(named: "m").values() }
      ),
      (
        "UPDATE record SET is_sealed = 0 WHERE key = 'set/n'",
        { _ = try store.state.set(named: "n").values() }
      ),
      (
        "UPDATE record SET body = CAST(replace(body, '\"items\":\"', '\"items\":\"AAAA') AS BLOB) WHERE key = 'list/l'",
        { _ = try store.state.list("l").items() }
      ),
      (
        "UPDATE record SET body = x'7b226974656d73223a317d' WHERE key = 'list/l'",
        { _ = try store.state.list("l").items() }
      ),
    ]
    for (sql, read) in changes {
      try store.database.begin()
      try store.database.write { try $0.connection.execute(sql) }
      #expect(try stateCode(of: read) == .damaged, "\(sql)")
      #expect(try !StateStore.check(store.database).isEmpty, "\(sql)")
      try store.database.rollback()
    }
    try StateFixture.expectFilled(store.state)
    #expect(try StateStore.check(store.database).isEmpty)
  }
}
