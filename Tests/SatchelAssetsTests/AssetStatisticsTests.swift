import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

@Suite("Counts of assets")
struct AssetStatisticsTests {
  private typealias Tally = AssetStatistics.Tally
  private let fixture: AssetFixture

  init() throws { fixture = try AssetFixture() }

  @Test("of a store without assets are 0")
  func none() throws {
    let store = try fixture.open()
    #expect(try store.assets.statistics() == AssetStatistics())
    #expect(try store.statistics().assets == AssetStatistics())
  }

  @Test("tell rows, files, variants, URLs and what is missing apart")
  func places() throws {
    let store = try fixture.open()
    let notes = try store.records("notes")
    let small = try store.assets.put(AssetFixture.bytes(1000))
    let large = try store.assets.put(AssetFixture.bytes(100_000))
    _ = try store.assets.variant(of: large, named: "thumb") { (try $0.read(500, at: 0), "image/png") }
    let url = try Asset(url: "https://example.org/a")
    try notes.put("a", ["small": small.json, "large": large.json, "url": url.json])
    var expected = AssetStatistics()
    expected.here = Tally(count: 3, bytes: 101_500)
    expected.files = Tally(count: 1, bytes: 100_000)
    expected.variants = Tally(count: 1, bytes: 500)
    expected.remote = Tally(count: 1)
    #expect(try store.assets.statistics() == expected)
    // A file that is lost is missing, once it was verified.
    for file in fixture.files() {
      try FileManager.default.removeItem(atPath: "\(fixture.path).assets/\(file)")
    }
    try store.assets.verify()
    expected.here = Tally(count: 2, bytes: 1500)
    expected.files = Tally()
    expected.missing = Tally(count: 1, bytes: 100_000)
    #expect(try store.assets.statistics() == expected)
    #expect(try store.statistics().assets == expected)
    // Fetched, with a size; then nothing refers to anything.
    try store.assets.fetch([url]) { _, writer in
      try writer.append([1, 2, 3])
      return .fetched(etag: nil)
    }
    (expected.remote, expected.here) = (Tally(), Tally(count: 3, bytes: 1503))
    #expect(try store.assets.statistics() == expected)
    try notes.delete("a")
    #expect(try store.assets.statistics().missing == Tally())
    #expect(expected.json["here"] == ["count": 3, "bytes": 1503])
  }

  @Test("have the uploads that wait, and what is in the remote only")
  func synchronized() throws {
    let remotePath = fixture.directory.path + "/remote"
    try FileManager.default.createDirectory(atPath: remotePath, withIntermediateDirectories: true)
    let (remote, user) = (try DirectoryStore(path: remotePath), try UserID("ada"))
    let phone = try fixture.open()
    let notes = try phone.records("notes", synced: true)
    try phone.sync(with: remote, user: user)
    let picture = try phone.assets.put(AssetFixture.bytes(100_000))
    try notes.put("a", ["picture": picture.json])
    try phone.records("local", synced: false).put("b", ["picture": phone.assets.put([9]).json])
    #expect(try phone.assets.statistics().waiting == Tally(count: 1, bytes: 100_000))
    var options = StoreSyncOptions()
    options.uploadsAssets = false
    try phone.sync(with: remote, user: user, options: options)
    #expect(try phone.assets.statistics().waiting == Tally(count: 1, bytes: 100_000))
    try phone.sync(with: remote, user: user)
    #expect(try phone.assets.statistics().waiting == Tally())

    let tablet = try Store(path: fixture.directory.path + "/tablet.satchel")
    _ = try tablet.records("notes", synced: true)
    try tablet.sync(with: remote, user: user)
    var expected = AssetStatistics()
    expected.remote = Tally(count: 1, bytes: 100_000)
    #expect(try tablet.assets.statistics() == expected)
    try tablet.fetchAssets([picture], from: remote)
    #expect(try tablet.assets.statistics().here == Tally(count: 1, bytes: 100_000))
  }
}
