import SatchelRemoteTesting
import Testing

@testable import SatchelPhotos
@testable import SatchelRemote
@testable import SatchelCore
@testable import SatchelStorage

/// An error of one shard does not affect the others.
struct SyncFaultTests {
  @Test("a line that is not a row blocks nothing, and is written back") func lineNotRow() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    let good = fixture.store.bodies[fixture.shardKey(2)] ?? []
    let bytes = good + Array("\nnot a row at all".utf8)
    try fixture.store.place(fixture.shardKey(2), bytes)
    var manifest = try fixture.readManifest()
    manifest.setChecksum(Shard.checksum(bytes), of: try #require(Shard.Index(2)))
    try fixture.store.place(fixture.manifest, manifest.serialized())

    let report = try fixture.sync(one)
    #expect(SyncFixture.numbers(report.downloaded) == [2] && report.failed.isEmpty)
    #expect(report.rejected.map(\.shard.number) == [2])
    #expect(report.rejected.map(\.row.fault) == [.columns] && report.rejected.map(\.row.line) == [2])
    try one.upsert([try SyncFixture.photo(2, 9)])
    try fixture.sync(one)
    let text = String(decoding: fixture.store.bodies[fixture.shardKey(2)] ?? [], as: UTF8.self)
    #expect(text.contains("not a row at all"))
    #expect(try fixture.readManifest().photoCount == 5)
    try fixture.sync(other)
    #expect(try SyncFixture.content(other) == fixture.content())
  }

  @Test("bytes that differ from those that were written are never parsed") func bytesDifferFrom() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices(on: 0..<16)
    try one.upsert((0..<16).map { try SyncFixture.photo($0, 2, "new.jpg") })
    try fixture.sync(one)
    let before = try other.exportShard(try #require(Shard.Index(6)))
    fixture.store.damage(fixture.shardKey(6)) { $0[$0.count - 1] ^= 1 }

    let report = try fixture.sync(other)
    #expect(report.failed.map(\.shard.number) == [6])
    #expect(report.failed.first?.error.code == .damaged)
    #expect(SyncFixture.numbers(report.downloaded) == Array(0..<6) + Array(7..<16))
    #expect(try other.exportShard(try #require(Shard.Index(6))) == before)

    fixture.store.damage(fixture.shardKey(6)) { $0[$0.count - 1] ^= 1 }
    let next = try fixture.sync(other)
    #expect(SyncFixture.numbers(next.downloaded) == [6] && next.failed.isEmpty)
    #expect(try SyncFixture.content(other) == fixture.content())
  }

