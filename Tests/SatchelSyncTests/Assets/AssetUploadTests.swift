import Foundation
import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelSync

@Suite("Uploads of assets") struct AssetUploadTests {
  @Test("several objects are written at once, and no more than four") func parallel() throws {
    let devices = try SyncDevices()
    let remote = BreakingStore(devices.remote)
    let device = try AssetTestDevice()
    for number in 0..<6 { try device.put("\(number)", [AssetContent(size: 300_000 + number)]) }
    remote.gather(4)
    let report = try device.sync(remote) { $0.parallel = 16 }
    #expect(report.assets.uploaded == 6 && report.records.uploaded == 6)
    #expect(remote.mostRunning == 4)
    let other = try AssetTestDevice()
    try other.sync(remote) { $0.assets = .all }
    #expect(other.folder.digests == device.folder.digests)
  }

  @Test("one upload of several that fails stops its record only") func failing() throws {
    let (store, device) = (SyncMemoryStore(), try AssetTestDevice())
    for number in 0..<5 { try device.put("\(number)", [AssetContent(size: 300_000 + number)]) }
    try device.folder.damage(AssetContent(size: 300_002))
    let report = try device.sync(store) { $0.parallel = 4 }
    #expect(report.assets.uploaded == 4 && report.records.uploaded == 4)
    #expect(report.failed.map(\.id) == ["2"])
    #expect(try device.assets().count == 4 && store.assetKeys.count == 4)
  }

  @Test("a body above a size is divided in a store that has parts, whatever it allows at once")
  func limits() {
    let limits = TransferLimits(object: 5 << 40, whole: 64 << 20).dividing(above: 16 << 20)
    #expect(limits == TransferLimits(object: 5 << 40, whole: 16 << 20, part: 8 << 20))
    for limits in [
      TransferLimits(object: .max, whole: .max), TransferLimits(object: 64 << 20, whole: 64 << 20),
      TransferLimits(object: 5 << 40, whole: 8 << 20, part: 8 << 20),
    ] { #expect(limits.dividing(above: 16 << 20) == limits) }
  }
}

@Suite("Interrupted uploads of assets", .enabled(if: TestServer.current != nil), .serialized)
struct AssetPartsTests {
  @Test("an upload that breaks off goes on with the next part, in the next syncs, and each part is sent once")
  func parts() throws {
    let server = try #require(TestServer.current)
    let bucket = try server.open("store", ["prefix": .string(TestServer.prefix())])
    let (allowed, sent) = (Locked(0), Locked<[Int]>([]))
    let parts = SmallPartsStore(bucket) { number throws(ObjectStoreError) in
      guard number <= allowed.withLock({ $0 }) else {
        throw ObjectStoreError(.failed(.unavailable), "the connection is broken")
      }
      sent.withLock { $0.append(number) }
    }
    var sizes = SyncSizes()
    sizes.wholeAsset = 4 << 20
    let one = try AssetTestDevice(sizes)
    let digest = try one.put("a", [AssetContent(size: 3 * SmallPartsStore.partSize + 1000)])[0]
    for number in 0..<4 {
      allowed.withLock { $0 = number }
      #expect(throws: (any Error).self) { try one.sync(parts) }
    }
    allowed.withLock { $0 = 4 }
    let report = try one.sync(parts)
    #expect(report.assets.uploaded == 1 && report.records.uploaded == 1)
    #expect(sent.withLock { $0 } == [1, 2, 3, 4])
    #expect(try one.assets()[digest]?.reservations == [])
    let two = try AssetTestDevice(sizes)
    try two.sync(parts) { $0.assets = .all }
    #expect(two.folder.bytes(digest) == one.folder.bytes(digest))
    // The first attempt has left an upload without parts.
    try one.put("b", [])
    try one.sync(parts) { $0.sweeps = true }
    let prefix = try AssetObject.prefix(SyncTestDevice.user)
    #expect(try bucket.unfinishedUploads(below: prefix, cancellation: .never).isEmpty)
  }

  @Test("an upload above 16 MiB goes in parts also where the store allows more at once") func large() throws {
    let server = try #require(TestServer.current)
    let bucket = try server.open("store", ["prefix": .string(TestServer.prefix())])
    let (one, two) = (try AssetTestDevice(), try AssetTestDevice())
    let digest = try one.put("a", [AssetContent([UInt8](repeating: 7, count: 17 << 20))])[0]
    try one.sync(bucket)
    let object = try #require(try one.assets()[digest]?.location?.object)
    // S3 names an object of several parts by their number.
    let etag = try bucket.head(object.key(SyncTestDevice.user)).etag
    #expect(etag.text.hasSuffix("-3\""), "\(etag)")
    try two.sync(bucket) { $0.assets = .all }
    #expect(two.folder.bytes(digest) == one.folder.bytes(digest))
  }
}
