import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelSync

@Suite("Assets that are lost, repaired and dropped") struct AssetLossTests {
  let store = SyncMemoryStore()
  let one: AssetTestDevice
  let two: AssetTestDevice

  init() throws {
    one = try AssetTestDevice()
    two = try AssetTestDevice(time: one.time)
  }

  private func check() throws {
    for device in [one, two] { #expect(try device.device.check().map(\.message) == []) }
  }

  @Test(
    "a loss that is accepted sends the record, the asset is missing, and any device that gets the bytes uploads them",
    arguments: [1000, 17 << 20])
  func acceptedLoss(size: Int) throws {
    let content = AssetContent([UInt8](repeating: 3, count: size))
    try one.refer("a", [content.digest])
    #expect(try one.sync(store).failed.map(\.code) == [.notFound])
    let report = try one.sync(store) { $0.acceptsLoss = true }
    #expect(report.failed.isEmpty && report.records.uploaded == 1 && report.assets.uploaded == 0)
    #expect(try two.sync(store).records.downloaded == 1)
    let entry = try #require(try two.assets()[content.digest])
    #expect(entry.location == nil && entry.isSuspect)
    let error = #expect(throws: SatchelError.self) { try two.reader(store).fetch(content.digest) }
    #expect(error?.code == .notFound)
    // A change of the record goes, too.
    try one.refer("a", [content.digest])
    let fields = ["0": "\(content.digest)", "x": "y"]
    try one.device.client.edit([(try SyncKey("things", "a"), fields)], now: one.now)
    #expect(try one.sync(store) { $0.acceptsLoss = true }.failed.isEmpty)
    try two.sync(store)
    try two.folder.add(content)
    let repair = try two.sync(store)
    #expect(repair.assets.uploaded == 1 && repair.assets.repaired == 1)
    try one.sync(store) { $0.assets = .all }
    #expect(one.folder.bytes(content.digest) == content.bytes)
    #expect(try one.sync(store) == SyncLogReport())
    try check()
  }

  @Test("bytes that are here are not lost, even when they cannot be uploaded") func notLost() throws {
    let content = AssetContent(size: 300)
    try one.put("a", [content])
    let report = try one.sync(store) { ($0.acceptsLoss, $0.uploadsAssets) = (true, false) }
    #expect(report.failed.map(\.code) == [.unavailable])
    #expect(try one.assets() == [:])
    // A file with other bytes is a loss.
    try one.folder.damage(content)
    #expect(try one.sync(store) { $0.acceptsLoss = true }.records.uploaded == 1)
    #expect(try one.assets()[content.digest]?.isSuspect == true)
    try check()
  }

  @Test("the report counts what was repaired and dropped") func counts() throws {
    let digest = try one.put("a", [AssetContent(size: 10)])[0]
    let first = try one.sync(store)
    #expect(first.assets.uploaded == 1 && first.assets.repaired == 0 && first.assets.dropped == 0)
    store.objects[store.assetKeys[0]] = nil
    var repaired = 0
    for _ in 0..<2 { repaired += try one.sync(store) { $0.sweeps = true }.assets.repaired }
    #expect(repaired == 1)
    try one.refer("a", [])
    #expect(try one.sync(store).assets.dropped == 0)
    #expect(try one.sync(store) { $0.purges = true }.assets.dropped == 1)
    #expect(try one.assets()[digest] == nil)
    try check()
  }

  @Test("an object of which half is dead is written again without what is dead, with the next sweep")
  func halfDead() throws {
    let contents = (0..<4).map { AssetContent(size: 50_000 + $0) }
    let digests = try one.put("a", contents)
    try one.sync(store)
    let before = store.assetKeys
    #expect(before.count == 1)
    try one.refer("a", [digests[0]])
    try one.sync(store) { $0.purges = true }
    #expect(store.assetKeys == before)
    let report = try one.sync(store) { $0.sweeps = true }
    #expect(report.assets.uploaded == 1 && report.assets.repaired == 0)
    #expect(store.assetKeys.count == 1 && store.assetKeys != before)
    #expect(try one.sync(store) { $0.sweeps = true }.assets.uploaded == 0)
    try two.sync(store) { $0.assets = .all }
    #expect(two.folder.digests == [digests[0]])
    try check()
  }
}

@Suite("Assets of a log that becomes encrypted") struct AssetResealTests {
  let store = SyncMemoryStore()
  let key: EncryptionKey
  let one: AssetTestDevice
  let two: AssetTestDevice

