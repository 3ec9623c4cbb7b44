import SatchelCore
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("Changing the key of a sync log")
struct SyncLogRekeyTests {
  let store = SyncMemoryStore()
  let keys: [EncryptionKey?]
  private static let headKey = "records/somebody/head"

  init() throws {
    keys = [nil, try EncryptionKey(SyncTestDevice.key), try EncryptionKey([UInt8](1...32))]
  }

  private func head(_ store: SyncMemoryStore) throws -> SyncHead {
    try SyncHead(parsing: store.objects[Self.headKey]?.body ?? [])
  }

  /// Two devices with packs and inline entries; the second has a change that was not sent.
  private func filled(_ key: EncryptionKey?, _ store: SyncMemoryStore) throws -> (
    one: SyncTestDevice, two: SyncTestDevice
  ) {
    var sizes = SyncSizes()
    (sizes.inline, sizes.smallestPack, sizes.largestPack) = (700, 1200, 1200)
    let (one, two) = (try SyncTestDevice(sizes), try SyncTestDevice(sizes))
    for number in 0..<8 { try one.client.edit("secret-\(number)", ["x": "horse \(number)"]) }
    try one.sync(store) { $0.key = key }
    try one.client.edit("secret-0", nil)
    try one.sync(store) { $0.key = key }
    try two.sync(store) { $0.key = key }
    try two.client.edit("two", ["x": "pending"])
    return (one, two)
  }

