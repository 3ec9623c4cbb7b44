import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

@testable import SatchelSync

/// A device with documents that refer to assets.
struct AssetTestDevice {
  let device: SyncTestDevice
  let folder: AssetTestFolder
  let time: Locked<Int64>

  init(_ sizes: SyncSizes = SyncSizes(), time: Locked<Int64> = Locked(1_000_000)) throws {
    self.time = time
    device = try SyncTestDevice(sizes, clock: Clock { time.withLock { $0 } })
    folder = try AssetTestFolder()
    device.client.assets = folder
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    while try device.continuePhase() {}
  }

  /// A document that refers to assets, whose bytes are added.
  @discardableResult
  func put(_ id: String, _ contents: [AssetContent]) throws -> [AssetDigest] {
    let digests = try contents.map { try folder.add($0) }
    try refer(id, digests)
    return digests
  }

  /// A document that refers to assets.
  func refer(_ id: String, _ digests: [AssetDigest]) throws {
    try device.client.edit([(try SyncKey("things", id), Self.fields(digests))], now: now)
  }

  func delete(_ id: String) throws { try device.client.edit([(try SyncKey("things", id), nil)], now: now) }

  var now: Int64 { time.withLock { $0 } }

  static func fields(_ digests: [AssetDigest]) -> [String: String] {
    Dictionary(digests.enumerated().map { ("\($0)", "\($1)") }, uniquingKeysWith: { $1 })
  }

  @discardableResult
  func sync(_ store: any ObjectStore, _ change: (inout SyncLogOptions) -> Void = { _ in }) throws
    -> SyncLogReport
  { try device.sync(store, change) }

  func reader(_ store: any ObjectStore) throws -> RemoteAssetReader {
    try RemoteAssetReader(
      device.ledger, with: store, user: SyncTestDevice.user, retry: Retry(attempts: 3, base: 0, ceiling: 0))
  }

  /// The assets of the shadow.
  func assets() throws -> [AssetDigest: SyncAssetEntry] {
    try device.entries().reduce(into: [:]) { assets, entry in
      guard entry.key.collection == SyncKey.asset, let digest = AssetDigest(entry.key.id),
        let document = try SyncEnvelope(parsing: entry.value.envelope).content.document
      else { return }
      assets[digest] = try SyncAssetEntry(parsing: document)
    }
  }
}

extension SyncMemoryStore {
  static let head = "records/somebody/head"

  /// The keys of the objects of assets.
  var assetKeys: [String] { objects.keys.filter { $0.hasPrefix("assets/") }.sorted() }

  func readHead() throws -> SyncHead { try SyncHead(parsing: objects[Self.head]?.body ?? []) }

  /// The requests without those for the head.
  func assetRequests() -> [String] { takeRequests().filter { $0.contains(".") } }
}
