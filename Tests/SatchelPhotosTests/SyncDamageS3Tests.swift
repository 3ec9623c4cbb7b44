import SatchelRemoteTesting
import Testing

import SatchelPhotos
import SatchelRemote
import SatchelCore
import SatchelStorage

/// The tests of SyncDamageTests with S3, whose etags are computed from content and whose metadata belongs to the object.
@Suite(.enabled(if: TestServer.current != nil)) struct SyncDamageS3Tests {
  @Test(
    "a bucket is repaired by the next sync of a device that has the bytes",
    arguments: SyncDamageTests.Damage.allCases)
  func bucketRepairedNext(_ kind: SyncDamageTests.Damage)
    throws
  {
    let server = try #require(TestServer.current)
    let store = try server.open("store", ["prefix": .string(TestServer.prefix())])
    let fixture = try SyncFixture()
    func sync(_ device: PhotoCatalogue) throws -> SyncReport {
      try device.sync(with: store, user: fixture.user, options: fixture.options())
    }
    let (first, second, third) = (try fixture.device(), try fixture.device(), try fixture.device())
    try first.upsert((1...5).map { try SyncFixture.photo(2, $0) } + [SyncFixture.photo(3, 1)])
    _ = try sync(first)
    _ = try sync(second)
    #expect(try sync(first).requests == 1)
    let key = try ObjectKey(fixture.shardKey(2))
    let sound = try store.get(key).body
    if let left = kind.apply(sound) { try store.put(key, left) } else { try store.delete(key) }

    #expect(try sync(third).failed.map(\.shard.number) == [2])
    #expect(try third.count() == 1)
    let repair = try sync(second)
    #expect(SyncFixture.numbers(repair.repaired) == [2] && repair.failed.isEmpty && repair.removed == 0)
    #expect(try store.get(key).body == sound)
    for device in [first, second, third] {
      let report = try sync(device)
      #expect(report.failed.isEmpty && report.removed == 0)
      #expect(try device.count() == 6)
      #expect(try sync(device).requests == 1)
    }
  }
}