  private func expectUnauthorized(
    _ device: SyncTestDevice, _ key: EncryptionKey?, _ store: SyncMemoryStore, acceptsLoss: Bool = true
  ) throws {
    let (before, remote) = (try device.dump(), store.objects.mapValues(\.body))
    let error = #expect(throws: SatchelError.self) {
      try device.sync(store) { ($0.key, $0.acceptsLoss) = (key, acceptsLoss) }
    }
    #expect(error?.code == .unauthorized)
    #expect(try device.dump() == before && store.objects.mapValues(\.body) == remote)
  }

  /// Syncs with the new key; a decryption is followed by the same call.
  @discardableResult
  private func follow(
    _ device: SyncTestDevice, from old: EncryptionKey?, to new: EncryptionKey?, _ store: SyncMemoryStore
  ) throws -> SyncLogReport {
    guard new == nil, old != nil else { return try device.sync(store) { $0.key = new } }
    var run = try device.run(store) { $0.key = old }
    return try run.rekey(to: nil)
  }

  @Test("a new log has all entries under the new key, and devices join it with that key only")
  func newLogHas() throws {
    let (one, two) = try filled(nil, store)
    for (old, new) in [(0, 1), (1, 2), (2, 0)] {
      let before = try head(store)
      let names = Set(store.objects.keys).subtracting([Self.headKey])
      var run = try one.run(store) { $0.key = keys[old] }
      #expect(try run.rekey(to: keys[new]).commits == 1)
      let head = try head(store)
      #expect(head.key == keys[new]?.name.hexadecimal && head.count == before.count)
      #expect(head.position.epoch == before.position.epoch + 1 && head.position.log != before.position.log)
      #expect(head.position.number > before.position.number)
      #expect(names.isDisjoint(with: store.objects.keys), "the packs of the old log are deleted")
      try expectUnauthorized(one, keys[old], store)
      // One that has read the log with the key would replace a log without one, when the loss is accepted.
      try expectUnauthorized(two, keys[old], store, acceptsLoss: new != 0)
      if new != 0 {
        for object in store.objects.values {
          #expect(object.body.firstRange(of: Array("horse".utf8)) == nil)
          #expect(object.body.firstRange(of: Array("secret".utf8)) == nil)
        }
      }
      if old == 0 { #expect(try two.sync(store) { $0.key = keys[new] }.sent == 1) }
      #expect(try one.sync(store) { $0.key = keys[new] }.resent == 0)
      let three = try SyncTestDevice()
      try three.sync(store) { $0.key = keys[new] }
      #expect(try three.client.documents() == one.client.documents())
      #expect(try three.client.documents().count == 8)
      try follow(two, from: keys[old], to: keys[new], store)
      #expect(try two.client.documents() == one.client.documents())
    }
  }

  /// Two processes of one device: one changes the key after the other one has read the log, and before it sends.
  @Test("a sync changes nothing when another process of the store changes the key meanwhile")
  func keyChangesMeanwhile() throws {
    for (old, new) in [(0, 1), (1, 2), (1, 0)] {
      let store = SyncMemoryStore()
      let (one, two) = try filled(keys[old], store)
      try one.client.edit("one", ["x": "pending"])
      let changed = Locked(false)
      let rekeyed = Locked<[String: [UInt8]]>([:])
      let error = #expect(throws: SatchelError.self) {
        try one.sync(store) { options in
          options.key = keys[old]
          options.progress = { [keys] progress in
            guard case .decide = progress, !changed.withLock({ $0 }) else { return }
            changed.withLock { $0 = true }
            var other = try one.run(store) { $0.key = keys[old] }
            _ = try other.rekey(to: keys[new])
            try one.client.edit("late", ["x": "pending"])
            rekeyed.withLock { $0 = store.objects.mapValues(\.body) }
          }
        }
      }
      #expect(error?.code == .unauthorized)
      #expect(try head(store).key == keys[new]?.name.hexadecimal)
      #expect(store.objects.mapValues(\.body) == rekeyed.withLock { $0 })
      for device in [one, two, one] { try follow(device, from: keys[old], to: keys[new], store) }
      #expect(try two.client.documents() == one.client.documents())
      #expect(try one.client.documents().count == 10)
    }
  }

  @Test("a log that has the key already is only synced, and one of a third key changes nothing")
  func logHasKey() throws {
    let (one, two) = try filled(keys[1], store)
    let (third, before) = (try EncryptionKey([UInt8](2...33)), store.objects.mapValues(\.body))
    var run = try one.run(store) { $0.key = keys[1] }
    #expect(try run.rekey(to: keys[1]).commits == 0)
    for old in [nil, third] {
      var run = try one.run(store) { $0.key = old }
      #expect(try run.rekey(to: keys[1]).commits == 0)
      var other = try one.run(store) { $0.key = old }
      let error = #expect(throws: SatchelError.self) { try other.rekey(to: keys[2]) }
      #expect(error?.code == .unauthorized)
    }
    #expect(store.objects.mapValues(\.body) == before)
    #expect(try two.sync(store) { $0.key = keys[1] }.sent == 1)
  }

  @Test("a log that does not exist is encrypted from the start") func logDoesNot() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    var run = try one.run(store)
    _ = try run.rekey(to: keys[1])
    try expectUnauthorized(one, nil, store)
    try two.client.edit("a", ["x": "1"])
    try two.sync(store) { $0.key = keys[1] }
    #expect(try one.sync(store) { $0.key = keys[1] }.records.downloaded == 1)
  }

  @Test("when another device is faster, the rekey is repeated with that device's changes")
  func whereAnotherDevice()
    throws
  {
    let (one, two) = try filled(nil, store)
    let racing = SyncInterceptingStore(store) { method in
      if method == "PUT" { try two.sync(store) }
    }
    var run = try one.run(racing)
    _ = try run.rekey(to: keys[1])
    let three = try SyncTestDevice()
    try three.sync(store) { $0.key = keys[1] }
    #expect(try three.client.documents()["things/two"] == ["x": "pending"])
    #expect(try one.client.documents() == three.client.documents())
  }

  @Test("deletions that are no longer in the log stay deleted") func deletionsNoLonger() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    for number in 0..<3 { try one.client.edit("secret-\(number)", ["x": "horse"]) }
    for device in [one, two] { try device.sync(store) }
    try one.client.edit("secret-0", nil)
    try one.sync(store)
    var head = try head(store)
    let (number, key) = (head.position.number, try SyncKey("things", "secret-0"))
    // The deletion leaves the log.
    let entries = try head.entries(nil)
    for entry in entries where entry.envelope.key == key {
      head.digest.remove(key, entry.envelope.bytes)
      head.count -= 1
      head.bytes -= Int64(entry.envelope.bytes.count)
    }
    head.inline.removeAll { frame in
      entries.contains { $0.sequence == frame.sequence && $0.envelope.key == key }
    }
    (head.position.number, head.horizon, head.id) = (
      number + 1, number + 1, HexadecimalName.random(digits: 32)
    )
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: head.serialized(), etag: try #require(ETag("\"horizon\"")), metadata: .none)
    var run = try one.run(store)
    _ = try run.rekey(to: keys[1])
    #expect(try self.head(store).horizon == number + 1)
    #expect(try two.sync(store) { $0.key = keys[1] }.records.deletedLocally == 1)
    #expect(try two.client.documents().keys.sorted() == ["things/secret-1", "things/secret-2"])
  }

  /// Whatever request is the last one, the remote has the old log or the new one, whole.
  @Test("a crash leaves the old log or the new one", arguments: [(0, 1), (1, 2), (1, 0)])
  func crashLeavesOld(_ old: Int, _ new: Int) throws {
    var (request, isDone, seen) = (0, false, Set<String?>())
    while !isDone {
      for isAfter in [false, true] {
        let store = SyncMemoryStore()
        let (one, two) = try filled(keys[old], store)
        let failing = SyncFailingStore(store, at: request, isAfter: isAfter)
        var run = try one.run(failing) { $0.key = keys[old] }
        do {
          _ = try run.rekey(to: keys[new])
          isDone = true
        } catch {
          #expect(failing.requests > request, "\(error)")
        }
        let present = try head(store).key
        seen.insert(present)
        let key = present == keys[old]?.name.hexadecimal ? keys[old] : keys[new]
        let three = try SyncTestDevice()
        #expect(try three.sync(store) { $0.key = key }.records.downloaded == 7)
        try follow(one, from: keys[old], to: key, store)
        #expect(try one.client.documents() == three.client.documents())
        // It is called again, with the key of before.
        var again = try one.run(store) { $0.key = keys[old] }
        _ = try again.rekey(to: keys[new])
        #expect(try head(store).key == keys[new]?.name.hexadecimal)
        try expectUnauthorized(two, keys[old], store, acceptsLoss: new != 0)
        #expect(try follow(two, from: keys[old], to: keys[new], store).sent == 1)
        try one.sync(store) { $0.key = keys[new] }
        #expect(try one.client.documents() == two.client.documents())
        try one.sync(store) { ($0.key, $0.sweeps) = (keys[new], true) }
        #expect(
          store.objects.count == 1 + (try head(store)).packs.count, "what neither log names is deleted")
      }
      request += 1
    }
    #expect(request > 6 && seen.count == 2)
  }
}
