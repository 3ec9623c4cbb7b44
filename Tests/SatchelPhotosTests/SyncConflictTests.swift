import Testing

import SatchelPhotos
import SatchelRemote
import SatchelSync

/// Shards that were changed on both sides.
struct SyncConflictTests {
  /// One device has "one.jpg" in the remote; the other has "other.jpg", and a new photo, in the same shard.
  private func diverged(_ fixture: SyncFixture) throws -> (PhotoCatalogue, PhotoCatalogue) {
    let (one, other) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    try fixture.sync(one)
    try other.upsert([try SyncFixture.photo(2, 1, "other.jpg"), try SyncFixture.photo(2, 9, "own.jpg")])
    return (one, other)
  }

  @Test(
    "the remote wins a photo that both changed, and the lost change is in the conflict log and can be reapplied"
  )
  func remoteWinsChanges() throws {
    let fixture = try SyncFixture()
    let (one, other) = try diverged(fixture)
    let report = try fixture.sync(other)
    #expect(SyncFixture.numbers(report.conflicts) == [2])
    #expect(SyncFixture.numbers(report.downloaded) == [2])
    #expect(report.conflictRows == 1)
    // The same sync sends the change of the photo that the remote did not change.
    #expect(SyncFixture.numbers(report.uploaded) == [2])
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try other.photo(SyncFixture.md5(2, 9))?.photo.filename == "own.jpg")

