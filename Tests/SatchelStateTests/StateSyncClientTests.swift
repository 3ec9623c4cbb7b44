import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelSync
@testable import SatchelState

@Suite("State as a client of the sync log")
struct StateSyncClientTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private static let now: Int64 = 1_700_000_000_000

  // MARK: Content

  @Test("documents have the content in a fixed order")
  func documents() throws {
    let device = try StateSyncDevice(fixture)
    let state = device.state
    try state.set("v", ["b": 1, "a": 1.50], synced: true)
    let list = try state.list("l", limit: 3, maxAge: 1000, isUnique: true, synced: true)
    for value in ["x", "y"] { try list.push(.string(value)) }
    let set = try state.set(named: "m", synced: true)
    for value: JSONValue in ["b", ["z": 1, "a": 2], "a", 1] { try set.add(value) }
    let scores = try state.scores("s", bounds: -1...2, synced: true)
    for key in ["b", "a"] { try scores.add(key, 0.5) }
    #expect(try device.document("value/v") == #"{"value":{"b":1,"a":1.5}}"#)
    #expect(
      try device.document("list/l")
        == #"{"items":[{"value":"y","time":\#(Self.now)},{"value":"x","time":\#(Self.now)}],"#
        + #""limit":3,"max_age":1000,"unique":true}"#)
    #expect(try device.document("set/m") == #"{"members":["a","b",1,{"a":2,"z":1}]}"#)
    #expect(
      try device.document("scores/s") == #"{"scores":{"a":0.5,"b":0.5},"minimum":-1.0,"maximum":2.0}"#)
    #expect(try device.ids() == ["list/l", "scores/s", "set/m", "value/v"])
    #expect(try device.ids(after: "scores/s", limit: 1) == ["set/m"])
  }

  @Test("a removed value is a deletion at the time of the removal, and empty containers are deletions")
  func deletions() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.set("v", 1, synced: true)
    try device.state.flush()
    fixture.pass(milliseconds: 5)
    try device.state.remove("v")
    try device.state.flush()
    fixture.pass(milliseconds: 5)
    let key = try SyncKey(SyncKey.state, "value/v")
    let outgoing = try device.store.database.read {
      try device.client.content(of: key, isEncrypted: false, $0)
    }
    #expect(outgoing?.content.isDeleted == true)
    #expect(outgoing?.content.modified == Self.now + 5)
    let list = try device.state.list("l", synced: true)
    try list.push(1)
    try list.clear()
    #expect(try device.document("list/l") == nil)
  }

  @Test("unmarked state, and state that must not be synchronized, is not sent")
  func unmarked() throws {
    let device = try StateSyncDevice(fixture)
    let key = "value/v"
    #expect(try stateCode { _ = try device.document(key) } == .notFound)
    try device.state.set("v", 1)
    #expect(try stateCode { _ = try device.document(key) } == .notFound)
    try device.state.set("v", 1, synced: true)
    #expect(try device.document(key) == #"{"value":1}"#)
    try device.state.set("v", 1, synced: false)
    #expect(try stateCode { _ = try device.document(key) } == .notFound)
    #expect(try device.ids() == [])
    for id in ["", "value", "value/", "other/v", "values/v"] {
      #expect(
        try stateCode {
          let key = SyncKey(validated: SyncKey.state, id)
          _ = try device.store.database.read { try device.client.content(of: key, isEncrypted: false, $0) }
        } == .notFound)
    }
  }

  @Test("content with too many levels for an envelope is refused when it is given, and named")
  func levels() throws {
    let device = try StateSyncDevice(fixture)
    for (levels, isValid) in [(499, true), (500, true), (501, false), (512, false)] {
      let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      let value = try JSONValue(parsing: Array(text.utf8))
      let code = isValid ? nil : SatchelError.Code.invalid
      #expect(try stateCode { try device.state.set("v", value, synced: true) } == code)
      #expect(try stateCode { try device.state.list("l", synced: true).push(value) } == code)
      #expect(try stateCode { try device.state.set(named: "m", synced: true).add(value) } == code)
    }
    for id in ["value/v", "list/l", "set/m"] { #expect(try device.document(id) != nil) }
  }

  // MARK: Sensitive values

  @Test("a sensitive value is sent only where sensitive values are sent")
  func sensitive() throws {
    for sends in [false, true] {
      let device = try StateSyncDevice(fixture, sendsSensitive: sends)
      try device.state.setKey(StateFixture.key)
      try device.state.set("token", "secret", sensitive: true, synced: true)
      if sends {
        #expect(try device.document("value/token") == #"{"value":"secret","sensitive":true}"#)
      } else {
        #expect(try stateCode { _ = try device.document("value/token") } == .unauthorized)
      }
    }
  }

  @Test("a downloaded sensitive value is sealed with the local key, and waits while the key is not set")
  func resealed() throws {
    let device = try StateSyncDevice(fixture)
    let remote = try StateSyncDevice.envelope("value/t", #"{"value":"secret","sensitive":true}"#, time: 9)
    let entry = try StateSyncDevice.entry("value/t", remote: remote, isChanged: false)
    #expect(try device.decide(entry) == [.waiting])
    #expect(try device.state.keys() == [])
    try device.state.setKey(StateFixture.otherKey)
    #expect(try device.decide(entry) == [.apply])
    #expect(try device.state.get("t") == "secret")
    #expect(try device.store.sealedCount() == 1)
    #expect(try device.decide(entry) == [.match])
  }

  // MARK: Values

  struct ValueCase: Sendable {
    /// The local value and its time after `now`; the value nil when it was removed.
    var local: (Int64?, time: Int64)?
    var base: (Int64?, time: Int64)?
    var remote: (Int64?, time: Int64)?
    var decision: SyncDecision
    var value: Int64?
  }

  static let values: [ValueCase] = [
    ValueCase(local: nil, base: nil, remote: (1, 5), decision: .apply, value: 1),
    ValueCase(local: nil, base: nil, remote: (nil, 5), decision: .match, value: nil),
    ValueCase(local: (1, 5), base: nil, remote: (1, 9), decision: .match, value: 1),
    ValueCase(local: (1, 5), base: nil, remote: (2, 9), decision: .apply, value: 2),
    ValueCase(local: (1, 9), base: nil, remote: (2, 5), decision: .keep, value: 1),
    ValueCase(local: (1, 5), base: nil, remote: (2, 5), decision: .apply, value: 2),
    ValueCase(local: (2, 5), base: nil, remote: (1, 5), decision: .keep, value: 2),
    // A change after the base is not older than it, whatever the clock says.
    ValueCase(local: (3, 1), base: (1, 5), remote: (2, 5), decision: .keep, value: 3),
    ValueCase(local: (1, 5), base: (0, 0), remote: (nil, 9), decision: .apply, value: nil),
    ValueCase(local: (1, 9), base: (0, 0), remote: (nil, 5), decision: .keep, value: 1),
    ValueCase(local: (nil, 9), base: (0, 0), remote: (2, 5), decision: .keep, value: nil),
    ValueCase(local: (nil, 5), base: (0, 0), remote: (2, 9), decision: .apply, value: 2),
    ValueCase(local: (nil, 5), base: (0, 0), remote: (nil, 9), decision: .match, value: nil),
    ValueCase(local: (1, 5), base: (0, 0), remote: nil, decision: .keep, value: 1),
    ValueCase(local: (nil, 5), base: (0, 0), remote: nil, decision: .match, value: nil),
  ]

  @Test("the newest value is kept, and a deletion counts with its time", arguments: values)
  func value(row: ValueCase) throws {
    let device = try StateSyncDevice(fixture)
    if let local = row.local {
      try device.state.set("v", -1, synced: true)
      fixture.pass(milliseconds: local.time)
      if let value = local.0 { try device.state.set("v", .int(value)) } else { try device.state.remove("v") }
    }
    func envelope(_ side: (Int64?, time: Int64)?) throws -> SyncEnvelope? {
      try side.map {
        try StateSyncDevice.envelope("value/v", $0.0.map { "{\"value\":\($0)}" }, time: Self.now + $0.time)
      }
    }
    let entry = try StateSyncDevice.entry(
      "value/v", base: envelope(row.base), remote: envelope(row.remote), isChanged: row.local != nil)
    #expect(try device.decide(entry) == [row.decision])
    #expect(try device.state.get("v") == row.value.map { .int($0) })
  }

  @Test("an unchanged value is replaced, also by an older one")
  func unchanged() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.set("v", 1, synced: true)
    let base = try StateSyncDevice.envelope("value/v", #"{"value":1}"#, time: Self.now)
    let remote = try StateSyncDevice.envelope("value/v", #"{"value":2}"#, time: 5)
    let entry = try StateSyncDevice.entry("value/v", base: base, remote: remote, isChanged: false)
    #expect(try device.decide(entry) == [.apply])
    #expect(try device.state.get("v") == 2)
  }

  // MARK: Marks

  @Test("an entry of a name that is not marked is merged, and marks it with its bounds")
  func adopted() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.list("l").push("mine")
    let document = #"{"items":[{"value":"theirs","time":5}],"limit":2,"unique":true}"#
    let remote = try StateSyncDevice.envelope("list/l", document, time: 5)
    let entry = try StateSyncDevice.entry("list/l", remote: remote, isChanged: false)
    #expect(try device.decide(entry) == [.merged])
    #expect(try device.state.list("l").items().map(\.value) == ["mine", "theirs"])
    #expect(try device.ids() == ["list/l"])
    #expect(try device.document("list/l")?.hasSuffix(#""limit":2,"unique":true}"#) == true)
  }

  @Test("a deletion does not change unmarked state, and no entry changes state that must not be synchronized")
  func untouched() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.set("a", 1)
    try device.state.set("b", 1, synced: false)
    let (deleted, other) = (
      try StateSyncDevice.envelope("value/a", nil, time: .max >> 12),
      try StateSyncDevice.envelope("value/b", #"{"value":2}"#, time: .max >> 12)
    )
    #expect(
      try device.decide(
        StateSyncDevice.entry("value/a", remote: deleted, isChanged: false),
        StateSyncDevice.entry("value/b", remote: other, isChanged: false)) == [.match, .waiting])
    #expect(try device.state.get("a") == 1 && device.state.get("b") == 1)
    #expect(try device.ids() == [])
  }

  // MARK: Applying

  @Test("observers are notified of the changes, and reads see them with unsaved changes on top")
  func applied() throws {
    let device = try StateSyncDevice(fixture)
    let scores = try device.state.scores("s", bounds: 0...100, synced: true)
    try scores.add("k", 1)
    let list = try device.state.list("l", synced: true)
    try list.push("saved")
    try device.state.flush()
    try scores.add("k", 10)
    try list.push("unsaved")
    let observed = StateObserved()
    let subscription = try device.store.database.observe { observed.add($0) }
    let entries = [
      try StateSyncDevice.entry(
        "scores/s",
        remote: StateSyncDevice.envelope("scores/s", #"{"scores":{"k":5},"minimum":0,"maximum":100}"#)),
      try StateSyncDevice.entry(
        "list/l", remote: StateSyncDevice.envelope("list/l", #"{"items":[{"value":"theirs","time":9}]}"#)),
      try StateSyncDevice.entry("set/m", remote: StateSyncDevice.envelope("set/m", #"{"members":[]}"#)),
    ]
    #expect(
      try device.store.database.write { try device.client.decide(entries, in: $0).decisions }
        == [.merged, .merged, .match])
    subscription.cancel()
    #expect(observed.keys == ["scores/s", "list/l"])
    #expect(try scores.value("k") == 16)
    #expect(try list.items().map(\.value) == ["unsaved", "saved", "theirs"])
    try device.state.flush()
    #expect(try scores.value("k") == 16)
    #expect(try list.items().map(\.value) == ["unsaved", "saved", "theirs"])
    #expect(try StateStore.check(device.store.database).isEmpty)
  }

  // MARK: What others have written

  static let hostile: [(id: String, document: String, version: Int64)] = [
    ("other/v", #"{"value":1}"#, 1), ("value", #"{"value":1}"#, 1), ("value/v", "{}", 1),
    ("value/v", #"{"value":1}"#, 2), ("value/v", #"{"value":1,"sensitive":1}"#, 1), ("list/l", "{}", 1),
    ("value/v", #"{"value":"# + String(repeating: "[", count: 600) + "}", 1),
    ("list/l", #"{"items":{}}"#, 1), ("list/l", #"{"items":[1]}"#, 1),
    ("list/l", #"{"items":[{"value":1}]}"#, 1), ("list/l", #"{"items":[{"value":1,"time":-1}]}"#, 1),
    ("list/l", #"{"items":[{"value":1,"time":9223372036854775807}]}"#, 1),
    ("list/l", #"{"items":[{"value":1,"time":1},{"value":2,"time":2}]}"#, 1),
    ("list/l", #"{"items":[],"limit":0}"#, 1), ("list/l", #"{"items":[],"limit":"1"}"#, 1),
    ("list/l", #"{"items":[],"max_age":-1}"#, 1), ("list/l", #"{"items":[],"unique":0}"#, 1),
    ("set/m", "{}", 1), ("set/m", #"{"members":1}"#, 1), ("scores/s", #"{"scores":{}}"#, 1),
    ("scores/s", #"{"scores":{"k":1},"minimum":2,"maximum":1}"#, 1),
    ("scores/s", #"{"scores":{"k":"1"},"minimum":0,"maximum":1}"#, 1),
    ("scores/s", #"{"scores":{"":1},"minimum":0,"maximum":1}"#, 1),
    ("scores/s", #"{"scores":[1],"minimum":0,"maximum":1}"#, 1),
    ("scores/s", #"{"scores":{"k":1e999},"minimum":0,"maximum":1}"#, 1),
  ]

  @Test("an invalid entry waits, changes nothing, and stops no other one", arguments: hostile)
  func invalid(id: String, document: String, version: Int64) throws {
    let device = try StateSyncDevice(fixture)
    for isMarked in [false, true] {
      if isMarked {
        try device.state.set("v", 1, synced: true)
        try device.state.list("l", synced: true).push(1)
        try device.state.set(named: "m", synced: true).add(1)
        try device.state.scores("s", synced: true).add("k", 0.5)
      }
      let before = try StateModel(device.state, "")
      let bad = try StateSyncDevice.envelope(id, document, time: Self.now + 1, version: version)
      let good = try StateSyncDevice.envelope("value/good", #"{"value":\#(isMarked ? 2 : 1)}"#, time: 1)
      let decisions = try device.decide(
        StateSyncDevice.entry(id, remote: bad, isChanged: isMarked),
        StateSyncDevice.entry("value/good", base: good, remote: good, isChanged: false))
      #expect(decisions == [.waiting, .apply])
      var after = try StateModel(device.state, "")
      #expect(after.values.removeValue(forKey: "good") != nil)
      var expected = before
      expected.values["good"] = nil
      #expect(after == expected)
    }
  }

  @Test("rows of state that are damaged make their entry wait, and stop no other one")
  func damaged() throws {
    let device = try StateSyncDevice(fixture)
    try device.state.scores("s", synced: true).add("k", 0.5)
    try device.state.flush()
    try device.store.database.write { transaction in
      try transaction.connection.run("UPDATE record SET body = x'7b', revision = revision + 1")
    }
    let document = #"{"scores":{"k":1},"minimum":0,"maximum":1}"#
    let scores = try StateSyncDevice.envelope("scores/s", document)
    let value = try StateSyncDevice.envelope("value/v", #"{"value":1}"#)
    #expect(
      try device.decide(
        StateSyncDevice.entry("scores/s", remote: scores),
        StateSyncDevice.entry("value/v", remote: value, isChanged: false)) == [.waiting, .apply])
    #expect(try stateCode { _ = try device.document("scores/s") } == .damaged)
  }
}
