import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelPhotos
@testable import SatchelRemote
import SatchelSync
@testable import SatchelCore
@testable import SatchelStorage

/// A shard in the remote that another program truncated, overwrote, emptied or removed.
struct SyncDamageTests {
  enum Damage: String, CaseIterable, Sendable {
    case cutInARow, cutAtARow, garbage, emptied, removed

    /// The remaining bytes; nil when there is no object.
    func apply(_ bytes: [UInt8]) -> [UInt8]? {
      switch self {
      case .cutInARow: Array(bytes.prefix(bytes.count * 2 / 3))
      case .cutAtARow: bytes.lastIndex(of: UInt8(ascii: "\n")).map { Array(bytes[..<$0]) } ?? []
      case .garbage: (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }
      case .emptied: []
      case .removed: nil
      }
    }

    var state: VerifyReport.State {
      switch self {
      case .cutInARow, .cutAtARow: .cut
      case .garbage: .corrupt
      case .emptied: .empty
      case .removed: .missing
      }
    }
  }

  let fixture: SyncFixture
  let one: PhotoCatalogue

  /// A device and a remote with the same five photos in each of four shards.
  init() throws {
    fixture = try SyncFixture()
    one = try fixture.device()
    try one.upsert((0..<4).flatMap { shard in try (1...5).map { try SyncFixture.photo(shard, $0) } })
    try fixture.sync(one)
  }

  private func damage(_ damage: Damage, _ shard: Int = 2) throws {
    let key = fixture.shardKey(shard)
    if let bytes = damage.apply(fixture.store.bodies[key] ?? []) {
      try fixture.store.place(key, bytes)
    } else {
      fixture.store.remove(key)
    }
  }

