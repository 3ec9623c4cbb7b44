import SatchelRemoteTesting

@testable import SatchelPhotos
import SatchelRemote
@testable import SatchelSync
@testable import SatchelCore
@testable import SatchelStorage

/// Devices with a catalogue each, and a remote.
struct SyncFixture {
  let store: SyncStore
  let user: UserID
  let manifest: String
  /// The policies that photos support.
  static let policies: [ConflictPolicy] = [.remoteWins, .merge]
  static let retry = Retry(attempts: 4, base: 0, ceiling: 0, limit: .max)

  init(hasContentETags: Bool = false) throws {
    store = SyncStore(hasContentETags: hasContentETags)
    user = try UserID("anna")
    manifest = user.manifestKey
  }

  func shardKey(_ shard: Int) -> String { "catalogs/anna/shards/\(String(shard, radix: 16)).csv" }

  /// A new device.
  func device() throws -> PhotoCatalogue {
    let database = try Database.open(
      path: ":memory:", options: StoreOptions(), migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    return try PhotoCatalogue(database: database, directory: "/photos")
  }

  static func md5(_ shard: Int, _ number: Int) throws -> MD5 {
    let digits = String(number, radix: 16)
    let zeros = String(repeating: "0", count: 31 - digits.count)
    guard let md5 = MD5(String(shard, radix: 16) + zeros + digits) else {
      throw SatchelError(.internal, "no md5")
    }
    return md5
  }

  static func photo(_ shard: Int, _ number: Int, _ name: String = "a.jpg") throws -> Photo {
    Photo(md5: try md5(shard, number), filename: name, size: 1, photodate: 2, modified: 3)
  }

  func options(_ change: (inout SyncOptions) -> Void = { _ in }) -> SyncOptions {
    var options = SyncOptions()
    options.retry = Self.retry
    change(&options)
    return options
  }

  @discardableResult
  func sync(
    _ device: PhotoCatalogue, _ change: (inout SyncOptions) -> Void = { _ in },
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> SyncReport {
    try device.sync(with: store, user: user, options: options(change), progress: progress)
  }

  /// Two devices and a remote with the same photo in each of some shards.
  func syncedDevices(on shards: Range<Int> = 0..<4) throws -> (PhotoCatalogue, PhotoCatalogue) {
    let (one, other) = (try device(), try device())
    try one.upsert(shards.map { try Self.photo($0, 1) })
    try sync(one)
    try sync(other)
    return (one, other)
  }

  /// All rows of a device, shard by shard.
  static func content(_ device: PhotoCatalogue) throws -> [[UInt8]] {
    try Shard.Index.all.map { try device.exportShard($0) }
  }

  /// The content of the remote, shard by shard.
  func content() -> [[UInt8]] { (0..<16).map { store.bodies[shardKey($0)] ?? [] } }

  func readManifest() throws -> Manifest { try Manifest(parsing: store.bodies[manifest] ?? []) }

  static func numbers(_ shards: [Shard.Index]) -> [Int] { shards.map(\.number) }
}
