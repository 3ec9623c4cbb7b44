import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("Syncs with an encrypted sync log")
struct SyncLogEncryptionTests {
  let store = SyncMemoryStore()
  let key: EncryptionKey
  let other: EncryptionKey
  private static let headKey = "records/somebody/head"

  init() throws {
    key = try EncryptionKey(SyncTestDevice.key)
    other = try EncryptionKey([UInt8](1...32))
  }

  private var head: SyncHead {
    get throws { try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []) }
  }

  private static var small: SyncSizes {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack) = (700, 1500, 1500)
    return sizes
  }

  @discardableResult
  private func sync(
    _ device: SyncTestDevice, _ change: (inout SyncLogOptions) -> Void = { _ in }
  ) throws -> SyncLogReport {
    try device.sync(store) {
      $0.key = key
      change(&$0)
    }
  }

  /// A device with entries in packs and inline.
  private func filled() throws -> SyncTestDevice {
    let device = try SyncTestDevice(Self.small)
    for number in 0..<12 { try device.client.edit("secret-\(number)", ["x": "correct horse \(number)"]) }
    try sync(device)
    try device.client.edit("secret-last", ["x": "battery staple"])
    try sync(device)
    #expect(try !head.packs.isEmpty && !head.inline.isEmpty)
    return device
  }

  @Test("two devices with the same key exchange their entries") func twoDevicesSame() throws {
    let (one, two) = (try filled(), try SyncTestDevice(Self.small))
    #expect(try sync(two).records.downloaded == 13)
    for round in 0..<10 {
      try one.client.edit("secret-\(round)", ["x": "again \(round)"])
      try two.client.edit("secret-\(round + 2)", round == 4 ? nil : ["y": "two \(round)"])
      try two.client.edit("new-\(round)", ["y": String(repeating: "y", count: 400)])
      for device in [two, one, two] { try sync(device) }
      #expect(try one.client.documents() == two.client.documents())
    }
    #expect(try head.key == key.name.hexadecimal)
    _ = store.takeRequests()
    try sync(one)
    #expect(store.takeRequests() == ["GET head"])
    let three = try SyncTestDevice()
    try sync(three)
    #expect(try three.client.documents() == one.client.documents())
  }

  @Test("bytes of the remote contain no ids, collections or documents") func bytesRemoteContain() throws {
    let one = try filled()
    try one.client.edit("secret-0", ["x": "correct horse again"])
    try sync(one)
    #expect(store.objects.count > 2)
    for (name, object) in store.objects {
      for word in ["secret", "horse", "staple", "things", "document", "ancestors"] {
        #expect(object.body.firstRange(of: Array(word.utf8)) == nil, "\(name) contains \(word)")
        #expect(!"\(name) \(object.metadata)".contains(word))
      }
    }
  }

  @Test("entries that have not changed have other bytes with each sealing, and the same digest")
  func entriesNotChanged() throws {
    let device = try SyncTestDevice()
    for id in ["a", "b"] { try device.client.edit(id, ["x": "1"]) }
    try sync(device)
    let (first, digest) = (try head.inline, try head.digest)
    try device.client.edit("b", ["x": "1"])
    try sync(device)
    #expect(try head.inline.first?.sequence == first.first?.sequence && head.inline.first != first.first)
    #expect(try head.digest != digest)
    try device.client.edit("a", nil)
    var plain = SyncDigest()
    for (key, entry) in try device.entries() { plain.add(key, entry.envelope) }
    #expect(try head.digest != plain)
  }

  @Test("a sync without changes is one request, and one with few changes is two") func quietSyncOne() throws {
    let device = try SyncTestDevice()
    for number in 0..<20 { try device.client.edit("\(number)", ["x": "1"]) }
    try sync(device)
    _ = store.takeRequests()
    try sync(device)
    #expect(store.takeRequests() == ["GET head"])
    try device.client.edit("1", ["x": "2"])
    try sync(device)
    #expect(store.takeRequests() == ["GET head", "PUT head"])
  }

  // MARK: Other keys

  private func bodies() -> [String: [UInt8]] { store.objects.mapValues(\.body) }

  /// Fails syncs with other keys, and with consent to all, on a device.
  private func expectUnauthorized(_ device: SyncTestDevice, _ keys: [EncryptionKey?]) throws {
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    let (before, remote) = (try device.dump(), bodies())
    for key in keys {
      let error = #expect(throws: SatchelError.self) {
        try device.sync(store) {
          $0.key = key
          ($0.sweeps, $0.purges, $0.verifies, $0.acceptsLoss) = (true, true, true, true)
        }
      }
      #expect(error?.code == .unauthorized)
    }
    #expect(try device.dump() == before)
    #expect(bodies() == remote)
  }

  @Test("a sync with another key or without one changes nothing, in the remote and in the store")
  func anotherKeyNo() throws {
    let one = try filled()
    try one.client.edit("pending", ["x": "1"])
    let two = try SyncTestDevice()
    try two.client.edit("mine", ["x": "2"])
    for device in [one, two] { try expectUnauthorized(device, [nil, other]) }
    #expect(try sync(one).sent == 1 && sync(two).sent == 1)
    #expect(try sync(one).records.downloaded == 1)
  }

  @Test("a sync with a key changes nothing in a log that is not encrypted") func keyLogHas() throws {
    let (one, two) = (try SyncTestDevice(Self.small), try SyncTestDevice())
    for number in 0..<5 { try one.client.edit("\(number)", ["x": "\(number)"]) }
    try one.sync(store)
    try one.client.edit("pending", ["x": "1"])
    for device in [one, two] { try expectUnauthorized(device, [key]) }
    #expect(try one.sync(store).sent == 1 && two.sync(store).records.downloaded == 6)
  }

  /// Half a pull, half a confirmation and a lost head are continued by a sync with the key only.
  @Test("a sync with another key does not continue an interrupted sync") func anotherKeyDoes() throws {
    let (one, two) = (try filled(), try SyncTestDevice(Self.small))
    try sync(two)
    for number in 0..<12 { try one.client.edit("secret-\(number)", ["x": "by the first, \(number)"]) }
    try sync(one)
    try two.client.edit("mine", ["x": "by the second"])
    // After a pack, in the middle of a pull; before and after the head.
    for (request, isAfter, phase) in [
      (2, false, SyncLogState.Phase.pull), (4, false, nil), (1, true, nil),
    ] {
      #expect(throws: (any Error).self) {
        try two.sync(SyncFailingStore(store, at: request, isAfter: isAfter)) { $0.key = key }
      }
      #expect(try two.ledger.state().phase == phase)
      #expect(try (two.ledger.state().upload == nil) == (phase != nil))
      try expectUnauthorized(two, [nil, other])
    }
    let object = store.objects.removeValue(forKey: Self.headKey)
    try expectUnauthorized(two, [nil, other])
    store.objects[Self.headKey] = object
    try sync(two)
    try sync(one)
    #expect(try one.client.documents() == two.client.documents())
  }

  // MARK: Damage

  @Test("a flipped bit of a pack is detected, and the pack is rewritten by a device that has it")
  func flippedBitPack() throws {
    let one = try filled()
    let pack = "records/somebody/p/\(try head.packs[0].name)"
    let count = try #require(store.objects[pack]).body.count
    for offset in [0, 12, count / 2, count - 1] {
      let present = "records/somebody/p/\(try head.packs[0].name)"
      store.objects[present]?.body[offset % (store.objects[present]?.body.count ?? 1)] ^= 4
      #expect(try sync(one) { $0.sweeps = true }.repaired == 0, "a listing does not show it")
      let two = try SyncTestDevice()
      if offset == 0 {
        #expect(try sync(one) { $0.verifies = true }.repaired == 1)
      } else {
        let error = #expect(throws: SatchelError.self) { try sync(two) }
        #expect(error?.code == .damaged)
        #expect(try sync(one).repaired == 1, "a device that could not read it has named it in the head")
      }
      #expect(try sync(two).records.downloaded == 13)
    }
  }

  @Test("a head that was changed, or that is another user's, is damaged") func headChangedAnother() throws {
    let (one, whole) = (try filled(), try #require(store.objects[Self.headKey]))
    let line = try #require(whole.body.firstIndex(of: UInt8(ascii: "\n")))
    func replace(_ body: [UInt8], _ tag: String) throws {
      store.objects[Self.headKey] = SyncMemoryStore.Object(
        body: body, etag: try #require(ETag("\"\(tag)\"")), metadata: .none)
    }
    var bodies = [
      whole.body.replacing("\"fence\":0", "\"fence\":0,\"horizon\":2"),
      whole.body.replacing("\"number\":", "\"number\":1"),
      whole.body.replacing("\"retired\":[", "\"retired\":[\"\(HexadecimalName.random(digits: 32))\""),
      Array(whole.body[...line]),
    ]
    bodies.append(whole.body)
    bodies[4][line + 20] ^= 1
    for (index, changed) in bodies.enumerated() {
      #expect(changed != whole.body)
      // A writer without the key can compute the checksum, but not the signature.
      let (line, frames) = SyncHeadChecksum.parts(of: changed)
      let body = SyncHeadChecksum.added(to: Array(line), Array(frames))
      #expect(SyncHeadChecksum.isRight(body))
      try replace(body, "changed-\(index)")
      for device in [one, try SyncTestDevice()] {
        let error = #expect(throws: SatchelError.self) { try sync(device) }
        #expect(error?.code == .damaged, "\(index): \(String(describing: error))")
        #expect(store.objects[Self.headKey]?.body == body)
      }
    }
    try replace(whole.body, "whole")
    try sync(one)
    let stranger = try UserID("stranger")
    for (name, object) in store.objects {
      store.objects[name.replacingPrefix("records/somebody", "records/stranger")] = object
    }
    let device = try SyncTestDevice()
    try device.ledger.bind(remote: "memory", user: stranger)
    var options = SyncLogOptions()
    options.key = key
    options.retry = Retry(attempts: 1, base: 0, ceiling: 0)
    var run = try SyncLogRun(device.ledger, with: store, user: stranger, options: options, probe: {})
    let error = #expect(throws: SatchelError.self) { try run.run() }
    #expect(error?.code == .damaged)
  }

  @Test("a lost head is rebuilt with the key") func lostHeadMade() throws {
    let (one, two) = (try filled(), try SyncTestDevice())
    try sync(two)
    store.objects[Self.headKey] = nil
    for device in [one, two, one] { try sync(device) }
    #expect(try head.key == key.name.hexadecimal && head.count == 13)
    #expect(try sync(SyncTestDevice()).records.downloaded == 13)
  }

  @Test("packs of a remote that lost data are opened under the log that they were sealed for")
  func packsRemoteWent() throws {
    let (one, two) = (try filled(), try SyncTestDevice(Self.small))
    let (before, log) = (store.objects, try head.position.log)
    try sync(two)
    try one.client.edit("secret-3", ["x": "later"])
    try sync(one)
    store.objects = before
    try sync(one)
    #expect(try head.origin == log && head.position.log != log && head.position.epoch == 2)
    for number in 0..<6 { try two.client.edit("two-\(number)", ["x": "more \(number)"]) }
    for device in [two, one, two] { try sync(device) }
    let three = try SyncTestDevice()
    try sync(three)
    #expect(try three.client.documents() == one.client.documents())
    #expect(try three.client.documents() == two.client.documents())
    #expect(try three.client.documents().count == 19)
    #expect(try three.client.documents()["things/secret-3"] == ["x": "later"])
    #expect(try head.origin == log)
  }

  @Test("packs that no device has are given up only when a loss is accepted") func packsNobodyGiven() throws {
    _ = try filled()
    for pack in try head.packs { store.objects["records/somebody/p/\(pack.name)"]?.body[0] ^= 1 }
    let two = try SyncTestDevice()
    #expect(throws: SatchelError.self) { try sync(two) }
    #expect(try sync(two) { $0.acceptsLoss = true }.losses.isEmpty == false)
    #expect(try head.count == 1 && head.key == key.name.hexadecimal)
    #expect(try sync(SyncTestDevice()).records.downloaded == 1)
  }
}

extension String {
  func replacingPrefix(_ old: String, _ new: String) -> String {
    hasPrefix(old) ? new + dropFirst(old.count) : self
  }
}
