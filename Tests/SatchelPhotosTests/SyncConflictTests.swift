import Testing

@testable import SatchelPhotos
@testable import SatchelRemote

/// Shards that were changed on both sides.
struct SyncConflictTests {
  /// One has "one.jpg" in the master; the other has "other.jpg", and a photo of its own, in the same shard.
  private func diverged(_ fixture: SyncFixture) throws -> (PhotoCatalogue, PhotoCatalogue) {
    let (one, other) = try fixture.agreeing()
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    try fixture.sync(one)
    try other.upsert([try SyncFixture.photo(2, 1, "other.jpg"), try SyncFixture.photo(2, 9, "own.jpg")])
    return (one, other)
  }

  @Test func `the remote wins, and what lost is in the log and can be made again`() throws {
    let fixture = try SyncFixture()
    let (one, other) = try diverged(fixture)
    let report = try fixture.sync(other)
    #expect(SyncFixture.numbers(report.conflicts) == [2])
    #expect(SyncFixture.numbers(report.downloaded) == [2])
    #expect(report.conflictRows == 2 && report.uploaded.isEmpty)
    #expect(try SyncFixture.content(other) == fixture.content())

    let lost = try other.conflicts()
    #expect(Set(lost.compactMap(\.local?.filename)) == ["other.jpg", "own.jpg"])
    #expect(lost.first { $0.local?.filename == "other.jpg" }?.remote?.filename == "one.jpg")
    #expect(lost.first { $0.local?.filename == "other.jpg" }?.base?.filename == "a.jpg")
    for conflict in lost { try other.reapply(conflict.id) }
    try fixture.sync(other)
    try fixture.sync(one)
    #expect(try one.photo(SyncFixture.md5(2, 1))?.photo.filename == "other.jpg")
    #expect(try one.photo(SyncFixture.md5(2, 9))?.photo.filename == "own.jpg")
  }

  @Test func `rows merge, local ones on top, and go up in the same sync`() throws {
    let fixture = try SyncFixture()
    let (one, other) = try diverged(fixture)
    try one.upsert([try SyncFixture.photo(2, 8, "more.jpg")])
    try fixture.sync(one)
    let report = try fixture.sync(other) { $0.policy = .mergeRows }
    #expect(SyncFixture.numbers(report.conflicts) == [2])
    #expect(SyncFixture.numbers(report.downloaded) == [2])
    #expect(SyncFixture.numbers(report.uploaded) == [2])
    #expect(report.conflictRows == 0)
    try fixture.sync(one)
    #expect(try one.photo(SyncFixture.md5(2, 1))?.photo.filename == "other.jpg")
    #expect(try one.photo(SyncFixture.md5(2, 8))?.photo.filename == "more.jpg")
    #expect(try one.photo(SyncFixture.md5(2, 9))?.photo.filename == "own.jpg")
    #expect(try SyncFixture.content(one) == fixture.content())
  }

