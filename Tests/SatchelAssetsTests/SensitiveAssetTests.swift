import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

struct SensitiveAssetTests {
  private static let key = [UInt8](repeating: 7, count: 32)
  private static let otherKey = [UInt8](repeating: 8, count: 32)

  private func open(_ fixture: AssetFixture, key: [UInt8]? = key) throws -> Store {
    let store = try fixture.open()
    if let key { try store.state.setKey(key) }
    return store
  }

  /// Whether some file below a folder has these bytes.
  private func isOnDisk(_ bytes: [UInt8], _ fixture: AssetFixture) throws -> Bool {
    let folder = fixture.directory.path
    return try FileManager.default.subpathsOfDirectory(atPath: folder).contains { name in
      let data = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
      return data.range(of: Data(bytes)) != nil
    }
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_001])
  func `a sensitive asset is encrypted on the disk, and read as it was put`(size: Int) throws {
    let fixture = try AssetFixture()
    let bytes = AssetFixture.bytes(size, 1)
    let store = try open(fixture)
    let asset = try store.assets.put(bytes, isSensitive: true)
    try store.records("notes").put("a", ["file": asset.json])
    if size > 16 { #expect(try !isOnDisk(Array(bytes.prefix(32)), fixture)) }
    #expect(try store.assets.bytes(of: asset) == bytes)
    let reader = try store.assets.open(asset, verifying: true)
    #expect(try reader.path == nil && reader.size == Int64(size) && reader.sha256 == asset.sha256)
    for (offset, count) in [(0, 10), (65_530, 12), (131_070, 9), (max(0, size - 3), 100)] {
      #expect(try reader.read(count, at: Int64(offset)) == Array(bytes.dropFirst(offset).prefix(count)))
    }
    #expect(try store.check() == [])
    #expect(try store.assets.verify() == AssetVerifyReport(checked: 1))
    try store.close()
    let again = try open(fixture)
    #expect(try again.assets.bytes(of: asset) == bytes)
  }

  @Test func `without the key nothing is put, read or lost`() throws {
    let fixture = try AssetFixture()
    let bytes = AssetFixture.bytes(100_000, 2)
    let store = try open(fixture)
    let asset = try store.assets.put(bytes, isSensitive: true)
    try store.records("notes").put("a", ["file": asset.json])
    try store.close()
    let locked = try open(fixture, key: nil)
    #expect(code { try locked.assets.put(bytes, isSensitive: true) } == .unauthorized)
    #expect(code { _ = try locked.assets.bytes(of: asset) } == .unauthorized)
    #expect(try locked.assets.state(of: asset) == .here)
    // Its size on the disk is checked, its content is not.
    #expect(try locked.assets.verify() == AssetVerifyReport(checked: 1))
    #expect(try locked.check() == [])
    try locked.close()
    #expect(try open(fixture).assets.bytes(of: asset) == bytes)
  }

  @Test(arguments: [1000, 100_000])
  func `an asset that becomes sensitive is encrypted, and stays so`(size: Int) throws {
    let fixture = try AssetFixture()
    let bytes = AssetFixture.bytes(size, 3)
    let store = try open(fixture)
    let asset = try store.assets.put(bytes)
    try store.records("notes").put("a", ["file": asset.json])
    #expect(try store.assets.put(bytes, isSensitive: true) == asset)
    try store.assets.prune()
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(fixture.files().allSatisfy { !$0.hasSuffix(asset.sha256 ?? "") })
    // Put as it is again, while it is here, and after its bytes were lost.
    try store.assets.put(bytes)
    for name in fixture.files() {
      try FileManager.default.removeItem(atPath: fixture.path + ".assets/" + name)
    }
    if size > 65_536 { #expect(try store.assets.verify().lost == [asset.sha256]) }
    try store.assets.put(bytes)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(fixture.files().allSatisfy { !$0.hasSuffix(asset.sha256 ?? "") })
    #expect(try store.check() == [])
  }

  @Test func `a change of the key rewrites the keys of assets and no file`() throws {
    let fixture = try AssetFixture()
    let (large, small) = (AssetFixture.bytes(100_000, 4), AssetFixture.bytes(100, 5))
    let store = try open(fixture)
    let assets = try [large, small].map { try store.assets.put($0, isSensitive: true) }
    try store.records("notes").put("a", ["files": .array(assets.map(\.json))])
    let files = fixture.files()
    try store.state.rotateKey(to: Self.otherKey)
    #expect(try assets.map { try store.assets.bytes(of: $0) } == [large, small])
    #expect(fixture.files() == files)
    try store.close()
    #expect(code { try self.open(fixture).close() } == .unauthorized)
    let again = try open(fixture, key: Self.otherKey)
    #expect(try assets.map { try again.assets.bytes(of: $0) } == [large, small])
  }

  @Test func `a variant of a sensitive asset is sensitive`() throws {
    let fixture = try AssetFixture()
    let store = try open(fixture)
    let asset = try store.assets.put(AssetFixture.bytes(1000, 6), isSensitive: true)
    let small = AssetFixture.bytes(500, 7)
    let variant = try store.assets.variant(of: asset, named: "small") { _ in (small, nil) }
    #expect(try store.assets.bytes(of: variant) == small)
    #expect(try !isOnDisk(small, fixture))
  }

  @Test func `a modified file is damaged, also when it has the right size`() throws {
    let fixture = try AssetFixture()
    let store = try open(fixture)
    let asset = try store.assets.put(AssetFixture.bytes(100_000, 8), isSensitive: true)
    let file = fixture.path + ".assets/" + (try #require(fixture.files().first))
    var data = try #require(FileManager.default.contents(atPath: file))
    data[70_000] ^= 1
    try data.write(to: URL(fileURLWithPath: file))
    #expect(code { _ = try store.assets.bytes(of: asset) } == .damaged)
    #expect(try store.assets.verify().damaged == [asset.sha256])
    #expect(try store.assets.state(of: asset) == .missing)
  }

  @Test func `backup, restore, recover, sweep and a dropped record know its file`() throws {
    let fixture = try AssetFixture()
    let bytes = AssetFixture.bytes(100_000, 9)
    let store = try open(fixture)
    let asset = try store.assets.put(bytes, isSensitive: true)
    try store.records("notes").put("a", ["file": asset.json])
    #expect(try store.assets.sweep() == 0)
    let backup = fixture.directory.path + "/backup.satchel"
    #expect(try store.backup(to: backup).assets == 1)
    #expect(fixture.files(of: backup) == fixture.files())
    try store.close()
    _ = try Store.restore(backup, to: fixture.path)
    let restored = try open(fixture)
    #expect(try restored.assets.bytes(of: asset) == bytes)
    try restored.assets.adoptFiles()
    #expect(try restored.assets.bytes(of: asset) == bytes)
    try restored.records("notes").delete("a")
    fixture.time.pass(hours: 2)
    try restored.assets.prune()
    #expect(fixture.files() == [])
    #expect(try restored.check() == [])
  }
}
