import Foundation
import SatchelAssets
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import Satchel

/// Downloads of large assets that are interrupted, over a directory whose connection breaks.
@Suite("Interrupted downloads of assets") struct AssetDownloadTests {
  private static let size = 5 << 20 + 123
  private static let content = AssetContent(size: size)
  private let devices: SyncDevices
  private let remote: BreakingStore
  private let tablet: Store
  private let content = Self.content
  private let asset: Asset

  init() throws {
    devices = try SyncDevices()
    remote = BreakingStore(devices.remote)
    let phone = try devices.store("phone")
    asset = try phone.assets.put(content.bytes)
    try phone.records("notes", synced: true).put("a", ["picture": asset.json])
    try phone.sync(with: remote, user: devices.user)
    tablet = try devices.store("tablet")
    _ = try tablet.records("notes", synced: true)
    try tablet.sync(with: remote, user: devices.user)
  }

  private func fetch(_ store: Store, breakingAfter count: Int64?) throws {
    remote.breakOff(after: count)
    let report = try store.fetchAssets([asset], from: remote, retry: Retry(attempts: 1, base: 0, ceiling: 0))
    #expect(report.fetched == 1)
  }

  /// Fetches until the connection breaks.
  private func interrupt(_ store: Store, after count: Int64) {
    #expect(throws: SatchelError.self) { try fetch(store, breakingAfter: count) }
  }

  private func incoming(_ name: String = "tablet") -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: devices.path(name) + ".assets/incoming")) ?? []
  }

  /// One block of the connection, and one chunk that was not complete.
  private static let inFlight: Int64 = 256 << 10 + 64 << 10

  @Test("a download that breaks off again and again gets each byte once, except what was in flight")
  func again() throws {
    var breaks: Int64 = 0
    while remote.received < 4_500_000 {
      interrupt(tablet, after: 700_000)
      breaks += 1
      #expect(incoming().count == 1)
      try #require(breaks < 20)
    }
    try fetch(tablet, breakingAfter: nil)
    #expect(try tablet.assets.bytes(of: asset) == content.bytes)
    #expect(remote.received < Int64(Self.size) * 101 / 100 + breaks * Self.inFlight)
    #expect(incoming() == [] && breaks > 3)
    #expect(try tablet.assets.verify().orphans == 0 && tablet.check() == [])
  }

  @Test("a download of a sync goes on with the next one") func syncs() throws {
    var options = StoreSyncOptions()
    (options.assets, options.retry) = (.all, Retry(attempts: 1, base: 0, ceiling: 0))
    remote.breakOff(after: 3_000_000)
    let report = try tablet.sync(with: remote, user: devices.user, options: options)
    #expect(report.assets.downloaded == 0 && report.assets.failed.count == 1)
    remote.breakOff(after: nil)
    #expect(try tablet.sync(with: remote, user: devices.user, options: options).assets.downloaded == 1)
    #expect(remote.received < Int64(Self.size) * 101 / 100 + Self.inFlight)
  }

  @Test("a process that is killed has lost at most a MiB, and what was in flight") func killed() throws {
    // What is on the disk while the download goes on is what the end of the process would leave.
    let (path, copy) = (devices.path("tablet"), devices.path("copy"))
    let (isCopied, files) = (Locked(false), FileManager.default)
    remote.onBlock.withLock {
      $0 = { count in
        guard count > 3_000_000, !isCopied.withLock({ $0 }) else { return }
        isCopied.withLock { $0 = true }
        for suffix in ["", "-wal", ".assets"] {
          try? files.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
      }
    }
    try fetch(tablet, breakingAfter: nil)
    remote.onBlock.withLock { $0 = { _ in } }
    #expect(incoming("copy").count == 1)
    let before = remote.received
    let store = try devices.store("copy")
    try fetch(store, breakingAfter: nil)
    #expect(try store.assets.bytes(of: asset) == content.bytes && incoming("copy") == [])
    #expect(remote.received - before < Int64(Self.size) - 3_000_000 + Self.inFlight)
  }

  @Test("a sweep leaves the file of a download that goes on, and removes one that is not wanted any more")
  func sweeps() throws {
    interrupt(tablet, after: 2_000_000)
    _ = try tablet.assets.verify()
    _ = try tablet.assets.prune()
    #expect(incoming().count == 1)
    try tablet.database.write { try $0.connection.execute("DELETE FROM asset_transfer") }
    _ = try tablet.assets.verify()
    #expect(incoming() == [])
  }

  /// What a row may name.
  enum Name: CaseIterable { case absent, path, link, hardLink, folder, long, other, short }

  @Test("a row that names no file, or one with other bytes, begins again", arguments: Name.allCases)
  func hostile(name: Name) throws {
    interrupt(tablet, after: 2_000_000)
    let folder = devices.path("tablet") + ".assets/incoming/"
    let file = folder + (try #require(incoming().first))
    let outside = devices.directory.path + "/outside"
    try Data([1, 2, 3]).write(to: URL(filePath: outside))
    let files = FileManager.default
    switch name {
    case .absent: try files.removeItem(atPath: file)
    case .path:
      try tablet.database.write {
        try $0.connection.run("UPDATE asset_transfer SET file = ?", .text("../../outside"))
      }
    case .link:
      try files.removeItem(atPath: file)
      try files.createSymbolicLink(atPath: file, withDestinationPath: outside)
    case .hardLink:
      try files.removeItem(atPath: file)
      try files.linkItem(atPath: outside, toPath: file)
    case .folder:
      try files.removeItem(atPath: file)
      try files.createDirectory(atPath: file, withIntermediateDirectories: false)
    case .long: try Data(count: Self.size + 1).write(to: URL(filePath: file))
    case .other: try Data(count: 3 << 20).write(to: URL(filePath: file))
    case .short: try Data(content.bytes.prefix(70_000)).write(to: URL(filePath: file))
    }
    try fetch(tablet, breakingAfter: nil)
    #expect(try tablet.assets.bytes(of: asset) == content.bytes)
    #expect(try Data(contentsOf: URL(filePath: outside)) == Data([1, 2, 3]))
    #expect(try tablet.database.read { try $0.number("SELECT count(*) FROM asset_transfer") } == 0)
    #expect(try tablet.check() == [])
  }

  @Test("a backup that names a download which it does not have begins again") func backup() throws {
    interrupt(tablet, after: 2_000_000)
    try tablet.backup(to: devices.directory.path + "/backup")
    try Store.restore(devices.directory.path + "/backup", to: devices.path("restored"))
    let store = try devices.store("restored")
    try fetch(store, breakingAfter: nil)
    #expect(try store.assets.bytes(of: asset) == content.bytes)
  }

  @Test("two that download the same at once do not disturb each other") func twice() throws {
    interrupt(tablet, after: 2_000_000)
    let (asset, content) = (asset, content)
    let other = try devices.store("tablet")
    let direct = devices.remote
    let isBegun = Locked(false)
    remote.onBlock.withLock {
      $0 = { _ in
        guard !isBegun.withLock({ $0 }) else { return }
        isBegun.withLock { $0 = true }
        #expect((try? other.fetchAssets([asset], from: direct))?.fetched == 1)
      }
    }
    try fetch(tablet, breakingAfter: nil)
    #expect(try tablet.assets.bytes(of: asset) == content.bytes)
    _ = try tablet.assets.verify()
    #expect(try incoming() == [] && other.check() == [])
  }
}
