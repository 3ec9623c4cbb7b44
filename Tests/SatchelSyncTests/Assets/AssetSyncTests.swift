import SatchelCore
import SatchelRemote
import SatchelStorage
import Testing

@testable import SatchelSync

@Suite("Assets between devices") struct AssetSyncTests {
  let store = SyncMemoryStore()
  let one: AssetTestDevice
  let two: AssetTestDevice

  init() throws {
    one = try AssetTestDevice()
    two = try AssetTestDevice(time: one.time)
  }

  /// The check of all tables, on both devices.
  private func check() throws {
    for device in [one, two] { #expect(try device.device.check().map(\.message) == []) }
  }

  @Test("a record goes with its picture in three requests, and the picture is fetched when it is needed")
  func picture() throws {
    let picture = try one.put("a", [AssetContent(size: 100_000)])[0]
    _ = store.takeRequests()
    let report = try one.sync(store)
    #expect(store.takeRequests().map { $0.prefix(4) } == ["GET ", "PUT ", "PUT "])
    #expect(report.assets.uploaded == 1 && report.records.uploaded == 1)
    let report2 = try two.sync(store)
    #expect(report2.records.downloaded == 1 && two.folder.digests.isEmpty && report2.assets.downloaded == 0)
    try two.reader(store).fetch(picture)
    #expect(two.folder.bytes(picture) == one.folder.bytes(picture))
    #expect(try two.assets() == one.assets())
    #expect(try one.sync(store) == SyncLogReport())
    try check()
  }

  @Test("small contents share an object, which hides neither of them") func bundle() throws {
    let contents = (0..<20).map { AssetContent(size: 20_000 + $0) } + [AssetContent([])]
    let digests = try one.put("a", contents)
    try one.sync(store)
    #expect(store.assetKeys.count == 1)
    try two.sync(store) { $0.assets = .all }
    for digest in digests { #expect(two.folder.bytes(digest) == one.folder.bytes(digest)) }
    try check()
  }

  @Test("nothing is downloaded above a limit, and the newest first") func limit() throws {
    let old = try one.put("a", [AssetContent(size: 1000)])[0]
    try one.sync(store)
    let new = try one.put("b", [AssetContent(size: 900)])[0]
    try one.sync(store)
    let report = try two.sync(store) { $0.assets = .bytes(1500) }
    #expect(report.assets.downloaded == 1 && two.folder.digests == [new])
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == [old, new])
  }

  @Test("rule 2: a record whose asset is nowhere waits with a reason, with its transaction, and others go")
  func waits() throws {
    let missing = AssetContent(size: 7)
    let keys = try ["x", "y"].map { try SyncKey("things", $0) }
    try one.device.client.edit(
      keys.map { ($0, AssetTestDevice.fields($0.id == "y" ? [missing.digest] : [])) })
    try one.put("z", [AssetContent(size: 8)])
    let report = try one.sync(store)
    #expect(report.failed.map(\.id) == ["y"] && report.failed.first?.code == .notFound)
    #expect(report.failed.first?.message.contains("\(missing.digest)") ?? false)
    #expect(report.records.uploaded == 1)
    try two.sync(store)
    #expect(try two.device.client.documents().keys.sorted() == ["things/z"])
    // Its bytes come.
    try one.folder.add(missing)
    #expect(try one.sync(store).records.uploaded == 2)
    try two.sync(store)
    #expect(try two.device.client.documents().count == 3)
    try check()
  }

  @Test("a file that cannot be read stops its record only") func unreadable() throws {
    try one.put("a", [AssetContent(size: 5)])
    let changed = AssetContent(size: 6)
    let digest = try one.put("b", [changed])[0]
    // Its bytes are other ones than its SHA-256 says.
    one.folder.remove(digest)
    try one.folder.damage(changed)
    let report = try one.sync(store)
    #expect(report.failed.map(\.id) == ["b"] && report.failed.first?.code == .damaged)
    #expect(report.records.uploaded == 1)
    #expect(try one.assets().count == 1)
    try check()
  }

  @Test("on a metered line a record waits, and goes later") func metered() throws {
    try one.put("a", [AssetContent(size: 5)])
    let report = try one.sync(store) { $0.uploadsAssets = false }
    #expect(report.failed.map(\.code) == [.unavailable] && store.assetKeys.isEmpty)
    #expect(try one.sync(store).records.uploaded == 1)
  }

  @Test("the same content of two devices is in one object") func same() throws {
    let content = AssetContent(size: 3000)
    try one.put("a", [content])
    try two.put("b", [content])
    try one.sync(store)
    let report = try two.sync(store)
    #expect(report.assets.uploaded == 0 && store.assetKeys.count == 1)
    try check()
  }

  @Test("a large content is reserved, and uploaded after another commit") func large() throws {
    let content = AssetContent([UInt8](repeating: 7, count: 17 << 20))
    let digest = try one.put("a", [content])[0]
    let report = try one.sync(store)
    #expect(report.commits == 2 && report.records.uploaded == 1)
    let entry = try #require(try one.assets()[digest])
    #expect(entry.isReadable && entry.reservations.isEmpty && store.assetKeys.count == 1)
    try two.sync(store)
    // A player reads parts of it.
    let reader = try two.reader(store)
    for range in [0..<10, 65_530..<65_540, (17 << 20) - 5..<(17 << 20) + 5] as [Range<Int64>] {
      #expect(try reader.read(digest, range).count == range.clamped(to: 0..<17 << 20).count)
    }
    #expect(two.folder.digests.isEmpty)
    try check()
  }

  @Test("a download goes on where it stopped, and does not believe what it finds") func resume() throws {
    let content = AssetContent(size: 300_000)
    let digest = try one.put("a", [content])[0]
    try one.sync(store)
    try two.sync(store)
    for beginning in [
      Array(content.bytes.prefix(131_072)), Array(content.bytes.prefix(70_000)),
      [UInt8](repeating: 0, count: 65_536), content.bytes, content.bytes + [1],
    ] {
      two.folder.remove(digest)
      try two.folder.leave(beginning, of: digest)
      try two.reader(store).fetch(digest)
      #expect(two.folder.bytes(digest) == content.bytes)
    }
  }

  @Test(
    "rule 7: an object that cannot be read is marked, uploaded again by a device that has the bytes, and not deleted"
  )
  func suspect() throws {
    let content = AssetContent(size: 4000)
    let digest = try one.put("a", [content])[0]
    try one.sync(store)
    try two.sync(store)
    let key = store.assetKeys[0]
    let good = try #require(store.objects[key])
    var damaged = good
    damaged.body[2000] ^= 1
    for object in [damaged, nil] {
      store.objects[key] = object
      let error = #expect(throws: SatchelError.self) { try two.reader(store).fetch(digest) }
      #expect(error?.code == (object == nil ? .notFound : .damaged))
      #expect(two.folder.digests.isEmpty)
    }
    // It was only not visible for a while.
    store.objects[key] = good
    try two.sync(store)
    #expect(
      try two.assets()[digest]?.isSuspect == false
        && two.device.number("SELECT count(doubt) FROM sync_asset") == 0)
    store.objects[key] = nil
    #expect(throws: SatchelError.self) { try two.reader(store).fetch(digest) }
    try two.sync(store)
    #expect(try two.assets()[digest]?.isSuspect == true)
    #expect(
      try two.assets()[digest]?.location?.object.description
        == String(key.dropFirst("assets/somebody/".count)))
    let report = try one.sync(store)
    #expect(report.assets.uploaded == 1 && store.assetKeys.count == 1 && store.assetKeys[0] != key)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.bytes(digest) == content.bytes)
    try check()
  }

  @Test("rules 4 and 5: what nothing refers to is marked, and deleted when the horizon has passed the mark")
  func garbage() throws {
    let day: Int64 = 86_400_000
    func later(_ days: Int64, _ id: String) throws {
      one.time.withLock { $0 += days * day }
      try one.refer(id, [])
      try one.sync(store)
    }
    let digest = try one.put("a", [AssetContent(size: 10)])[0]
    try one.sync(store)
    try later(1, "x")
    try one.refer("a", [])
    try one.sync(store)
    let marked = try #require(try one.assets()[digest]?.unused)
    #expect(marked == (try store.readHead()).position.number)
    // It is needed again for a while: the mark counts from its end.
    try one.refer("b", [digest])
    try one.sync(store)
    #expect(try one.assets()[digest]?.unused == nil)
    try one.delete("b")
    try one.sync(store)
    #expect(try #require(try one.assets()[digest]?.unused) > marked)
    for week in 0..<13 { try later(7, "w\(week)") }
    #expect(store.assetKeys.count == 1)
    try later(8, "y")
    try later(8, "z")
    #expect(try store.assetKeys == [] && one.assets() == [:])
    try two.sync(store)
    try check()
  }

  @Test("a purge deletes at once what nothing refers to") func purge() throws {
    let digest = try one.put("a", [AssetContent(size: 10), AssetContent(size: 11)])[0]
    try one.sync(store)
    try one.refer("a", [digest])
    try one.sync(store) { $0.purges = true }
    #expect(try one.assets().keys.sorted() == [digest])
    // They shared an object, and one of them is needed.
    #expect(store.assetKeys.count == 1)
    try one.delete("a")
    try one.sync(store)
    #expect(store.assetKeys.count == 1)
    try one.sync(store) { $0.purges = true }
    #expect(try store.assetKeys == [] && one.assets() == [:])
    try two.sync(store)
    try check()
  }

  @Test(
    "rule 6: a sweep deletes objects of crashes, after a head with a new fence, and nothing that is named")
  func sweep() throws {
    try one.put("a", [AssetContent(size: 10)])
    try one.sync(store)
    let named = store.assetKeys
    let (log, fence) = (try store.readHead().position.log, try store.readHead().fence)
    let orphan = AssetObject(log: log, fence: fence)
    let later = AssetObject(log: log, fence: fence + 1000)
    let foreign = AssetObject(log: "00112233445566aa", fence: 0)
    for object in [orphan, later, foreign] { try store.put(try object.key(SyncTestDevice.user), [1]) }
    try store.put(try ObjectKey("assets/somebody/readme.txt"), [1])
    try one.put("b", [AssetContent(size: 11)])
    try one.sync(store) { $0.sweeps = true }
    let keys = Set(store.assetKeys)
    #expect(!keys.contains("assets/somebody/\(orphan)") && keys.isSuperset(of: named))
    #expect(keys.contains("assets/somebody/\(later)") && keys.contains("assets/somebody/\(foreign)"))
    #expect(keys.contains("assets/somebody/readme.txt") && keys.count == 5)
    #expect(try store.readHead().fence > fence)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests.count == 2)
    try check()
  }

  @Test("a sweep finds what is named and not there, and the next one of a device with the bytes uploads it")
  func lost() throws {
    let digest = try one.put("a", [AssetContent(size: 10)])[0]
    try one.sync(store)
    store.objects[store.assetKeys[0]] = nil
    try one.sync(store) { $0.sweeps = true }
    try one.sync(store) { $0.sweeps = true }
    #expect(store.assetKeys.count == 1)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == [digest])
    try check()
  }

  @Test("after a lost head the objects are named again, and deleted only when that can no longer happen")
  func lostHead() throws {
    let (mine, both) = (AssetContent(size: 10), AssetContent(size: 11))
    try one.put("a", [mine, both])
    try one.sync(store)
    try two.sync(store)
    one.folder.remove(mine.digest)
    let keys = store.assetKeys
    store.objects[SyncMemoryStore.head] = nil
    // Neither has the bytes of the first one: two adopts its object.
    try two.sync(store)
    #expect(try two.assets()[mine.digest]?.isSuspect == true)
    #expect(store.assetKeys == keys)
    try one.sync(store) { $0.sweeps = true }
    try two.sync(store) { $0.sweeps = true }
    try two.sync(store) { $0.sweeps = true }
    let entries = try two.assets()
    #expect(entries[mine.digest]?.isReadable == true && entries[both.digest]?.isReadable == true)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == [mine.digest, both.digest])
    #expect(try store.readHead().adopts)
    try check()
  }

  @Test("in an encrypted log it is the same") func encrypted() throws {
    let key = try EncryptionKey(SyncTestDevice.key)
    let digest = try one.put("a", [AssetContent(size: 1000)])[0]
    try one.sync(store) { $0.key = key }
    try two.sync(store) { ($0.key, $0.assets) = (key, .all) }
    #expect(two.folder.digests == [digest])
    let body = try #require(store.objects[SyncMemoryStore.head]?.body)
    #expect(!String(decoding: body, as: UTF8.self).contains("\(digest)"))
    try check()
  }

  @Test("an upload whose head lost a race is used by the next head") func race() throws {
    try one.put("a", [AssetContent(size: 1000)])
    let other = two
    let racing = SyncInterceptingStore(store, each: true) { method in
      guard method == "PUT", try other.device.client.documents().count < 2 else { return }
      try other.put("b\(try other.device.client.documents().count)", [AssetContent(size: 50)])
      try other.sync(store)
    }
    let report = try one.sync(racing)
    #expect(report.records.uploaded == 1)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests.count == 2)
    try one.sync(store) { $0.sweeps = true }
    try one.sync(store) { $0.sweeps = true }
    #expect(Set(store.assetKeys).count <= 3)
    try check()
  }

  @Test("a crash at any request loses nothing, and what it leaves is swept", arguments: [false, true])
  func crashes(isAfter: Bool) throws {
    for request in 0..<12 {
      let (store, one, two) = (SyncMemoryStore(), try AssetTestDevice(), try AssetTestDevice())
      try one.put("a", [AssetContent(size: 1000), AssetContent(size: 300_000)])
      try one.sync(store)
      try one.put("b", [AssetContent(size: 1001)])
      try one.refer("a", [AssetContent(size: 1000).digest])
      let failing = SyncFailingStore(store, at: request, isAfter: isAfter)
      _ = try? one.sync(failing) { $0.sweeps = true }
      try two.sync(store)
      try one.sync(store)
      try two.sync(store) { $0.assets = .all }
      #expect(two.folder.digests.count == 2)
      for _ in 0..<2 { try one.sync(store) { $0.sweeps = true } }
      // The third is marked, and not dropped yet.
      let named = Set(try one.assets().values.flatMap(\.objects).map { "assets/somebody/\($0)" })
      #expect(Set(store.assetKeys) == named && named.count == 3, "request \(request)")
      for device in [one, two] { #expect(try device.device.check().map(\.message) == []) }
    }
  }
}
