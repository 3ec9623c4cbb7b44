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

  private static let marker = "plain-MARKER-of-a-secret"

  private func open(_ key: [UInt8]?) throws -> StateFixture.Opened {
    let store = try fixture.open()
    if let key { try store.state.setKey(key) }
    return store
  }

  /// Fills a list, a set and scores, all sensitive.
  private func fill(_ state: StateStore) throws {
    let list = try state.list("l", sensitive: true)
    for number in 0..<3 { try list.push(.string("\(Self.marker) \(number)")) }
    let set = try state.set(named: "m", sensitive: true)
    for number in 0..<3 { try set.add(["word": .string("\(Self.marker) \(number)"), "n": 1]) }
    let scores = try state.scores("s", sensitive: true)
    for number in 0..<3 { try scores.add("\(Self.marker) \(number)", 0.25) }
  }

  private func expectFilled(_ state: StateStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let words = (0..<3).map { "\(Self.marker) \($0)" }
    #expect(
      try state.list("l").items().map(\.value.stringValue) == words.reversed(), sourceLocation: sourceLocation
    )
    let members = try state.set(named: "m").values()
    #expect(members.map { $0["word"]?.stringValue } == words, sourceLocation: sourceLocation)
    for word in words {
      #expect(
        try state.set(named: "m").contains(["n": 1, "word": .string(word)]), sourceLocation: sourceLocation)
      #expect(try state.scores("s").value(word) == 0.25, sourceLocation: sourceLocation)
    }
    #expect(try state.scores("s").all().map(\.key) == words, sourceLocation: sourceLocation)
  }

  /// Everything that is in any file of the store.
  private func files() throws -> Data {
    try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).reduce(into: Data()) {
      $0 += try Data(contentsOf: fixture.directory.appending(path: $1))
    }
  }

  @Test("have no plain text in any file, nor a hash that it can be guessed by", arguments: [false, true])
  func nowhere(isSpooled: Bool) throws {
    let store = try open(StateFixture.key)
    // Marked before: that is written at once.
    for (kind, name) in [(Change.StateKey.Kind.list, "l"), (.set, "m"), (.scores, "s")] {
      try store.state.setSensitive(kind, name)
    }
    let blocker = isSpooled ? try fixture.block() : nil
    try fill(store.state)
    try store.state.list("l").remove(.string("\(Self.marker) gone"))
    try store.state.set(named: "m").remove(.string("\(Self.marker) gone"))
    try store.state.set("plain", "in the clear, for comparison")
    #expect(try store.state.flush() != isSpooled)
    try expectFilled(store.state)
    let found = try files()
    #expect(found.range(of: Data("for comparison".utf8)) != nil)
    #expect(found.range(of: Data("MARKER".utf8)) == nil)
    #expect(found.range(of: Data(Array("MARKER".utf8).hexadecimal.utf8)) == nil)
    for value: JSONValue in [
      .string("\(Self.marker) 0"), .string("\(Self.marker) gone"),
      ["word": .string("\(Self.marker) 0"), "n": 1],
    ] {
      let identity = try ValueIdentity(value)
      #expect(found.range(of: Data(identity.bytes)) == nil)
      #expect(found.range(of: Data(identity.hexadecimal.utf8)) == nil)
    }
    try blocker?.rollback()
    #expect(try store.state.flush())
    try expectFilled(store.state)
    try store.database.close()
    try expectFilled(open(StateFixture.key).state)
    #expect(try files().range(of: Data("MARKER".utf8)) == nil)
  }

  @Test(
    "work as others do: members once, items in order and once, scores within bounds",
    arguments: [false, true])
  func rules(isSavedEachTime: Bool) throws {
    let store = try open(StateFixture.key)
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
    // Equal members of another set have another hash.
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
    let keys = try store.database.read { connection in
      var keys: [String] = []
      try connection.each("SELECT key FROM state_value WHERE is_sealed = 1") { keys.append($0.text(0)) }
      return keys
    }
    #expect(Set(keys).count == 5)
    #expect(try StateStore.check(store.database).isEmpty)
  }

  @Test("without the key nothing is added or read, and a wrong one is refused")
  func keys() throws {
    let first = try open(StateFixture.key)
    try fill(first.state)
    try first.state.set("plain", 1)
    try first.database.close()

    let second = try open(nil)
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
      #expect(try stateCode(of: call) == .invalid, "call \(number)")
    }
    #expect(try state.get("plain") == 1)
    try state.list("searches").push("plain")
    _ = try state.list("l", sensitive: true)
    #expect(try state.flush())
    try state.setKey(StateFixture.key)
    try expectFilled(state)
    // A list can be emptied without the key, as a value can be removed.
    try second.database.close()
    let third = try open(nil)
    try third.state.list("l").clear()
    try third.state.flush()
    #expect(try stateCode { try third.state.setKey(StateFixture.otherKey) } == .invalid)
    try third.state.setKey(StateFixture.key)
    #expect(try third.state.list("l").items() == [])
    try third.state.list("l").push("new")
    #expect(try third.state.set(named: "m").values().count == 3)
  }

  @Test("an empty list is sealed with whichever key is set, also after another was lost")
  func lostKey() throws {
    let first = try open(StateFixture.key)
    let list = try first.state.list("l", sensitive: true)
    try list.push(1)
    try first.state.flush()
    try list.clear()
    try first.database.close()
    let second = try open(StateFixture.otherKey)
    try second.state.list("l").push(2)
    try second.state.flush()
    try second.database.close()
    #expect(try open(StateFixture.otherKey).state.list("l").items().map(\.value) == [2])
  }

  @Test("become so, and plain again, with all that they contain, in one transaction")
  func conversion() throws {
    let store = try open(StateFixture.key)
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
    func sealed() throws -> Int64 {
      try store.database.read {
        try $0.number(
          "SELECT (SELECT sum(is_sealed) FROM state_item) + (SELECT sum(is_sealed) FROM state_value)")
      }
    }
    for isSensitive in [true, false, true] {
      _ = try store.state.list("l", sensitive: isSensitive)
      _ = try store.state.set(named: "m", sensitive: isSensitive)
      _ = try store.state.scores("s", sensitive: isSensitive)
      #expect(try sealed() == (isSensitive ? 1800 : 0))
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
    let other = try open(nil)
    try other.state.list("plain").push(1)
    #expect(try stateCode { _ = try other.state.list("plain", sensitive: true) } == .invalid)
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
    let store = try open(StateFixture.key)
    try fill(store.state)
    try store.state.flush()
    func rows() throws -> Set<[UInt8]> {
      try store.database.read { connection in
        var rows: Set<[UInt8]> = []
        try connection.each("SELECT identity, value FROM state_item") { row in
          rows.insert(Array(row.bytes(0)))
          rows.insert(Array(row.bytes(1)))
        }
        try connection.each("SELECT key, value FROM state_value") { row in
          rows.insert(Array(row.bytes(0)))
          rows.insert(Array(row.bytes(1)))
        }
        return rows
      }
    }
    let before = try rows()
    #expect(before.count == 18)
    try store.state.list("l").push("pending")
    let flip =
      "UPDATE state_value SET value = CAST(substr(value, 1, length(value) - 1) || x'00' AS BLOB) WHERE space = 'scores/s'"
    try store.state.rotateKey(to: StateFixture.otherKey)
    #expect(try rows().isDisjoint(with: before))
    try store.state.list("l").remove("pending")
    try expectFilled(store.state)
    try store.state.flush()
    let sound = try rows()
    try store.database.write { try $0.connection.execute(flip) }
    let broken = try rows()
    // A row that cannot be opened stops it.
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.key) } == .damaged)
    #expect(try rows() == broken && broken != sound)
    #expect(try stateCode { _ = try store.state.scores("s").all() } == .damaged)
    try store.database.close()
    let later = try open(nil)
    #expect(try stateCode { try later.state.setKey(StateFixture.key) } == .invalid)
    try later.state.setKey(StateFixture.otherKey)
    #expect(try later.state.set(named: "m").values().count == 3)
  }

  @Test("another process's new key is detected, and no change is lost")
  func otherHandle() throws {
    let (first, second) = (try open(StateFixture.key), try open(StateFixture.key))
    try fill(first.state)
    try first.state.flush()
    _ = try second.state.list("l", sensitive: true)
    try second.state.scores("s", sensitive: true).add("pending", 0.5)
    try second.state.list("l").push("pending")
    try first.state.rotateKey(to: StateFixture.otherKey)
    #expect(try stateCode { try second.state.list("l").push("x") } == .invalid)
    #expect(try stateCode { _ = try second.state.list("l").items() } == .invalid)
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

  @Test("what was spooled with the key waits where the key is not set, in order, and is read when it is")
  func waiting() throws {
    let first = try open(StateFixture.key)
    try fill(first.state)
    try first.state.flush()
    var blocker: Database? = try fixture.block()
    try first.state.list("l").push("spooled")
    try first.state.scores("s").add("\(Self.marker) 0", 0.5)
    try first.state.set(named: "m").add("spooled")
    try first.state.set(named: "m").remove("spooled")
    try first.state.set("theme", "dark")
    #expect(try !first.state.flush())
    try first.database.close()
    // Still spooled: read from the outbox file once the key is set.
    let second = try open(nil)
    #expect(try second.state.get("theme") == "dark")
    try second.state.setKey(StateFixture.key)
    #expect(try second.state.list("l").items().first?.value == "spooled")
    #expect(try second.state.scores("s").value("\(Self.marker) 0") == 0.75)
    try second.database.close()
    try blocker?.rollback()
    blocker = nil
    // Drained without the key.
    let third = try open(nil)
    #expect(try !fixture.isSpooled && third.outbox.rejected(in: third.database).isEmpty)
    #expect(try third.state.get("theme") == "dark")
    #expect(try StateStore.check(third.database).count == 3)
    #expect(try files().range(of: Data("MARKER".utf8)) == nil)
    try third.state.setKey(StateFixture.key)
    #expect(try third.state.list("l").items().first?.value == "spooled")
    #expect(try third.state.scores("s").value("\(Self.marker) 0") == 0.75)
    #expect(try third.state.set(named: "m").values().count == 3)
    #expect(try StateStore.check(third.database).isEmpty)
  }

  @Test("what a handle adds that does not know is sealed, or waits for the key", arguments: [false, true])
  func unaware(hasKey: Bool) throws {
    let unaware = try open(hasKey ? StateFixture.key : nil)
    try unaware.state.list("l").push("before")
    try unaware.state.flush()
    let first = try open(StateFixture.key)
    try unaware.state.list("l").push("pending")
    _ = try first.state.list("l", sensitive: true)
    #expect(try unaware.state.flush())
    if !hasKey {
      #expect(try first.state.list("l").items().map(\.value) == ["before"])
      #expect(try stateCode { try unaware.state.list("l").push("now it knows") } == .invalid)
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

  @Test("a row that was moved or changed is damage, which check names")
  func tampered() throws {
    let store = try open(StateFixture.key)
    try fill(store.state)
    try store.state.set(named: "n", sensitive: true).add("other")
    try store.state.flush()
    let changes: [(String, () throws -> Void)] = [
      (
        "UPDATE state_item SET value = (SELECT value FROM state_item WHERE number = 1) WHERE number = 2",
        { _ = try store.state.list("l").items() }
      ),
      (
        "UPDATE state_value SET value = (SELECT value FROM state_value WHERE space = 'set/n') WHERE space = 'set/m'",
        { _ = try store.state.set(named: "m").values() }
      ),
      (
        "UPDATE state_value SET key = substr(key, 1, 63) || 'x' WHERE space = 'scores/s'",
        { _ = try store.state.scores("s").all() }
      ),
      (
        "UPDATE state_value SET is_sealed = 0 WHERE space = 'set/n'",
        { _ = try store.state.set(named: "n").values() }
      ),
      ("UPDATE state_item SET identity = x'00' WHERE number = 1", { _ = try store.state.list("l").items() }),
      ("DELETE FROM state_sensitive WHERE kind = 'list'", { _ = try store.state.list("l").items() }),
    ]
    for (sql, read) in changes {
      try store.database.begin()
      try store.database.write { try $0.connection.execute(sql) }
      #expect(try stateCode(of: read) == .damaged, "\(sql)")
      #expect(try !StateStore.check(store.database).isEmpty, "\(sql)")
      try store.database.rollback()
    }
    try expectFilled(store.state)
    #expect(try StateStore.check(store.database).isEmpty)
  }

  @Test("recovering marks what is sealed again")
  func repair() throws {
    let store = try open(StateFixture.key)
    try fill(store.state)
    try store.state.flush()
    try store.database.write { try $0.connection.execute("DELETE FROM state_sensitive") }
    #expect(try !StateStore.check(store.database).isEmpty)
    try store.database.close()
    let later = try open(nil)
    try StateStore.repair(later.database)
    try later.database.close()
    let last = try open(StateFixture.key)
    #expect(try StateStore.check(last.database).isEmpty)
    try expectFilled(last.state)
  }
}
