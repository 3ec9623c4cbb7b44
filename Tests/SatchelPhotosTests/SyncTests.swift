import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync
@testable import SatchelCore
@testable import SatchelStorage

/// Two devices and a remote without faults.
struct SyncTests {
  @Test("photos of one device are synchronized to the other") func photosOneDevice() throws {
    let fixture = try SyncFixture()
    let (one, other) = (try fixture.device(), try fixture.device())
    try one.upsert((0..<16).flatMap { shard in try (0..<3).map { try SyncFixture.photo(shard, $0) } })

    let sent = try fixture.sync(one)
    #expect(SyncFixture.numbers(sent.uploaded) == Array(0..<16))
    #expect(sent.downloaded.isEmpty && sent.failed.isEmpty && sent.conflicts.isEmpty)
    #expect(try fixture.readManifest().photoCount == 48)
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try one.modifiedShards().isEmpty)

    let pulled = try fixture.sync(other)
    #expect(SyncFixture.numbers(pulled.downloaded) == Array(0..<16))
    #expect(pulled.uploaded.isEmpty && pulled.failed.isEmpty && pulled.conflicts.isEmpty)
    #expect(pulled.bytesDown > 0 && pulled.bytesUp < 100, "only the probe wrote")
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try other.syncState().remoteUUID == one.syncState().uuid)
  }

  @Test("a sync without changes is one request") func syncWithoutChanges() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    for device in [one, other] {
      let report = try fixture.sync(device)
      #expect(report.requests == 1)
      #expect(report.isUnchanged && report.bytesUp == 0 && report.bytesDown == 0)
    }
  }

  @Test("only changes are transferred, deletions included") func onlyChangesTransferred() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    try one.delete([try SyncFixture.md5(1, 1)])
    try one.upsert([try SyncFixture.photo(3, 2)])
    let sent = try fixture.sync(one)
    #expect(SyncFixture.numbers(sent.uploaded) == [1, 3])
    // The manifest, two shards, the manifest.
    #expect(sent.requests == 4)
    let pulled = try fixture.sync(other)
    #expect(SyncFixture.numbers(pulled.downloaded) == [1, 3])
    // The listing, the manifest, two shards.
    #expect(pulled.requests == 4)
    #expect(try other.photo(SyncFixture.md5(1, 1)) == nil)
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try fixture.readManifest().shardChecksums.count == 3, "an empty shard is not in the manifest")
    #expect(try fixture.readManifest().photoCount == 4)
  }

  @Test("changes during an upload wait for the next one") func changesDuringUpload() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 5, "first.jpg"), try SyncFixture.photo(2, 6)])
    let key = fixture.shardKey(2)
    fixture.store.before.withLock {
      $0 = { request in
        guard request.method == .put, request.key?.text == key else { return }
        _ = try? one.upsert([SyncFixture.photo(2, 5, "second.jpg"), SyncFixture.photo(2, 7)])
        _ = try? one.delete([SyncFixture.md5(2, 6)])
      }
    }
    try fixture.sync(one)
    fixture.store.clearHooks()
    #expect(try one.modifiedShards().map(\.number) == [2])
    try fixture.sync(other)
    #expect(try other.photo(SyncFixture.md5(2, 5))?.photo.filename == "first.jpg")
    #expect(try other.photo(SyncFixture.md5(2, 6)) != nil)

    #expect(SyncFixture.numbers(try fixture.sync(one).uploaded) == [2])
    try fixture.sync(other)
    #expect(try other.photo(SyncFixture.md5(2, 5))?.photo.filename == "second.jpg")
    #expect(try other.photo(SyncFixture.md5(2, 6)) == nil)
    #expect(try other.photo(SyncFixture.md5(2, 7)) != nil)
  }

  @Test("a change that is reverted during an upload is reverted in the remote") func changeRevertedDuring()
    throws
  {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 1, "changed.jpg")])
    fixture.store.after.withLock {
      $0 = { request in
        guard request.method == .put else { return }
        _ = try? one.upsert([SyncFixture.photo(2, 1)])
      }
    }
    try fixture.sync(one)
    fixture.store.clearHooks()
    try fixture.sync(one)
    try fixture.sync(other)
    #expect(try other.photo(SyncFixture.md5(2, 1))?.photo.filename == "a.jpg")
  }

  @Test("the remote may be a directory, and shards are transferred in parallel") func remoteMayDirectory()
    throws
  {
    let fixture = try SyncFixture()
    let directory = try TemporaryDirectory()
    let store = try DirectoryStore(path: directory.path)
    let (one, other) = (try fixture.device(), try fixture.device())
    try one.upsert((0..<16).flatMap { shard in try (0..<50).map { try SyncFixture.photo(shard, $0) } })
    let parallel = fixture.options { $0.parallel = 8 }
    let sent = try one.sync(with: store, user: fixture.user, options: parallel)
    #expect(sent.uploaded.count == 16 && sent.failed.isEmpty)
    let pulled = try other.sync(with: store, user: fixture.user, options: parallel)
    #expect(pulled.downloaded.count == 16 && pulled.failed.isEmpty)
    #expect(try SyncFixture.content(one) == SyncFixture.content(other))
    #expect(try other.sync(with: store, user: fixture.user, options: parallel).requests == 1)
  }

  @Test("progress is reported serially and ends at its total") func progressReportedSerially() throws {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert((0..<16).map { try SyncFixture.photo($0, 1) })
    let (reports, inside) = (Locked<[SyncProgress]>([]), Locked(0))
    try fixture.sync(one, { $0.parallel = 4 }) { progress in
      #expect(
        inside.withLock {
          $0 += 1; return $0
        } == 1)
      reports.withLock { $0.append(progress) }
      inside.withLock { $0 -= 1 }
      return true
    }
    let all = reports.withLock { $0 }
    #expect(all.first?.phase == .plan)
    #expect(all.map(\.done) == all.map(\.done).sorted())
    #expect(all.last?.phase == .manifest && all.last?.done == 16 && all.last?.total == 16)
    #expect((all.last?.bytesUp ?? 0) > 16 * 40)
  }

  @Test("the asynchronous form does the same, and a cancelled task cancels it") func asynchronousFormDoes()
    async throws
  {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert([try SyncFixture.photo(1, 1)])
    let options = fixture.options()
    let report = try await one.sync(with: fixture.store, user: fixture.user, options: options)
    #expect(SyncFixture.numbers(report.uploaded) == [1])

    try one.upsert([try SyncFixture.photo(1, 2)])
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await one.sync(with: fixture.store, user: fixture.user, options: options)
    }
    let result = await task.result
    #expect(throws: SatchelError.self) { try result.get() }
    #expect(try one.modifiedShards().map(\.number) == [1])
  }

  @Test("syncs of one catalogue run one after the other") func syncsOneCatalogue() throws {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert((0..<16).map { try SyncFixture.photo($0, 1) })
    let failures = Locked<[String]>([])
    inParallel([0, 1, 2, 3], limit: 4) { number in
      do {
        try one.upsert([try SyncFixture.photo(number, 100 + number)])
        let report = try one.sync(with: fixture.store, user: fixture.user, options: fixture.options())
        if let failure = report.failed.first { failures.withLock { $0.append("\(failure)") } }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    try fixture.sync(one)
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try one.conflicts().isEmpty)
  }
}
