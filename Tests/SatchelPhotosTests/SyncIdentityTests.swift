import SatchelRemoteTesting
import Testing

@testable import SatchelPhotos
@testable import SatchelRemote
@testable import SatchelCore
@testable import SatchelStorage

/// The identity of the remote, and remotes that are incomplete.
struct SyncIdentityTests {
  @Test("another remote is refused until the catalogue is detached") func anotherRemoteRefused() throws {
    let (fixture, elsewhere) = (try SyncFixture(), try SyncFixture())
    let (one, _) = try fixture.syncedDevices()
    let (stranger, _) = try elsewhere.syncedDevices(on: 5..<6)
    let before = elsewhere.store.bodies
    let error = #expect(throws: SatchelError.self) { try elsewhere.sync(one) }
    #expect(error?.code == .foreign)
    #expect(error?.message.contains(try #require(one.syncState().uuid)) == true)
    #expect(error?.message.contains(try #require(stranger.syncState().uuid)) == true)
    #expect(elsewhere.store.bodies == before)

    try one.detach()
    let report = try elsewhere.sync(one) { $0.onConflict = .merge }
    #expect(report.failed.isEmpty)
    #expect(try one.count() == 5)
    #expect(try SyncFixture.content(one) == elsewhere.content())
  }

  @Test("another user is refused until the catalogue is detached") func anotherUserRefused() throws {
    let fixture = try SyncFixture()
    let (one, _) = try fixture.syncedDevices()
    let before = fixture.store.bodies
    let error = #expect(throws: SatchelError.self) {
      try one.sync(with: fixture.store, user: UserID("bob"), options: fixture.options())
    }
    #expect(error?.code == .foreign)
    #expect(fixture.store.bodies == before)
  }

  @Test("a missing manifest deletes nothing and is written again") func missingManifestDeletes() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    let content = fixture.content()
    fixture.store.remove(fixture.manifest)
    let report = try fixture.sync(one)
    #expect(report.failed.isEmpty && report.uploaded.isEmpty)
    #expect(SyncFixture.numbers(report.repaired) == [0, 1, 2, 3])
    #expect(fixture.content() == content)
    #expect(try fixture.readManifest().shardChecksums.count == 4)
    try fixture.sync(other)
    #expect(try other.count() == 4)
  }

  @Test("a missing remote is uploaded again") func missingRemoteUploaded() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    let content = fixture.content()
    for key in fixture.store.bodies.keys { fixture.store.remove(key) }
    // It may be another place, or one that is not mounted.
    let error = #expect(throws: SatchelError.self) { try fixture.sync(one) }
    #expect(error?.code == .unavailable && fixture.store.bodies.isEmpty)
    let report = try fixture.sync(one) { $0.recreate = true }
    #expect(SyncFixture.numbers(report.uploaded) == [0, 1, 2, 3])
    #expect(report.failed.map(\.error.message) == [])
    #expect(fixture.content() == content)
    try fixture.sync(other)
    #expect(try other.count() == 4 && one.count() == 4)
  }

  @Test("a remote that cannot be restored completely is not announced as complete")
  func remoteCannotRestored() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    for key in fixture.store.bodies.keys { fixture.store.remove(key) }
    let key = fixture.shardKey(3)
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        if request.key?.text == key { throw ObjectStoreError(.transient(retryAfter: nil), "500") }
      }
    }
    #expect(try !fixture.sync(one) { $0.recreate = true }.failed.isEmpty)
    #expect(fixture.store.bodies[fixture.manifest] == nil)
    fixture.store.clearHooks()
    try fixture.sync(other)
    try fixture.sync(one)
    #expect(try other.count() == 4 && one.count() == 4)
    #expect(try fixture.readManifest().photoCount == 4)
  }

  @Test("a missing shard is uploaded again by a device that changes it") func missingShardUploaded() throws {
    let fixture = try SyncFixture()
    let (one, other) = try fixture.syncedDevices()
    fixture.store.remove(fixture.shardKey(2))
    try one.upsert([try SyncFixture.photo(2, 9)])
    let report = try fixture.sync(one)
    #expect(SyncFixture.numbers(report.uploaded) == [2] && report.failed.isEmpty)
    try fixture.sync(other)
    #expect(try other.count() == 5)
  }

  @Test("two new devices at once create one remote") func twoNewDevices() throws {
    let fixture = try SyncFixture()
    let (one, other) = (try fixture.device(), try fixture.device())
    try one.upsert([try SyncFixture.photo(1, 1), try SyncFixture.photo(2, 1)])
    try other.upsert([try SyncFixture.photo(1, 2), try SyncFixture.photo(3, 1)])
    let manifest = fixture.manifest
    fixture.store.before.withLock {
      $0 = { request in
        guard request.method == .put, request.key?.text == manifest else { return }
        fixture.store.clearHooks()
        _ = try? fixture.sync(other) { $0.onConflict = .merge }
      }
    }
    for device in [one, other, one] { try fixture.sync(device) { $0.onConflict = .merge } }
    #expect(try SyncFixture.content(one) == fixture.content())
    #expect(try SyncFixture.content(other) == fixture.content())
    #expect(try one.count() == 4)
    #expect(try one.syncState().remoteUUID == other.syncState().remoteUUID)
  }

  @Test("a store without conditional writes is refused, unless that is accepted")
  func storeIgnoresConditions()
    throws
  {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert([try SyncFixture.photo(1, 1)])
    let store = SyncStore(ignoresConditions: true)
    let error = #expect(throws: SatchelError.self) {
      try one.sync(with: store, user: fixture.user, options: fixture.options())
    }
    #expect(error?.code == .invalid)
    #expect(store.bodies.isEmpty)
    let accepting = fixture.options { $0.allowUnsafeRemote = true }
    #expect(try one.sync(with: store, user: fixture.user, options: accepting).uploaded.count == 1)
  }

  @Test("a store is probed only once for conditional writes") func storeProbedOnly() throws {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert([try SyncFixture.photo(1, 1)])
    #expect(try fixture.sync(one).requests > 5)
    try one.upsert([try SyncFixture.photo(1, 2)])
    #expect(try fixture.sync(one).requests == 3)
    #expect(fixture.store.bodies.count == 2, "nothing is left of it")
  }
}
