import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelState

@Suite("State of several devices")
struct StateSyncTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test("a joining device receives exactly the marked state, with its marks")
  func joining() throws {
    let remote = SyncStore()
    let (phone, tablet) = (try StateSyncDevice(fixture), try StateSyncDevice(fixture))
    try phone.state.set("theme", "dark", synced: true)
    try phone.state.set("window", 1)
    try phone.state.list("searches", limit: 2, isUnique: true, synced: true).push("kepler")
    try phone.sync(remote)
    try tablet.sync(remote)
    #expect(try tablet.state.keys() == ["theme"])
    #expect(try tablet.state.get("theme") == "dark")
    #expect(try tablet.ids() == ["list/searches", "value/theme"])
    // Without a parameter, what arrived marked is sent back.
    try tablet.state.set("theme", "light")
    try tablet.state.list("searches", limit: 2, isUnique: true).push("tycho")
    try tablet.sync(remote)
    try phone.sync(remote)
    #expect(try phone.state.get("theme") == "light")
    #expect(try phone.state.list("searches").items().map(\.value) == ["tycho", "kepler"])
    try phone.state.remove("theme")
    try phone.sync(remote)
    try tablet.sync(remote)
    #expect(try tablet.state.get("theme") == nil)
    for device in [phone, tablet] {
      let report = try device.sync(remote)
      #expect(report.sent == 0 && report.state.downloaded == 0)
    }
  }

  @Test(
    "state that is no longer synchronized stays on both devices, and is synchronized again when it is marked again"
  )
  func off() throws {
    let remote = SyncStore()
    let (phone, tablet) = (try StateSyncDevice(fixture), try StateSyncDevice(fixture))
    try phone.state.set("theme", "dark", synced: true)
    try phone.sync(remote)
    try tablet.sync(remote)
    fixture.pass(milliseconds: 1)
    try phone.state.set("theme", "light", synced: false)
    try phone.sync(remote)
    try tablet.state.set("theme", "red")
    try tablet.sync(remote)
    try phone.sync(remote)
    #expect(try phone.state.get("theme") == "light")
    #expect(try tablet.state.get("theme") == "red")
    fixture.pass(milliseconds: 1)
    try phone.state.set("theme", "blue", synced: true)
    try phone.sync(remote)
    try tablet.sync(remote)
    #expect(try phone.state.get("theme") == "blue")
    #expect(try tablet.state.get("theme") == "blue")
  }

  @Test("sensitive state is not sent, and does not stop other state")
  func sensitive() throws {
    let remote = SyncStore()
    let phone = try StateSyncDevice(fixture)
    try phone.state.setKey(StateFixture.key)
    try phone.state.set("token", "secret", sensitive: true, synced: true)
    try phone.state.set(named: "m", sensitive: true, synced: true).add("secret")
    try phone.state.list("l", sensitive: true, synced: true).push("secret")
    try phone.state.set("theme", "dark", synced: true)
    let report = try phone.sync(remote)
    #expect(report.sent == 1)
    #expect(report.failed.map(\.code) == [.unauthorized, .unauthorized, .unauthorized])
    #expect(
      remote.bodies.values.allSatisfy { String(decoding: $0, as: UTF8.self).contains("secret") == false })
  }

  @Test("a sensitive list, set and scores are sealed with the key of each device, and stay so")
  func sensitiveContainers() throws {
    let encrypted = SyncStore()
    let logKey = [UInt8](repeating: 9, count: 32)
    let (phone, tablet) = (
      try StateSyncDevice(fixture, sendsSensitive: true), try StateSyncDevice(fixture, sendsSensitive: true)
    )
    try phone.state.setKey(StateFixture.key)
    try phone.state.list("l", limit: 5, sensitive: true, synced: true).push("secret 1")
    try phone.state.set(named: "m", sensitive: true, synced: true).add("secret 2")
    try phone.state.scores("s", sensitive: true, synced: true).add("secret 3", 0.5)
    #expect(try phone.document("set/m") == #"{"members":["secret 2"],"sensitive":true}"#)
    let (one, two) = (phone, tablet)
    try one.sync(encrypted, key: logKey)
    let waiting = try two.sync(encrypted, key: logKey)
    #expect(waiting.state.waiting == 3 && waiting.failed.count == 3)
    #expect(try two.state.list("l").items().isEmpty)
    try two.state.setKey(StateFixture.otherKey)
    try two.keyWasSet()
    #expect(try two.state.list("l").items().map(\.value) == ["secret 1"])
    #expect(try two.state.set(named: "m").contains("secret 2"))
    #expect(try two.state.scores("s").all().map(\.key) == ["secret 3"])
    #expect(try two.store.sealedCount() == 3)
    // Both go on, from a common base.
    fixture.pass(milliseconds: 1)
    try one.state.list("l", limit: 5).push("secret 4")
    try two.state.list("l", limit: 5).remove("secret 1")
    try one.state.set(named: "m").remove("secret 2")
    try two.state.set(named: "m").add("secret 5")
    try one.state.scores("s").add("secret 3", 0.25)
    try two.state.scores("s").add("secret 3", 0.125)
    for device in [one, two, one, two] { try device.sync(encrypted, key: logKey) }
    for device in [one, two] {
      #expect(try device.state.list("l").items().map(\.value) == ["secret 4"])
      #expect(try device.state.set(named: "m").values() == ["secret 5"])
      #expect(try device.state.scores("s").value("secret 3") == 0.875)
      #expect(try StateStore.check(device.store.database).isEmpty)
    }
    // One makes it plain again: so it is on both.
    _ = try one.state.list("l", sensitive: false)
    for device in [one, two] { try device.sync(encrypted, key: logKey) }
    #expect(try two.document("list/l") == one.document("list/l"))
    #expect(try two.store.stored(.list, "l")?.isSensitive == false)
    #expect(try two.sync(encrypted, key: logKey).sent == 0)
  }

  /// One random operation on what is synchronized.
  private func step(
    _ device: StateSyncDevice, _ sum: inout Double, _ random: inout SeededRandom, isEncrypted: Bool
  ) throws {
    if isEncrypted, random.chance(10) {
      let kind = random.pick([Change.StateKey.Kind.list, .set, .scores])
      let name = kind == .list ? "l" : kind == .set ? "m" : "s"
      return try device.state.setSensitive(kind, name, isSensitive: random.chance(70))
    }
    let number = JSONValue.int(Int64(random.below(5)))
    switch random.below(9) {
    case 0, 1: try device.state.set("v\(random.below(2))", number, synced: true)
    case 2: try device.state.remove("v\(random.below(2))")
    case 3, 4:
      try device.state.list("l", limit: 5, maxAge: 200, isUnique: random.chance(50), synced: true).push(
        number)
    case 5: try device.state.list("l").remove(number)
    case 6: try device.state.set(named: "m", synced: true).add(number)
    case 7: try device.state.set(named: "m", synced: true).remove(number)
    default:
      let delta = Double(random.below(9) - 4)
      sum += delta
      try device.state.scores("s", bounds: -1e9...1e9, synced: true).add("k", delta)
    }
  }

  @Test(
    "devices converge after any changes in any order", arguments: Portion.of(0..<60), [false, true])
  func convergence(seed: Int, isEncrypted: Bool) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let remote = SyncStore()
    let key = isEncrypted ? [UInt8](repeating: 9, count: 32) : nil
    let devices = try (0..<3).map { number in
      let device = try StateSyncDevice(fixture, sendsSensitive: isEncrypted)
      try device.state.setKey([UInt8](repeating: UInt8(number), count: 32))
      return device
    }
    // Scores that two devices have before they first meet are added only where they differ.
    try devices[0].state.scores("s", bounds: -1e9...1e9, synced: true).add("k", 0)
    for device in devices { try device.sync(remote, key: key) }
    var sum = 0.0
    for _ in 0..<60 {
      let device = random.pick(devices)
      fixture.pass(milliseconds: Int64(random.below(3)))
      if random.chance(25) {
        try device.sync(remote, key: key)
      } else {
        try step(device, &sum, &random, isEncrypted: isEncrypted)
      }
    }
    // One more where an empty list was sensitive: a device that had not changed it makes it so again.
    for _ in 0..<3 { for device in devices { try device.sync(remote, key: key) } }
    let documents = try devices.map { device in
      let ids = try device.ids()
      // A device that has seen only the deletion has no mark.
      return Dictionary(uniqueKeysWithValues: try ids.map { ($0, try device.document($0)) })
        .compactMapValues { $0 }
    }
    for (device, content) in zip(devices, documents) {
      let report = try device.sync(remote, key: key)
      #expect(report.sent == 0 && report.state.waiting == 0 && report.failed.isEmpty)
      #expect(content == documents[0])
      #expect(try device.state.scores("s", bounds: -1e9...1e9).value("k") == sum)
      #expect(try StateStore.check(device.store.database).isEmpty)
    }
  }
}
