import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelTesting
import Testing

import SatchelState

@Suite("State of several devices")
struct StateSyncTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  @Test("a device that joins has what is marked, with its marks, and no more")
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
      #expect(report.sent == 0 && report.applied == 0)
    }
  }

  @Test("what is no longer synchronized stays on both devices, and follows again when it is marked again")
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

  @Test("a sensitive value is not sent, and stops no other one")
  func sensitive() throws {
    let remote = SyncStore()
    let phone = try StateSyncDevice(fixture)
    try phone.state.setKey(StateFixture.key)
    try phone.state.set("token", "secret", sensitive: true, synced: true)
    try phone.state.set("theme", "dark", synced: true)
    let report = try phone.sync(remote)
    #expect(report.sent == 1)
    #expect(report.failed.map(\.code) == [.unauthorized])
    #expect(
      remote.bodies.values.allSatisfy { String(decoding: $0, as: UTF8.self).contains("secret") == false })
  }

  /// One random operation on what is synchronized.
  private func step(_ device: StateSyncDevice, _ sum: inout Double, _ random: inout SeededRandom) throws {
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

  @Test("devices that change anything in any order have the same in the end", arguments: 0..<60)
  func convergence(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let remote = SyncStore()
    let devices = try (0..<3).map { _ in try StateSyncDevice(fixture) }
    // Scores that two devices have before they first meet are added only where they differ.
    try devices[0].state.scores("s", bounds: -1e9...1e9, synced: true).add("k", 0)
    for device in devices { try device.sync(remote) }
    var sum = 0.0
    for _ in 0..<60 {
      let device = random.pick(devices)
      fixture.pass(milliseconds: Int64(random.below(3)))
      if random.chance(25) { try device.sync(remote) } else { try step(device, &sum, &random) }
    }
    for _ in 0..<2 { for device in devices { try device.sync(remote) } }
    let documents = try devices.map { device in
      let ids = try device.ids()
      // A device that has seen only the deletion has no mark.
      return Dictionary(uniqueKeysWithValues: try ids.map { ($0, try device.document($0)) })
        .compactMapValues { $0 }
    }
    for (device, content) in zip(devices, documents) {
      let report = try device.sync(remote)
      #expect(report.sent == 0 && report.waiting == 0 && report.failed.isEmpty)
      #expect(content == documents[0])
      #expect(try device.state.scores("s", bounds: -1e9...1e9).value("k") == sum)
      #expect(try StateStore.check(device.store.database).isEmpty)
    }
  }
}