  init() throws {
    key = try EncryptionKey(SyncTestDevice.key)
    var sizes = SyncSizes()
    // One content at a time.
    (sizes.bytesOfCommit, sizes.wholeAsset) = (200_000, 400_000)
    one = try AssetTestDevice(sizes)
    two = try AssetTestDevice(sizes, time: one.time)
  }

  private func check() throws {
    for device in [one, two] { #expect(try device.device.check().map(\.message) == []) }
  }

  private func shown() throws -> (objects: Set<String>, keys: Set<[UInt8]>) {
    let entries = try one.assets().values
    let keys = entries.compactMap { $0.location?.key } + entries.flatMap { $0.reservations.map(\.key) }
    return (Set(store.assetKeys), Set(keys))
  }

  private func rekey(_ device: AssetTestDevice, from old: EncryptionKey?, to key: EncryptionKey?) throws {
    var run = try device.device.run(store) { $0.key = old }
    _ = try run.rekey(to: key)
  }

  @Test("all contents are sealed again under new keys, also those that are not here; no old object is left")
  func reseals() throws {
    let contents = [10, 300_000, 150_000, 60_000, 500_000, 11].map { AssetContent(size: $0) }
    for (index, content) in contents.enumerated() { try one.put("\(index)", [content]) }
    try one.sync(store)
    try two.sync(store)
    let before = try shown()
    #expect(before.keys.count == 6)
    // One has lost its copies of two of them, a small one and a large one.
    for index in [3, 4] { one.folder.remove(contents[index].digest) }
    try rekey(one, from: nil, to: key)
    #expect(try store.readHead().reseals)
    var syncs = 0
    while !(try shown().objects.isDisjoint(with: before.objects)), syncs < 20 {
      try one.sync(store) { $0.key = key }
      syncs += 1
    }
    #expect(syncs > 2 && syncs < 20)
    let after = try shown()
    #expect(after.objects.isDisjoint(with: before.objects) && after.keys.isDisjoint(with: before.keys))
    // The next head says that it is done.
    try one.refer("x", [])
    try one.sync(store) { $0.key = key }
    #expect(try !store.readHead().reseals)
    try two.sync(store) { ($0.key, $0.assets) = (key, .all) }
    #expect(two.folder.digests == Set(contents.map(\.digest)))
    for content in contents { #expect(two.folder.bytes(content.digest) == content.bytes) }
    #expect(try one.sync(store) { $0.key = key } == SyncLogReport())
    try check()
  }

  @Test("another key seals nothing again, and neither does a log that was always encrypted")
  func otherKey() throws {
    try one.put("a", [AssetContent(size: 1000)])
    try one.sync(store) { $0.key = key }
    let before = try shown()
    let other = try EncryptionKey([UInt8](1...32))
    try rekey(one, from: key, to: other)
    for _ in 0..<2 { try one.sync(store) { $0.key = other } }
    #expect(try !store.readHead().reseals)
    #expect(try shown() == before)
    // Without a key and with one again, the keys were shown.
    try rekey(one, from: other, to: nil)
    #expect(try shown() == before)
    try rekey(one, from: nil, to: key)
    for _ in 0..<2 { try one.sync(store) { $0.key = key } }
    #expect(try shown().objects.isDisjoint(with: before.objects))
    try check()
  }

  @Test("an upload that was begun before the switch does not go on under its old key")
  func reservation() throws {
    let content = AssetContent(size: 500_000)
    let digest = try one.put("a", [content])[0]
    let reserved = try reserve(content)
    var run = try one.device.run(store) { $0.uploadsAssets = false }
    _ = try run.rekey(to: key)
    #expect(try one.assets()[digest]?.reservations == [reserved])
    for _ in 0..<2 { try one.sync(store) { $0.key = key } }
    let entry = try #require(try one.assets()[digest])
    #expect(entry.location != nil && entry.location?.key != reserved.key && entry.reservations.isEmpty)
    #expect(!store.assetKeys.contains("assets/somebody/\(reserved.object)"))
    try two.sync(store) { ($0.key, $0.assets) = (key, .all) }
    #expect(two.folder.bytes(digest) == content.bytes)
    try check()
  }

  /// Syncs until the content is reserved, and not uploaded.
  private func reserve(_ content: AssetContent) throws -> SyncAssetEntry.Reservation {
    for request in 0..<12 {
      _ = try? one.sync(SyncFailingStore(store, at: request, isAfter: false))
      if let found = try one.assets()[content.digest]?.reservations.first { return found }
    }
    throw SatchelError(.internal, "nothing was reserved")
  }
}