  @Test(
    "a device does not write over a newer version that was cut to the bytes of its own",
    arguments: SyncFixture.policies, [false, true])
  func cutToOlder(_ onConflict: ConflictPolicy, _ isPending: Bool) throws {
    let fixture = try SyncFixture(hasContentETags: true)
    let (one, other) = try fixture.syncedDevices()
    let key = fixture.shardKey(2)
    let older = try #require(fixture.store.bodies[key])
    try other.upsert([try SyncFixture.photo(2, 3)])
    if isPending {
      let shard = try SyncFixture.md5(2, 0).shard
      try other.recordPendingUpload(shard, other.export(shard))
    }
    try one.upsert([try SyncFixture.photo(2, 2)])
    try fixture.sync(one)
    try fixture.store.place(key, older)

    let report = try fixture.sync(other) { $0.onConflict = onConflict }
    #expect(SyncFixture.numbers(report.failed.map(\.shard)) == [2] && report.uploaded.isEmpty)
    #expect(fixture.store.bodies[key] == older)
    #expect(SyncFixture.numbers(try fixture.sync(one).repaired) == [2])
    #expect(try fixture.sync(other) { $0.onConflict = onConflict }.failed.isEmpty)
    try fixture.sync(one)
    for device in [one, other] {
      #expect(try SyncFixture.content(device) == fixture.content())
      for number in 1...3 { #expect(try device.photo(SyncFixture.md5(2, number)) != nil) }
    }
  }

  @Test("the next sync of a device that has the bytes uploads them again", arguments: Damage.allCases)
  func nextSyncDevice(_ kind: Damage) throws {
    let other = try fixture.device()
    try fixture.sync(other)
    let content = fixture.content()
    try damage(kind)
    // A device without the bytes pulls the other shards, and reports the damage.
    let third = try fixture.device()
    let failed = try fixture.sync(third)
    #expect(failed.failed.map(\.shard.number) == [2])
    #expect(try third.count() == 15)
    #expect(failed.repaired.isEmpty && !failed.isUnchanged)

    let repair = try fixture.sync(one)
    #expect(SyncFixture.numbers(repair.uploaded) == [2] && SyncFixture.numbers(repair.repaired) == [2])
    #expect(repair.failed.isEmpty && repair.removed == 0 && repair.conflictRows == 0)
    #expect(fixture.content() == content)
    for device in [third, other] {
      let report = try fixture.sync(device)
      #expect(report.failed.isEmpty && report.removed == 0)
      #expect(try SyncFixture.content(device) == content)
    }
    for device in [one, other, third] { #expect(try fixture.sync(device).requests == 1) }
  }

  @Test("a device that changes the shard repairs it with its upload", arguments: Damage.allCases)
  func deviceChangesShard(_ kind: Damage) throws {
    let other = try fixture.device()
    try fixture.sync(other)
    try damage(kind)
    try one.upsert([try SyncFixture.photo(2, 9)])
    let report = try fixture.sync(one)
    #expect(SyncFixture.numbers(report.uploaded) == [2] && report.failed.isEmpty && report.removed == 0)
    try fixture.sync(other)
    #expect(try other.count() == 21)
  }

  @Test("a directory is repaired in the same way", arguments: Damage.allCases)
  func directoryRepairedSame(_ kind: Damage) throws {
    let directory = try TemporaryDirectory()
    let store = try DirectoryStore(path: directory.path)
    func sync(_ device: PhotoCatalogue) throws -> SyncReport {
      try device.sync(with: store, user: fixture.user, options: fixture.options())
    }
    let (first, third) = (try fixture.device(), try fixture.device())
    try first.upsert((1...5).map { try SyncFixture.photo(2, $0) } + [SyncFixture.photo(3, 1)])
    _ = try sync(first)
    let path = directory.path + "/" + fixture.shardKey(2)
    let bytes = try DiskFile(path, O_RDONLY).read()
    if let left = kind.apply(bytes) {
      let file = try DiskFile(path, O_WRONLY | O_TRUNC)
      #expect(left.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) } == left.count)
    } else {
      unlink(path)
    }
    #expect(try sync(third).failed.map(\.shard.number) == [2])
    #expect(try third.count() == 1)
    let repair = try sync(first)
    #expect(SyncFixture.numbers(repair.repaired) == [2] && repair.failed.isEmpty)
    #expect(try DiskFile(path, O_RDONLY).read() == bytes)
    #expect(try sync(third).failed.isEmpty)
    #expect(try third.count() == 6)
    #expect(try sync(first).failed.isEmpty)
    #expect(try sync(first).requests == 1)
  }

  @Test("an item that is not a file fails only its shard, and does not block") func itemNotFile() throws {
    let directory = try TemporaryDirectory()
    let store = try DirectoryStore(path: directory.path)
    func sync(_ device: PhotoCatalogue) throws -> SyncReport {
      try device.sync(with: store, user: fixture.user, options: fixture.options())
    }
    let first = try fixture.device()
    try first.upsert((0..<4).map { try SyncFixture.photo($0, 1) })
    _ = try sync(first)
    let paths = (0..<4).map { directory.path + "/" + fixture.shardKey($0) }
    for path in paths { unlink(path) }
    #expect(mkfifo(paths[0], 0o600) == 0 && mkdir(paths[1], 0o700) == 0)
    #expect(symlink("/etc/passwd", paths[2]) == 0)
    let report = try sync(try fixture.device())
    #expect(report.failed.map(\.shard.number) == [0, 1, 2, 3])
    let repair = try sync(first)
    #expect(repair.failed.map(\.shard.number) == [0, 1, 2])
    #expect(SyncFixture.numbers(repair.repaired) == [3])
    #expect(try first.count() == 4)
  }

  @Test(
    "a sound shard of another program that died before the manifest is applied", arguments: [false, true])
  func soundShardAnother(_ isNew: Bool) throws {
    let device = try fixture.device()
    if !isNew { try fixture.sync(device) }
    let photo = try SyncFixture.photo(2, 3, "another name.jpg")
    let new = try SyncFixture.photo(2, 8, "new.jpg")
    let writer = try fixture.device()
    try writer.upsert((1...5).map { try SyncFixture.photo(2, $0) } + [photo, new])
    let bytes = try writer.exportShard(try #require(Shard.Index(2)))
    try fixture.store.place(fixture.shardKey(2), bytes)
    // For a new shard the manifest's count of photos decides.
    let report = try fixture.sync(device)
    #expect(report.failed.isEmpty && report.removed == 0)
    #expect(SyncFixture.numbers(report.repaired) == [2])
    #expect(try device.exportShard(try #require(Shard.Index(2))) == bytes)
    #expect(try device.count() == 21)
    #expect(try fixture.readManifest().checksum(of: try #require(Shard.Index(2))) == Shard.checksum(bytes))
    #expect(try fixture.readManifest().photoCount == 21)
    // The rows that unproven bytes replace are logged.
    #expect(try device.conflicts().map(\.localPhoto?.filename) == (isNew ? [] : ["a.jpg"]))
  }

  @Test("photos that are missing in another program's unfinished write are counted and kept")
  func photosAnotherPrograms() throws {
    let lines = (fixture.store.bodies[fixture.shardKey(2)] ?? []).split(separator: UInt8(ascii: "\n"))
    let without = Array(lines.enumerated().filter { $0.offset != 2 }.map(\.element).joined(separator: [10]))
    try fixture.store.place(fixture.shardKey(2), without)
    let report = try fixture.sync(one)
    #expect(report.removed == 1 && report.conflictRows == 1 && report.failed.isEmpty)
    #expect(try one.conflicts().map(\.md5) == [try SyncFixture.md5(2, 3)])
    #expect(try one.count() == 19)
  }

  @Test("photos that another device deleted are counted") func photosAnotherDevice() throws {
    let other = try fixture.device()
    try fixture.sync(other)
    try one.delete([try SyncFixture.md5(2, 1), try SyncFixture.md5(2, 2), try SyncFixture.md5(3, 1)])
    #expect(try fixture.sync(one).removed == 0)
    let report = try fixture.sync(other)
    #expect(report.removed == 3 && report.conflictRows == 0)
    #expect(try other.conflicts().isEmpty)
  }

  @Test("a reverted earlier version is damage") func earlierVersionReturns() throws {
    let key = try ObjectKey(fixture.shardKey(2))
    let old = try fixture.store.get(key)
    try one.delete([try SyncFixture.md5(2, 1)])
    try one.upsert([try SyncFixture.photo(2, 9)])
    try fixture.sync(one)
    let content = fixture.content()
    try fixture.store.put(key, old.body, metadata: old.metadata)
    let report = try fixture.sync(one)
    #expect(SyncFixture.numbers(report.repaired) == [2] && report.removed == 0)
    #expect(fixture.content() == content)
  }

  @Test("rows that only a damaged object has are reported") func rowsOnlyDamaged() throws {
    let photo = "\(try SyncFixture.md5(2, 7)),only here.jpg,1,2,3,,,"
    try fixture.store.place(fixture.shardKey(2), Array("\(photo)\nno photo at all".utf8))
    let report = try fixture.sync(one)
    #expect(SyncFixture.numbers(report.repaired) == [2])
    #expect(report.rejected.map(\.row.fault) == [.discarded])
    #expect(report.rejected.map { String(decoding: $0.row.raw, as: UTF8.self) } == [photo])
  }

  @Test("an upload that was replaced before the manifest is not confirmed") func uploadReplacedBefore() throws
  {
    let (manifest, key) = (fixture.manifest, fixture.shardKey(2))
    try one.upsert([try SyncFixture.photo(2, 9)])
    fixture.store.before.withLock {
      $0 = { [fixture] request throws(ObjectStoreError) in
        guard request.method == .put, request.key?.text == manifest else { return }
        fixture.store.clearHooks()
        fixture.store.remove(key)
        throw ObjectStoreError(.preconditionFailed, "another device was faster")
      }
    }
    try fixture.sync(one)
    let other = try fixture.device()
    #expect(try fixture.sync(other).failed.isEmpty)
    #expect(try other.count() == 21)
  }

  // MARK: Verifying

  private func verify(_ device: PhotoCatalogue, repair: Bool = false) throws -> VerifyReport {
    try device.verify(fixture.store, user: fixture.user, repair: repair, options: fixture.options())
  }

  @Test("verifying reports damage, and repairs it", arguments: Damage.allCases, [false, true])
  func verifyingReportsDamage(_ kind: Damage, _ isInPlace: Bool) throws {
    let content = fixture.content()
    if isInPlace, let bytes = kind.apply(content[2]) {
      // With the same etag, so that no listing shows it.
      fixture.store.damage(fixture.shardKey(2)) { $0 = bytes }
      #expect(try fixture.sync(one).isUnchanged)
    } else {
      try damage(kind)
    }
    let writes = fixture.store.requests.filter { $0.method == .put }.count
    let third = try fixture.device()
    for device in [one, third] {
      let found = try verify(device)
      #expect(!found.isSound && found.manifest == .ok && found.shards.count == 16)
      // Without the bytes last synced, a checksum that does not match is all that shows a truncation between rows.
      let state =
        device === third && kind == .cutAtARow && isInPlace ? VerifyReport.State.corrupt : kind.state
      #expect(found.shards.map(\.state) == Shard.Index.all.map { $0.number == 2 ? state : .ok })
    }
    #expect(fixture.store.requests.filter { $0.method == .put }.count == writes, "nothing is written")
    let failed = try verify(third, repair: true)
    #expect(!failed.isSound && failed.shards[2].error != nil && !failed.shards[2].isRepaired)
    let repair = try verify(one, repair: true)
    #expect(repair.isSound && repair.shards[2].isRepaired && repair.shards[2].error == nil)
    #expect(fixture.content() == content)
    #expect(try verify(third).isSound)
    #expect(try fixture.sync(third).failed.isEmpty)
    #expect(try third.count() == 20)
  }

  @Test("verifying finds an unfinished write, and completes it") func verifyingFindsUnfinished() throws {
    let old = fixture.store.bodies[fixture.manifest] ?? []
    try one.upsert([try SyncFixture.photo(2, 9)])
    try fixture.sync(one)
    let metadata = try ObjectMetadata(["sha256": Shard.checksum(old)])
    try fixture.store.put(try ObjectKey(fixture.manifest), old, metadata: metadata)
    let third = try fixture.device()
    #expect(try verify(third).shards[2].state == .newer)
    #expect(try verify(third, repair: true).isSound)
    #expect(
      try fixture.readManifest().checksum(of: try #require(Shard.Index(2)))
        == Shard.checksum(fixture.content()[2]))
  }

  @Test("a manifest that cannot be read is written again by a device that was synced with it")
  func manifestCannotRead() throws {
    let uuid = try fixture.readManifest().directoryUUID
    for (damaged, state) in [
      (Array("{\"version\"".utf8), VerifyReport.ManifestState.unreadable), (nil, .missing),
    ] {
      if let damaged {
        try fixture.store.place(fixture.manifest, damaged)
      } else {
        fixture.store.remove(fixture.manifest)
      }
      let third = try fixture.device()
      #expect(try verify(third).manifest == state)
      if damaged != nil { #expect(try !verify(third, repair: true).isSound) }
      let report = try verify(one, repair: true)
      #expect(report.manifest == state && report.isManifestRepaired && report.isSound)
      #expect(try fixture.readManifest().directoryUUID == uuid)
      #expect(try fixture.readManifest().photoCount == 20)
      #expect(try fixture.sync(third).failed.isEmpty)
      #expect(try third.count() == 20)
    }
  }

  @Test("with a store whose listings have no etags only the manifest is read") func storeWhoseListings()
    throws
  {
    let store = SyncStore(listsETags: false)
    let device = try fixture.device()
    try device.upsert([try SyncFixture.photo(1, 1)])
    _ = try device.sync(with: store, user: fixture.user, options: fixture.options())
    let before = store.requests.count
    #expect(try device.sync(with: store, user: fixture.user, options: fixture.options()).requests == 1)
    #expect(store.requests.dropFirst(before).map(\.method) == [.get])
  }
}