  @Test func `a shard that others filled and emptied again is no conflict`() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    try one.upsert([try SyncFixture.photo(5, 1, "brief.jpg")])
    try fixture.sync(one)
    try one.delete([try SyncFixture.md5(5, 1)])
    try fixture.sync(one)
    try other.upsert([try SyncFixture.photo(5, 9, "own.jpg")])
    let report = try fixture.sync(other)
    #expect(report.conflicts.isEmpty && report.conflictRows == 0)
    #expect(SyncFixture.numbers(report.uploaded) == [5])
    try fixture.sync(one)
    #expect(try one.photo(SyncFixture.md5(5, 9))?.photo.filename == "own.jpg")
  }

  @Test func `the same change on both sides is no conflict`() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    for device in [one, other] { try device.delete([try SyncFixture.md5(2, 1)]) }
    try fixture.sync(one)
    let report = try fixture.sync(other)
    #expect(report.conflictRows == 0)
    #expect(try other.conflicts().isEmpty && other.modifiedShards().isEmpty)
  }

  @Test(arguments: SyncPolicy.allCases)
  func `somebody who is faster at the last moment is noticed`(_ policy: SyncPolicy) throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    try one.upsert([try SyncFixture.photo(2, 5, "one.jpg")])
    try other.upsert([try SyncFixture.photo(2, 6, "other.jpg")])
    let key = fixture.shardKey(2)
    fixture.store.before.withLock {
      $0 = { request in
        guard request.method == .put, request.key?.text == key else { return }
        fixture.store.clearHooks()
        _ = try? fixture.sync(other)
      }
    }
    let report = try fixture.sync(one) { $0.policy = policy }
    #expect(report.failed.isEmpty)
    #expect(SyncFixture.numbers(report.conflicts) == [2])
    #expect(SyncFixture.numbers(report.uploaded) == (policy == .mergeRows ? [2] : []))
    #expect(try one.conflicts().map(\.local?.filename) == (policy == .mergeRows ? [] : ["one.jpg"]))
    try fixture.sync(other)
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try other.photo(SyncFixture.md5(2, 6)) != nil)
  }

  @Test(arguments: SyncPolicy.allCases)
  func `what others have built on our upload before we knew of it is no conflict`(_ policy: SyncPolicy) throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    // The device dies when the shard is up.
    let key = fixture.shardKey(2)
    fixture.store.after.withLock {
      $0 = { request throws(ObjectStoreError) in
        if request.method == .put, request.key?.text == key {
          fixture.store.before.withLock {
            $0 = { _ throws(ObjectStoreError) in throw ObjectStoreError(.denied, "the device is dead") }
          }
        }
      }
    }
    _ = try? fixture.sync(one)
    fixture.store.clearHooks()
    // The other one changes the same photo without having synced, finds out, and builds on it; twice.
    for name in ["second.jpg", "third.jpg"] {
      try other.upsert([try SyncFixture.photo(2, 1, name)])
      try fixture.sync(other) { $0.policy = .mergeRows }
    }
    let report = try fixture.sync(one) { $0.policy = policy }
    #expect(report.conflictRows == 0 && report.uploaded.isEmpty && report.failed.isEmpty)
    #expect(try one.photo(SyncFixture.md5(2, 1))?.photo.filename == "third.jpg")
    #expect(try one.modifiedShards().isEmpty)
  }

  @Test(arguments: SyncPolicy.allCases)
  func `lines of an imported file that the master replaces are told with their bytes`(_ policy: SyncPolicy)
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    let shard = Shard.Index.all[2]
    let lines = { (more: [String]) throws in
      CatalogueFixture.file([try SyncFixture.photo(2, 1)], kept: ["2 in both", "2 in the master"] + more)
    }
    try one.importShard(shard, lines([]))
    try fixture.sync(one)
    try fixture.sync(other)

    try other.importShard(
      shard,
      CatalogueFixture.file([try SyncFixture.photo(2, 1)], kept: ["2 here", "2 here", "2 in both", "2 met"]))
    try one.importShard(shard, lines(["2 met"]))
    try fixture.sync(one)
    let report = try fixture.sync(other) { $0.policy = policy }
    let replaced = report.rejected.filter { $0.row.fault == .replaced }
    #expect(replaced.map(\.row.raw) == [Array("2 here".utf8), Array("2 here".utf8)])
    #expect(Set(replaced.map(\.row.line)).count == 2 && replaced.allSatisfy { $0.shard == shard })
    #expect(report.rejected.count == replaced.count + 3, "and what the master has")
    #expect(replaced.first?.json["fault"] == "replaced")
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try fixture.sync(other).rejected.isEmpty)
  }

  @Test func `lines of an imported file that were sent are not told when somebody builds on them`() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.agreeing()
    let shard = Shard.Index.all[2]
    try other.importShard(shard, CatalogueFixture.file([try SyncFixture.photo(2, 1)], kept: ["2 here"]))
    try fixture.sync(other)
    try fixture.sync(one)
    try one.importShard(shard, CatalogueFixture.file([try SyncFixture.photo(2, 1)]))
    try fixture.sync(one)
    #expect(try fixture.sync(other).rejected.isEmpty)
    #expect(try SyncFixture.content(other) == fixture.content())
  }
}