  /// An upload arrived but its response did not, the photo is deleted, and then the store denies the object.
  @Test("an object store that hides an object does not restore deleted photos", arguments: 1...4)
  func storeDeniesObject(_ denials: Int) throws {
    let fixture = try SyncFixture()
    let device = try fixture.device()
    let (key, photo) = (fixture.shardKey(3), try SyncFixture.photo(3, 1))
    try device.upsert([photo])
    fixture.store.after.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.key?.text == key else { return }
        throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "the answer is lost")
      }
    }
    #expect(try fixture.sync(device).failed.map(\.shard.number) == [3])
    #expect(fixture.store.bodies[key]?.isEmpty == false)
    try device.delete([photo.md5])
    let left = Locked(denials)
    fixture.store.clearHooks()
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.key?.text == key, request.method == .get else { return }
        let isDenied = left.withLock { left in
          left -= 1
          return left >= 0
        }
        if isDenied { throw ObjectStoreError(.notFound, "denied") }
      }
    }
    try fixture.sync(device)
    fixture.store.clearHooks()
    try fixture.sync(device)
    #expect(try device.count() == 0)
    #expect(try SyncFixture.content(device) == fixture.content())
    let other = try fixture.device()
    try fixture.sync(other)
    #expect(try other.count() == 0)
    #expect(try device.changes().isEmpty)
  }

  @Test("a shard that cannot be reached does not stop the others", arguments: [true, false])
  func shardCannotReached(_ isUpload: Bool) throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices(on: 0..<16)
    try one.upsert((0..<16).map { try SyncFixture.photo($0, 2, "new.jpg") })
    if !isUpload { try fixture.sync(one) }
    let device = isUpload ? one : other
    let key = fixture.shardKey(11)
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.key?.text == key else { return }
        throw ObjectStoreError(
          request.method == .put ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil), "500")
      }
    }
    let report = try fixture.sync(device)
    let others = Array(0..<11) + Array(12..<16)
    #expect(report.failed.map(\.shard.number) == [11])
    #expect(report.failed.first?.error.code == .unavailable)
    #expect(SyncFixture.numbers(isUpload ? report.uploaded : report.downloaded) == others)

    fixture.store.clearHooks()
    let next = try fixture.sync(device)
    #expect(SyncFixture.numbers(isUpload ? next.uploaded : next.downloaded) == [11] && next.failed.isEmpty)
    #expect(try SyncFixture.content(device) == fixture.content())
    #expect(try fixture.sync(device).requests == 1)
  }

  @Test("the next device repairs the upload of a writer that died between shard and manifest")
  func nextDeviceRepairs() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    let manifest = fixture.manifest
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.method == .put, request.key?.text == manifest else { return }
        throw ObjectStoreError(.denied, "the device is dead")
      }
    }
    let torn = try fixture.sync(one)
    #expect(torn.failed.map(\.shard.number) == [2] && torn.uploaded.isEmpty)
    #expect(try one.modifiedShards().map(\.number) == [2])
    fixture.store.clearHooks()

    // The other device finds it when it writes there.
    try other.upsert([try SyncFixture.photo(2, 7, "other.jpg")])
    let report = try fixture.sync(other) { $0.onConflict = .merge }
    #expect(SyncFixture.numbers(report.uploaded) == [2] && report.failed.isEmpty)
    #expect(try other.photo(SyncFixture.md5(2, 1))?.photo.filename == "one.jpg")
    let back = try fixture.sync(one)
    #expect(back.conflictRows == 0 && back.failed.isEmpty)
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try SyncFixture.content(other) == fixture.content())
  }

  @Test("a shard newer than the manifest is applied and the manifest repaired") func shardNewerThan() throws {
    let fixture = try SyncFixture()
    let (one, _) = try fixture.syncedDevices()
    let old = fixture.store.bodies[fixture.manifest] ?? []
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    try fixture.sync(one)
    // A third device reads the new shard, and the old manifest.
    let metadata = try ObjectMetadata(["sha256": Shard.checksum(old)])
    try fixture.store.put(try ObjectKey(fixture.manifest), old, metadata: metadata)
    let third = try fixture.device()
    let report = try fixture.sync(third)
    #expect(SyncFixture.numbers(report.downloaded) == Array(0..<4))
    #expect(SyncFixture.numbers(report.repaired) == [2])
    #expect(try third.photo(SyncFixture.md5(2, 1))?.photo.filename == "one.jpg")
    let shard = try #require(Shard.Index(2))
    #expect(try fixture.readManifest().checksum(of: shard) == Shard.checksum(fixture.content()[2]))
    #expect(try fixture.sync(third).requests == 1)
  }

  @Test("a damaged manifest is not updated") func brokenManifestNot() throws {
    let fixture = try SyncFixture()
    let (one, _) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 9)])
    // Still JSON, with another checksum.
    fixture.store.damage(fixture.manifest) { bytes in
      guard let place = bytes.lastIndex(of: UInt8(ascii: "7")) else { return }
      bytes[place] = UInt8(ascii: "8")
    }
    let broken = fixture.store.bodies[fixture.manifest]
    #expect(throws: SatchelError.self) { try fixture.sync(one) }
    #expect(fixture.store.bodies[fixture.manifest] == broken)
    #expect(try one.modifiedShards().map(\.number) == [2])
  }

  @Test("devices converge over a connection that loses and delays requests") func devicesConvergeOver() throws
  {
    for seed: UInt64 in 0..<20 {
      let fixture = try SyncFixture()
      let (one, other) = try fixture.syncedDevices(on: 0..<16)
      let kinds = Fault.allCases.filter { $0 != .stale }
      let line = FaultyStore(fixture.store, plan: Fault.plan(seed: seed, count: 300, rarity: 5, of: kinds))
      let options = fixture.options { $0.onConflict = .merge }
      try one.upsert((0..<16).map { try SyncFixture.photo($0, 2, "one.jpg") })
      try other.upsert((0..<16).map { try SyncFixture.photo($0, 3, "other.jpg") })
      for _ in 0..<3 {
        for device in [one, other] { _ = try? device.sync(with: line, user: fixture.user, options: options) }
      }
      for _ in 0..<2 { for device in [one, other] { try fixture.sync(device) { $0.onConflict = .merge } } }
      #expect(try SyncFixture.content(one) == fixture.content(), "seed \(seed)")
      #expect(try SyncFixture.content(other) == fixture.content(), "seed \(seed)")
      #expect(try one.count() == 48, "seed \(seed)")
    }
  }
}
