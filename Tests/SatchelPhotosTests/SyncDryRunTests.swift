import Foundation
import SatchelRemoteTesting
import Testing

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync

/// A dry run reports what the sync after it does.
struct SyncDryRunTests {
  private func compare(_ fixture: SyncFixture, _ device: PhotoCatalogue, _ onConflict: ConflictPolicy) throws
    -> SyncReport
  {
    // The probe is not part of the transfer.
    let accepting: (inout SyncOptions) -> Void = {
      $0.onConflict = onConflict
      $0.allowUnsafeRemote = true
    }
    let (state, bodies) = (try device.syncState(), fixture.store.bodies)
    let before = fixture.store.requests.count
    let dry = try fixture.sync(device) {
      accepting(&$0)
      $0.isDryRun = true
    }
    #expect(dry.isDryRun)
    #expect(fixture.store.requests[before...].allSatisfy { [.get, .head, .list].contains($0.method) })
    #expect(fixture.store.bodies == bodies)
    #expect(try device.syncState() == state)

    let real = try fixture.sync(device, accepting)
    #expect(!real.isDryRun)
    #expect(dry.downloaded == real.downloaded)
    #expect(dry.uploaded == real.uploaded)
    #expect(dry.conflicts == real.conflicts)
    if real.repaired.isEmpty { #expect(dry.bytesDown == real.bytesDown) }
    if real.repaired.isEmpty, real.conflicts.isEmpty {
      #expect(dry.bytesUp == real.bytesUp)
    }
    return real
  }

  @Test(
    "it predicts the first sync, one without changes, and one in both directions",
    arguments: SyncFixture.policies)
  func predictsFirstSync(_ onConflict: ConflictPolicy) throws {
    let fixture = try SyncFixture()
    let (one, other) = (try fixture.device(), try fixture.device())
    try one.upsert((0..<6).map { try SyncFixture.photo($0, 1) })
    #expect(try compare(fixture, one, onConflict).uploaded.count == 6)
    #expect(try compare(fixture, other, onConflict).downloaded.count == 6)
    #expect(try compare(fixture, other, onConflict).isUnchanged)

    try one.upsert([try SyncFixture.photo(0, 2), try SyncFixture.photo(1, 2), try SyncFixture.photo(9, 2)])
    try one.delete([try SyncFixture.md5(2, 1)])
    #expect(SyncFixture.numbers(try compare(fixture, one, onConflict).uploaded) == [0, 1, 2, 9])
    try other.upsert([try SyncFixture.photo(1, 3), try SyncFixture.photo(7, 3)])
    let mixed = try compare(fixture, other, onConflict)
    #expect(SyncFixture.numbers(mixed.downloaded) == [0, 1, 2, 9])
    #expect(SyncFixture.numbers(mixed.uploaded) == [1, 7])
    #expect(SyncFixture.numbers(mixed.conflicts) == [1])

    // Where both changed the same photo, nothing but the remote's version stays, unless the policy is to merge.
    try one.upsert([try SyncFixture.photo(3, 1, "one.jpg")])
    try fixture.sync(one)
    try other.upsert([try SyncFixture.photo(3, 1, "other.jpg")])
    let same = try compare(fixture, other, onConflict)
    #expect(SyncFixture.numbers(same.downloaded) == [3])
    #expect(SyncFixture.numbers(same.uploaded) == (onConflict == .merge ? [3] : []))
  }

  @Test("it determines the outcome of pending uploads", arguments: [true, false])
  func determinesOutcomePending(_ hasArrived: Bool) throws {
    let fixture = try SyncFixture()
    let (one, _) = try fixture.syncedDevices()
    try one.upsert([try SyncFixture.photo(2, 9)])
    let dead: @Sendable (SyncStore.Request) throws(ObjectStoreError) -> Void = {
      request throws(ObjectStoreError) in
      if request.method == .put { throw ObjectStoreError(.denied, "the device is dead") }
    }
    (hasArrived ? fixture.store.after : fixture.store.before).withLock { $0 = dead }
    _ = try fixture.sync(one)
    fixture.store.clearHooks()
    let report = try compare(fixture, one, .remoteWins)
    #expect(SyncFixture.numbers(report.downloaded) == (hasArrived ? [2] : []))
    #expect(SyncFixture.numbers(report.uploaded) == (hasArrived ? [] : [2]))
    #expect(try one.modifiedShards().isEmpty)
  }

  @Test("it writes nothing at all, also when nothing was ever written", arguments: [false, true])
  func writesNothingAll(_ hasRemote: Bool) throws {
    let fixture = try SyncFixture()
    if hasRemote { _ = try fixture.syncedDevices() }
    let device = try CatalogueFixture()
    func state() throws -> (files: [String: Data], rows: Int64) {
      let names = try FileManager.default.contentsOfDirectory(atPath: device.folder)
      // All files but the WAL index, which readers write to.
      let files = try names.filter { !$0.hasSuffix("-shm") }.map { name in
        (name, try Data(contentsOf: URL(filePath: "\(device.folder)/\(name)")))
      }
      let rows = try device.database.read { try $0.number("SELECT count(*) FROM photo_catalogue") }
      return (Dictionary(uniqueKeysWithValues: files), rows)
    }
    let (before, bodies) = (try state(), fixture.store.bodies)
    #expect(before.rows == 0)
    let report = try fixture.sync(device.photos) { $0.isDryRun = true }
    #expect(SyncFixture.numbers(report.downloaded) == (hasRemote ? [0, 1, 2, 3] : []))
    let after = try state()
    #expect(after.rows == 0 && after.files == before.files)
    #expect(fixture.store.bodies == bodies)
  }
}
