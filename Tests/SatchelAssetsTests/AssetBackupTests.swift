import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

struct AssetBackupTests {
  /// A store with a record that refers to a large and a small asset.
  private func filled(_ fixture: AssetFixture) throws -> (store: Store, large: Asset, small: Asset) {
    let store = try fixture.open()
    let large = try store.assets.put(AssetFixture.bytes(100_000, 1))
    let small = try store.assets.put(AssetFixture.bytes(1000, 2))
    try store.records("notes").put("a", ["large": large.json, "small": small.json])
    return (store, large, small)
  }

  private func contents(_ store: Store, _ assets: [Asset]) throws -> [[UInt8]] {
    try assets.map { try store.assets.bytes(of: $0) }
  }

  @Test func `a backup has the files, and a restore brings them back`() throws {
    let fixture = try AssetFixture()
    let (store, large, small) = try filled(fixture)
    let before = try contents(store, [large, small])
    let backup = fixture.directory.path + "/backup.satchel"
    let report = try store.backup(to: backup)
    #expect(report.assets == 1 && report.missingAssets == 0)
    #expect(fixture.files(of: backup).count == 1)
    // It opens as a store.
    try Store(path: backup).close()
    // The store changes: the record goes, and another one comes.
    try store.records("notes").delete("a")
    let newer = try store.assets.put(AssetFixture.bytes(90_000, 3))
    try store.records("notes").put("b", ["large": newer.json])
    fixture.time.pass(hours: 2)
    try store.assets.prune()
    #expect(try store.assets.state(of: large) == .missing)
    try store.close()
    let replaced = try #require(try Store.restore(backup, to: fixture.path))
    let restored = try fixture.open()
    #expect(try contents(restored, [large, small]) == before)
    #expect(try restored.assets.state(of: newer) == .missing)
    #expect(try restored.check() == [])
    // The replaced store keeps what it had.
    #expect(try Store(path: replaced).assets.bytes(of: newer) == AssetFixture.bytes(90_000, 3))
    // What the restored one does not need goes with the next verification.
    #expect(try restored.assets.verify().orphans == 1)
    #expect(fixture.files().count == 1)
    #expect(try Store(path: replaced).assets.verify() == AssetVerifyReport(checked: 1))
  }

  @Test func `a restore that cannot keep the files of the store that it replaces replaces nothing`() throws {
    let fixture = try AssetFixture()
    let (store, large, _) = try filled(fixture)
    let backup = fixture.directory.path + "/backup.satchel"
    try store.backup(to: backup)
    let newer = try store.assets.put(AssetFixture.bytes(90_000, 3))
    try store.records("notes").put("b", ["large": newer.json])
    try store.close()
    var options = StoreOptions()
    options.fileCalls.makeDirectory = { directory, name in
      guard name.contains(".quarantine-") else { return FileCalls.system.makeDirectory(directory, name) }
      errno = ENOSPC
      return -1
    }
    #expect(code { _ = try Store.restore(backup, to: fixture.path, options: options) } == .full)
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
    #expect(!names.contains { $0.contains(".quarantine-") })
    let kept = try fixture.open()
    #expect(try kept.assets.bytes(of: newer) == AssetFixture.bytes(90_000, 3))
    #expect(try kept.assets.verify() == AssetVerifyReport(checked: 3))
    #expect(try kept.assets.state(of: large) == .here && kept.check() == [])
  }

  @Test func `a restore over a store of which only the WAL is left has its files`() throws {
    let fixture = try AssetFixture()
    let (store, large, small) = try filled(fixture)
    let backup = fixture.directory.path + "/backup.satchel"
    try store.backup(to: backup)
    try store.close()
    try FileManager.default.removeItem(atPath: fixture.path)
    try Data([1, 2, 3]).write(to: URL(filePath: fixture.path + "-wal"))
    #expect(try Store.restore(backup, to: fixture.path) != nil)
    let restored = try fixture.open()
    let expected = [AssetFixture.bytes(100_000, 1), AssetFixture.bytes(1000, 2)]
    #expect(try contents(restored, [large, small]) == expected)
    #expect(try restored.check() == [])
  }

