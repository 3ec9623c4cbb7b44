import Foundation
import SatchelAssets
import SatchelTesting
import Testing

@testable import Satchel
@testable import SatchelSync

@Suite("Synchronizing a store with assets") struct StoreAssetSyncTests {
  @Test(
    "a record arrives with its picture, whatever its size, and bytes that are here nowhere keep it waiting")
  func pictures() throws {
    let devices = try SyncDevices()
    let (one, two) = (try devices.store("one"), try devices.store("two"))
    let (notes, theirs) = (try one.records("notes"), try two.records("notes"))
    let contents = [0, 10, 70_000, 300_000].map { AssetContent(size: $0) }
    for content in contents {
      let asset = try one.assets.put(content.bytes, type: "image/png")
      try notes.put("n\(content.size)", ["picture": asset.json])
    }
    let report = try devices.sync(one)
    #expect(report.records.uploaded == 4 && report.failed.isEmpty)
    #expect(try devices.sync(two).records.downloaded == 4)
    let reader = try RemoteAssetReader(two.syncLog, with: devices.remote, user: devices.user)
    for content in contents {
      let asset = try Asset(sha256: "\(content.digest)")
      #expect(try two.assets.state(of: asset) != .here)
      try reader.fetch(content.digest)
      #expect(try two.assets.bytes(of: asset) == content.bytes)
    }
    #expect(try theirs.documents == notes.documents)
    #expect(try devices.sync(one).isUnchanged && devices.sync(two).isUnchanged)
    for store in [one, two] { #expect(try store.check().map(\.message) == []) }
  }
}
