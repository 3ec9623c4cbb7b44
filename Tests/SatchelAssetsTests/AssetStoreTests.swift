import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

struct AssetStoreTests {
  @Test func `bytes that were put are read again`() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(path: directory.path + "/a.satchel")
    for count in [0, 1, 65536, 65537, 1_000_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let asset = try store.assets.put(bytes, type: "image/jpeg")
      #expect(try store.assets.bytes(of: asset) == bytes)
      #expect(try store.assets.state(of: asset) == .here)
    }
    #expect(try store.check() == [])
  }
}