  @Test func `a backup that replaces another has no files of it, and one without assets has none`() throws {
    let fixture = try AssetFixture()
    let (store, large, _) = try filled(fixture)
    let backup = fixture.directory.path + "/backup.satchel"
    try store.backup(to: backup)
    try store.records("notes").delete("a")
    fixture.time.pass(hours: 2)
    try store.assets.prune()
    try store.backup(to: backup)
    #expect(fixture.files(of: backup) == [])
    #expect(!FileManager.default.fileExists(atPath: backup + ".assets"))
    try store.assets.put(AssetFixture.bytes(100_000, 1))
    let bare = fixture.directory.path + "/bare.satchel"
    #expect(try store.backup(to: bare, assets: false).assets == 0)
    #expect(!FileManager.default.fileExists(atPath: bare + ".assets"))
    try store.close()
    try Store.restore(bare, to: fixture.directory.path + "/other.satchel")
    let other = try Store(path: fixture.directory.path + "/other.satchel")
    #expect(try other.assets.state(of: large) == .missing)
    #expect(try other.check() == [])
  }

  @Test func `a rotation removes the files of the backups that it deletes`() throws {
    let fixture = try AssetFixture()
    let (store, _, _) = try filled(fixture)
    let directory = fixture.directory.path + "/backups"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    for _ in 0..<4 {
      try store.backup(into: directory, keeping: 2)
      fixture.time.pass(hours: 24)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    #expect(names.count == 4)
    #expect(names.filter { $0.hasSuffix(".assets") }.count == 2)
  }

  @Test func `a file that is lost is named by the report of the backup`() throws {
    let fixture = try AssetFixture()
    let (store, _, small) = try filled(fixture)
    try FileManager.default.removeItem(atPath: fixture.path + ".assets/" + fixture.files()[0])
    let backup = fixture.directory.path + "/backup.satchel"
    #expect(try store.backup(to: backup).missingAssets == 1)
    #expect(try Store(path: backup).assets.bytes(of: small).count == 1000)
  }

  @Test func `a recovered store has the files of the damaged one`() throws {
    let fixture = try AssetFixture()
    let (store, large, small) = try filled(fixture)
    let before = try contents(store, [large, small])
    try store.close()
    // The tables of references are lost.
    let database = try FileHandle(forUpdating: URL(filePath: fixture.path))
    try database.seek(toOffset: 0)
    try database.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
    try database.close()
    let path = fixture.directory.path + "/recovered.satchel"
    let report = try Store.recover(fixture.path, into: path)
    #expect(report.findings == [], "\(report)")
    let recovered = try Store(path: path)
    #expect(try contents(recovered, [large, small]) == before)
    #expect(try recovered.assets.info(of: large).references == 1)
    #expect(try recovered.check() == [])
    #expect(fixture.files().count == 1)
  }

  @Test func `a store that is moved aside takes its files along`() throws {
    let fixture = try AssetFixture()
    let (store, _, _) = try filled(fixture)
    try store.close()
    try Data([UInt8](repeating: 7, count: 5000)).write(to: URL(filePath: fixture.path))
    let other = try fixture.open { $0.quarantine = true }
    let aside = try #require(other.quarantinePath)
    #expect(fixture.files(of: aside).count == 1)
    #expect(fixture.files() == [])
  }

  @Test func `signing out removes what only the user's documents refer to`() throws {
    let fixture = try AssetFixture()
    let (store, large, small) = try filled(fixture)
    let banner = try store.assets.put(AssetFixture.bytes(70_000, 4))
    try store.catalogue.persist(
      ["section": "s", "content": ["banner": banner.json]], at: Location(countryCode: "IT"))
    try store.signOut(unsent: .discard)
    #expect(try store.assets.state(of: large) == .missing)
    #expect(try store.assets.state(of: small) == .missing)
    #expect(try store.assets.state(of: banner) == .here)
    #expect(fixture.files().count == 1)
    #expect(try store.check() == [])
  }

  @Test func `statistics and the list know the assets`() throws {
    let fixture = try AssetFixture()
    let (store, large, _) = try filled(fixture)
    let assets = try store.statistics().assets
    #expect(assets.here.count == 2 && assets.here.bytes == 101_000)
    #expect(assets.files.count == 1 && assets.files.bytes == 100_000)
    #expect(try store.assets.info(of: large).size == 100_000)
  }
}
