import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

/// The assets of two stores that synchronize through a directory, by the public calls.
struct StoreAssetTests {
  private let directory: TemporaryDirectory
  private let remote: DirectoryStore
  private let user: UserID
  private let hours = Locked(0)

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.path + "/remote", withIntermediateDirectories: true)
    remote = try DirectoryStore(path: directory.path + "/remote")
    user = try UserID("ada")
  }

  private func open(_ name: String) throws -> Store {
    var options = StoreOptions()
    let hours = hours
    options.clock = Clock { 1_790_000_000_000 + Int64(hours.withLock { $0 }) * 3_600_000 }
    return try Store(path: directory.path + "/\(name).satchel", options: options)
  }

  private func picture(_ number: UInt8, _ count: Int = 100_000) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number) &* 31) }
  }

  private func options(_ assets: AssetDownloads, key: [UInt8]? = nil) -> StoreSyncOptions {
    var options = StoreSyncOptions()
    (options.assets, options.key) = (assets, key)
    return options
  }

  @Test(arguments: [nil, [UInt8](repeating: 9, count: 32)])
  func `a picture is there when it is needed, on demand and by ranges`(key: [UInt8]?) throws {
    let (phone, tablet) = (try open("phone"), try open("tablet"))
    let notes = try phone.records("notes", synced: true)
    let asset = try phone.assets.put(picture(1), type: "image/jpeg")
    try notes.put("a", ["title": "Porto", "picture": asset.json])
    #expect(try phone.sync(with: remote, user: user, options: options(.lazy, key: key)).assets.uploaded == 1)
    _ = try tablet.records("notes", synced: true)
    let report = try tablet.sync(with: remote, user: user, options: options(.lazy, key: key))
    #expect(report.assets.downloaded == 0 && report.records.downloaded == 1)
    #expect(try tablet.assets.state(of: asset) == .remote)
    let middle = try tablet.assetBytes(of: asset, from: 65_530, count: 20, remote: remote)
    #expect(middle == Array(picture(1)[65_530..<65_550]))
    #expect(try tablet.assets.state(of: asset) == .remote)
    let fetched = try tablet.fetchAssets([asset, Asset(url: "https://example.com/x")], from: remote)
    #expect(fetched.fetched == 1 && fetched.fetchedBytes == 100_000 && fetched.failed.count == 1)
    #expect(try tablet.assets.bytes(of: asset) == picture(1))
    #expect(try tablet.fetchAssets([asset], from: remote).present == 1)
    // A new title uploads no picture.
    try notes.put("a", ["title": "Lisboa", "picture": asset.json])
    #expect(try phone.sync(with: remote, user: user, options: options(.lazy, key: key)).assets.uploaded == 0)
    #expect(try phone.check() == [] && tablet.check() == [])
  }

  @Test func `all pictures come with a sync, or as many as are asked for`() throws {
    let (phone, tablet) = (try open("phone"), try open("tablet"))
    let notes = try phone.records("notes", synced: true)
    for number in 0..<5 {
      let asset = try phone.assets.put(picture(UInt8(number)))
      try notes.put("\(number)", ["picture": asset.json])
    }
    try phone.sync(with: remote, user: user)
    _ = try tablet.records("notes", synced: true)
    #expect(
      try tablet.sync(with: remote, user: user, options: options(.bytes(250_000))).assets.downloaded == 2)
    #expect(try tablet.sync(with: remote, user: user, options: options(.all)).assets.downloaded == 3)
    #expect(try tablet.assets.list(state: .here).assets.count == 5)
  }

  @Test func `what is in the remote is evicted, and what was not sent is not`() throws {
    let phone = try open("phone")
    let notes = try phone.records("notes", synced: true)
    let (sent, unsent) = (try phone.assets.put(picture(1)), try phone.assets.put(picture(2)))
    try notes.put("sent", ["picture": sent.json])
    try phone.sync(with: remote, user: user)
    try notes.put("unsent", ["picture": unsent.json])
    hours.withLock { $0 += 2 }
    let report = try phone.assets.prune(maxBytes: 0)
    #expect(report.removedBytes == 100_000 && report.onlyCopies == 100_000, "\(report)")
    #expect(try phone.assets.state(of: sent) == .remote)
    #expect(try phone.assets.state(of: unsent) == .here)
    try notes.put("sent", ["title": "changed", "picture": sent.json])
    #expect(try phone.fetchAssets([sent], from: remote).fetched == 1)
    #expect(try phone.assets.bytes(of: sent) == picture(1))
  }

  @Test func `records wait for their pictures where these are held back`() throws {
    let phone = try open("phone")
    let notes = try phone.records("notes", synced: true)
    try phone.sync(with: remote, user: user)
    try notes.put("a", ["picture": try phone.assets.put(picture(1)).json])
    try notes.put("b", ["title": "no picture"])
    var held = StoreSyncOptions()
    held.uploadsAssets = false
    let report = try phone.sync(with: remote, user: user, options: held)
    #expect(report.assets.uploaded == 0 && report.records.uploaded == 1)
    #expect(try phone.sync(with: remote, user: user).assets.uploaded == 1)
  }

  @Test(arguments: [1000, 100_000])
  func `a sensitive asset goes to an encrypted remote only, and is encrypted on every device`(size: Int)
    throws
  {
    let (phone, tablet) = (try open("phone"), try open("tablet"))
    let (storeKey, logKey) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 9, count: 32))
    try phone.state.setKey(storeKey)
    let notes = try phone.records("notes", synced: true)
    let asset = try phone.assets.put(picture(3, size), isSensitive: true)
    try notes.put("a", ["scan": asset.json])
    try notes.put("b", ["title": "not sensitive"])
    let plain = try phone.sync(with: remote, user: user, options: options(.lazy))
    #expect(plain.assets.uploaded == 0 && plain.records.uploaded == 1)
    #expect(plain.failed.map(\.code) == [.unauthorized], "\(plain)")
    try phone.rekey(remote, user: user, to: logKey)
    // It goes with the sync that this begins and ends with.
    #expect(try phone.sync(with: remote, user: user, options: options(.lazy, key: logKey)).failed == [])
    #expect(throws: SatchelError.self) {
      try phone.rekey(remote, user: user, options: options(.lazy, key: logKey), to: nil)
    }

    _ = try tablet.records("notes", synced: true)
    let locked = try tablet.sync(with: remote, user: user, options: options(.all, key: logKey))
    #expect(locked.assets.failed.map(\.code) == [.unauthorized], "\(locked)")
    #expect(try tablet.assets.state(of: asset) == .remote)
    try tablet.state.setKey([UInt8](repeating: 2, count: 32))
    #expect(try tablet.fetchAssets([asset], from: remote).fetched == 1)
    #expect(try tablet.assets.bytes(of: asset) == picture(3, size))
    #expect(try tablet.assets.open(asset).path == nil)
    for store in [phone, tablet] {
      #expect(try store.check() == [])
      try store.close()
    }
    let part = Data(picture(3, size)[100..<140])
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
      let data = FileManager.default.contents(atPath: directory.path + "/" + name) ?? Data()
      #expect(data.range(of: part) == nil, "\(name)")
    }
  }

  @Test func `detaching says what is only in the remote, or fetches it first`() throws {
    let (phone, tablet) = (try open("phone"), try open("tablet"))
    let notes = try phone.records("notes", synced: true)
    let assets = try (0..<3).map { try phone.assets.put(picture(UInt8($0))) }
    for asset in assets { try notes.put(asset.sha256 ?? "", ["picture": asset.json]) }
    try phone.sync(with: remote, user: user)
    _ = try tablet.records("notes", synced: true)
    try tablet.sync(with: remote, user: user)
    _ = try tablet.fetchAssets([assets[0]], from: remote)
    let left = try tablet.detach()
    #expect(left.remoteAssets == 2 && left.remoteBytes == 200_000 && left.assets.fetched == 0)
    #expect(try tablet.assets.state(of: assets[1]) == .missing)
    #expect(try tablet.detach() == StoreDetachReport())
    try tablet.sync(with: remote, user: user)
    #expect(try tablet.assets.state(of: assets[1]) == .remote)
    let report = try tablet.detach(fetchingAssetsFrom: remote)
    #expect(report.remoteAssets == 0 && report.assets.fetched == 2 && report.assets.failed.isEmpty)
    for asset in assets { #expect(try tablet.assets.state(of: asset) == .here) }
    #expect(try tablet.syncStatus().remote == nil && tablet.check() == [])
  }

  @Test func `another remote, and a store that was never synchronized, are refused`() throws {
    let phone = try open("phone")
    let asset = try Asset(sha256: String(repeating: "a", count: 64))
    let never = #expect(throws: SatchelError.self) { try phone.fetchAssets([asset], from: remote) }
    #expect(never?.code == .invalid)
    // A sync without content on either side writes no head: nothing is there.
    _ = try phone.records("notes", synced: true)
    try phone.sync(with: remote, user: user)
    let report = try phone.fetchAssets([asset], from: remote)
    #expect(report.fetched == 0 && report.failed.map(\.asset) == [asset])
    #expect(try phone.fetchAssets([], from: remote) == AssetFetchReport())
    try phone.records("notes", synced: true).put("a", ["title": "Porto"])
    try phone.sync(with: remote, user: user)
    try FileManager.default.createDirectory(
      atPath: directory.path + "/other", withIntermediateDirectories: true)
    let other = try DirectoryStore(path: directory.path + "/other")
    let error = #expect(throws: SatchelError.self) { try phone.fetchAssets([asset], from: other) }
    #expect(error?.code == .foreign)
    let detaching = #expect(throws: SatchelError.self) { try phone.detach(fetchingAssetsFrom: other) }
    #expect(try detaching?.code == .foreign && phone.syncStatus().remote != nil)
    #expect(try phone.fetchAssets([asset], from: remote).failed.count == 1)
  }
}
