import SatchelCore
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("A damaged head of the sync log")
struct SyncHeadDamageTests {
  let store = SyncMemoryStore()
  let keys: [EncryptionKey?]
  private static let headKey = "records/somebody/head"

  init() throws {
    keys = [nil, try EncryptionKey(SyncTestDevice.key), try EncryptionKey([UInt8](1...32))]
  }

  private func head() throws -> SyncHead { try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []) }

  /// Two devices that have read the same head, with a pack and inline entries, and each with a change of its own.
  private func filled(_ key: EncryptionKey?) throws -> (one: SyncTestDevice, two: SyncTestDevice) {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack) = (700, 1200, 1200)
    let (one, two) = (try SyncTestDevice(sizes), try SyncTestDevice(sizes))
    for number in 0..<4 { try one.client.edit("\(number)", ["x": "horse \(number)"]) }
    try one.sync(store) { $0.key = key }
    try one.client.edit("last", ["x": "staple"])
    try one.sync(store) { $0.key = key }
    try two.sync(store) { $0.key = key }
    try one.client.edit("one", ["x": "1"])
    try two.client.edit("two", ["x": "2"])
    #expect(try !head().packs.isEmpty && !head().inline.isEmpty)
    return (one, two)
  }

  private func replace(_ body: [UInt8], _ tag: String = "changed") throws {
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: body, etag: try #require(ETag("\"\(tag)\"")), metadata: .none)
  }

  private func expect(
    _ code: SatchelError.Code, _ device: SyncTestDevice, _ key: EncryptionKey?, acceptsLoss: Bool = false
  ) throws {
    let (before, remote) = (try device.dump(), store.objects.mapValues(\.body))
    let error = #expect(throws: SatchelError.self) {
      try device.sync(store) { ($0.key, $0.acceptsLoss) = (key, acceptsLoss) }
    }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(try device.dump() == before && store.objects.mapValues(\.body) == remote)
  }

  private func bound() throws -> SyncTestDevice {
    let device = try SyncTestDevice()
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    return device
  }

  /// For any remaining bytes of the head: a new device changes nothing, one that has read it rebuilds it.
  @Test("is rebuilt by a device that has read it, and not by a new one", arguments: [0, 1])
  func madeAgainByDevice(_ key: Int) throws {
    let key = keys[key]
    let (one, two) = try filled(key)
    let count = try #require(store.objects[Self.headKey]).body.count
    var damages: [([UInt8]) -> [UInt8]] = [
      { _ in [] }, { $0 + [0] }, { [UInt8](repeating: 0, count: $0.count) },
    ]
    for length in [1, 15, 30] { damages.append { Array($0.prefix(length)) } }
    damages += [{ Array($0.prefix($0.count / 2)) }, { Array($0.dropLast()) }]
    for offset in Array(0..<45) + Array(stride(from: 45, to: count, by: 29)) {
      damages.append { body in
        var body = body
        body[offset % body.count] ^= 1 << UInt8(offset % 8)
        return body
      }
    }
    for (index, damage) in damages.enumerated() {
      let before = try head()
      try replace(damage(try #require(store.objects[Self.headKey]).body), "damaged-\(index)")
      try expect(.damaged, bound(), key)
      try one.sync(store) { $0.key = key }
      let after = try head()
      #expect(after.position.epoch == before.position.epoch + 1 && after.key == before.key)
      if index % 8 == 0 {
        try two.sync(store) { $0.key = key }
        let three = try SyncTestDevice()
        try three.sync(store) { $0.key = key }
        try one.sync(store) { $0.key = key }
        for device in [one, two] { #expect(try device.client.documents() == three.client.documents()) }
        #expect(try three.client.documents().count == 7)
      }
    }
  }

  @Test("does not replace a head that another device has written meanwhile") func notReplacedByOne() throws {
    let (one, two) = try filled(nil)
    try replace([1, 2, 3])
    let epochs = Locked<[Int64]>([])
    let racing = SyncInterceptingStore(store) { method in
      guard method == "PUT", epochs.withLock({ $0.isEmpty }) else { return }
      try two.sync(store)
      let epoch = try head().position.epoch
      epochs.withLock { $0.append(epoch) }
    }
    try one.sync(racing)
    #expect(try epochs.withLock { $0 } == [2] && head().position.epoch == 2)
    try two.sync(store)
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 7)
  }

  @Test("of another key is not replaced, also when a loss is accepted") func otherKeyLeft() throws {
    let (one, two) = try filled(keys[1])
    let body = try #require(store.objects[Self.headKey]).body
    for (index, damaged) in [Array(body.dropLast()), Array(body.prefix(40))].enumerated() {
      try replace(damaged, "\(index)")
      for device in [one, try bound()] {
        for other in [keys[0], keys[2]] {
          for accepts in [false, true] { try expect(.unauthorized, device, other, acceptsLoss: accepts) }
        }
      }
    }
    // Nothing shows the key: a device that knows another one leaves it alone.
    try replace([])
    for other in [keys[0], keys[2]] { try expect(.unauthorized, two, other, acceptsLoss: true) }
    for device in [two, one, two] { try device.sync(store) { $0.key = keys[1] } }
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 7)
  }

  @Test("is rebuilt with the key of the device") func keyGivenMade() throws {
    let (one, two) = try filled(nil)
    var run = try one.run(store)
    _ = try run.rekey(to: keys[1])
    try replace(Array(try #require(store.objects[Self.headKey]).body.dropLast()))
    try expect(.unauthorized, two, nil)
    for device in [two, one, two] { try device.sync(store) { $0.key = keys[1] } }
    #expect(try head().key == keys[1]?.name.hexadecimal)
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 7)
  }

  /// Nothing but another writer makes such a head: what it means is not known.
  @Test(
    "that is invalid under a matching checksum is replaced only when a loss is accepted", arguments: [0, 1])
  func writtenSoReplaced(_ key: Int) throws {
    let (key, isSealed) = (keys[key], key == 1)
    let (one, two) = try filled(key)
    var changed = try head()
    if isSealed {
      changed.horizon = 2
    } else {
      changed.inlineFrom = 1
    }
    let body = changed.serialized()
    #expect(SyncHeadChecksum.isRight(body))
    try replace(body)
    for device in [one, two, try bound()] { try expect(.damaged, device, key) }
    try one.sync(store) { ($0.key, $0.acceptsLoss) = (key, true) }
    for device in [two, one] { try device.sync(store) { $0.key = key } }
    #expect(try one.client.documents() == two.client.documents() && one.client.documents().count == 7)
  }

  @Test("is distinguished from a newer format") func notTakenNewer()
    throws
  {
    let (one, _) = try filled(nil)
    let whole = try #require(store.objects[Self.headKey]).body
    let newer = whole.replacing("\"format\":2", "\"format\":3")
    #expect(!SyncHeadChecksum.isRight(newer))
    let (line, frames) = SyncHeadChecksum.parts(of: newer)
    try replace(SyncHeadChecksum.added(to: Array(line), Array(frames)), "newer")
    for device in [one, try bound()] { try expect(.newer, device, nil, acceptsLoss: true) }
    try replace(newer, "damaged")
    try one.sync(store)
    #expect(try head().position.epoch == 2)
  }

  @Test("that kept its ETag is found by a sync that verifies") func keptETagFound() throws {
    let (one, _) = try filled(nil)
    try one.sync(store)
    store.objects[Self.headKey]?.body[60] ^= 1
    try one.sync(store)
    #expect(throws: SatchelError.self) { try SyncTestDevice().sync(store) }
    try one.sync(store) { $0.verifies = true }
    #expect(try SyncTestDevice().sync(store).records.downloaded == 6)
  }

  @Test("shows its key as long as its beginning is readable") func showsWhoseWas() throws {
    let names = try keys.map { try $0.map { try SyncLogKey($0) }?.name }
    for (index, own) in keys.enumerated() {
      var head = try SyncValues.head()
      head.sign(try own.map { try SyncLogKey($0) }, SyncTestDevice.user)
      let body = head.serialized()
      #expect(SyncHeadChecksum.isRight(body))
      for (other, name) in names.enumerated() {
        let owner: SyncHeadChecksum.Owner = other == index ? .own : own == nil ? .unencrypted : .other
        #expect(SyncHeadChecksum.owner(of: body, key: name) == owner)
        for offset in body.indices {
          var flipped = body
          flipped[offset] ^= 2
          #expect(!SyncHeadChecksum.isRight(flipped))
          #expect(SyncHeadChecksum.owner(of: flipped, key: name) == owner)
          let ofCut = SyncHeadChecksum.owner(of: Array(body.prefix(offset)), key: name)
          #expect(ofCut != (owner == .own ? .other : .own))
          // Eight digits of the key's name are enough.
          if offset >= #"{"format":2,"key":""#.utf8.count + 8 { #expect(ofCut == owner) }
        }
        for body in [[], Array("<html>the server is tired, please come back</html>".utf8)] {
          #expect(SyncHeadChecksum.owner(of: body, key: name) == .unknown)
        }
      }
    }
  }
}