    let lost = try other.conflicts()
    #expect(lost.map(\.localPhoto?.filename) == ["other.jpg"])
    #expect(lost.first { $0.localPhoto?.filename == "other.jpg" }?.remotePhoto?.filename == "one.jpg")
    #expect(lost.first { $0.localPhoto?.filename == "other.jpg" }?.basePhoto?.filename == "a.jpg")
    for conflict in lost { try other.resolve(conflict.id, .keepLocal) }
    try fixture.sync(other)
    try fixture.sync(one)
    #expect(try one.photo(SyncFixture.md5(2, 1))?.photo.filename == "other.jpg")
    #expect(try one.photo(SyncFixture.md5(2, 9))?.photo.filename == "own.jpg")
  }

  @Test("rows are merged, local ones on top, and uploaded by the same sync") func rowsMergedLocal() throws {
    let fixture = try SyncFixture()
    let (one, other) = try diverged(fixture)
    try one.upsert([try SyncFixture.photo(2, 8, "more.jpg")])
    try fixture.sync(one)
    let report = try fixture.sync(other) { $0.onConflict = .merge }
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

  @Test("a shard that other devices filled and emptied again is not a conflict") func shardOthersFilled()
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
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

  @Test("the same change on both sides is not a conflict") func sameChangeBoth() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    for device in [one, other] { try device.delete([try SyncFixture.md5(2, 1)]) }
    try fixture.sync(one)
    let report = try fixture.sync(other)
    #expect(report.conflictRows == 0)
    #expect(try other.conflicts().isEmpty && other.modifiedShards().isEmpty)
  }

  @Test("a write of another device just before the upload is detected", arguments: SyncFixture.policies)
  func anotherDeviceFaster(_ onConflict: ConflictPolicy) throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
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
    let report = try fixture.sync(one) { $0.onConflict = onConflict }
    #expect(report.failed.isEmpty)
    #expect(SyncFixture.numbers(report.conflicts) == [2])
    #expect(SyncFixture.numbers(report.uploaded) == [2])
    #expect(try one.conflicts().isEmpty)
    try fixture.sync(other)
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try SyncFixture.content(other) == fixture.content())
    for number in [5, 6] { #expect(try other.photo(SyncFixture.md5(2, number)) != nil) }
  }

  @Test(
    "a first meeting keeps the photos and kept lines of both sides", arguments: SyncFixture.policies,
    [false, true])
  func firstMeeting(_ onConflict: ConflictPolicy, _ isDetached: Bool) throws {
    let fixture = try SyncFixture()
    let (one, other) = (try fixture.device(), try fixture.device())
    let shard = try SyncFixture.md5(2, 0).shard
    func file(_ photos: [Photo], _ kept: String) -> [UInt8] {
      CatalogueFixture.file(photos) + Array("\n\(kept)".utf8)
    }
    try one.importShard(
      shard, file([try SyncFixture.photo(2, 1, "one.jpg"), try SyncFixture.photo(2, 2, "same.jpg")], "2 one"))
    try fixture.sync(one)
    if isDetached {
      try fixture.sync(other)
      try other.detach()
    }
    try other.importShard(
      shard,
      file(
        [
          try SyncFixture.photo(2, 1, "other.jpg"), try SyncFixture.photo(2, 2, "same.jpg"),
          try SyncFixture.photo(2, 3, "own.jpg"),
        ], "2 other"))
    let report = try fixture.sync(other) { $0.onConflict = onConflict }
    #expect(report.failed.isEmpty && report.removed == 0 && report.conflictRows == 1)
    #expect(!report.rejected.contains { $0.row.fault == .replaced })
    #expect(try other.conflicts().map(\.localPhoto?.filename) == ["other.jpg"])
    try fixture.sync(one)
    for device in [one, other] {
      #expect(try device.all().map(\.filename) == ["one.jpg", "same.jpg", "own.jpg"])
      let lines = try device.exportShard(shard).split(separator: UInt8(ascii: "\n"))
      for kept in ["2 one", "2 other"] { #expect(lines.contains { $0.elementsEqual(Array(kept.utf8)) }) }
      #expect(try device.exportShard(shard) == fixture.store.bodies[fixture.shardKey(2)])
      #expect(try fixture.sync(device).isUnchanged)
    }
  }

  @Test(
    "a version built on an upload whose response was lost is not a conflict", arguments: SyncFixture.policies)
  func versionBuiltUpload(_ onConflict: ConflictPolicy)
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 1, "one.jpg")])
    // The device dies after the upload of the shard.
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
    // The other device changes the same photo before its sync, pulls, and builds on it; twice.
    for name in ["second.jpg", "third.jpg"] {
      try other.upsert([try SyncFixture.photo(2, 1, name)])
      try fixture.sync(other) { $0.onConflict = .merge }
    }
    let report = try fixture.sync(one) { $0.onConflict = onConflict }
    #expect(report.conflictRows == 0 && report.uploaded.isEmpty && report.failed.isEmpty)
    #expect(try one.photo(SyncFixture.md5(2, 1))?.photo.filename == "third.jpg")
    #expect(try one.modifiedShards().isEmpty)
  }

  @Test(
    "lines of an imported file stay beside the remote's; those with quotes are replaced, and reported with their bytes",
    arguments: SyncFixture.policies)
  func linesImportedFile(
    _ onConflict: ConflictPolicy
  )
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    let shard = Shard.Index.all[2]
    let lines = { (more: [String]) throws in
      CatalogueFixture.file([try SyncFixture.photo(2, 1)], kept: ["2 in both", "2 in the remote"] + more)
    }
    try one.importShard(shard, lines([]))
    try fixture.sync(one)
    try fixture.sync(other)

    let quoted = ["2 \"quoted\"", "2 \"quoted\""]
    try other.importShard(
      shard,
      CatalogueFixture.file(
        [try SyncFixture.photo(2, 1)], kept: quoted + ["2 here", "2 here", "2 in both", "2 met"]))
    try one.importShard(shard, lines(["2 met"]))
    try fixture.sync(one)
    let report = try fixture.sync(other) { $0.onConflict = onConflict }
    let replaced = report.rejected.filter { $0.row.fault == .replaced }
    #expect(replaced.map(\.row.raw) == quoted.map { Array($0.utf8) })
    #expect(Set(replaced.map(\.row.line)).count == 2 && replaced.allSatisfy { $0.shard == shard })
    #expect(report.rejected.count == replaced.count + 3, "and what the remote has")
    #expect(replaced.first?.json["fault"] == "replaced")
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try fixture.sync(other).rejected.isEmpty)
    let kept = try other.exportShard(shard).split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(kept.filter { $0.hasPrefix("2 ") } == ["2 here", "2 here", "2 in both", "2 met"])
  }

  @Test("lines of an imported file that were uploaded are not reported when another device builds on them")
  func linesImportedFileUploaded()
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
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
