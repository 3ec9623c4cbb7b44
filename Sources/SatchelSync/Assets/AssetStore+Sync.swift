import SatchelAssets
import SatchelCore
import SatchelStorage

extension AssetReader: AssetBytes {}

/// The assets of a store, as a sync reads and writes them.
extension AssetStore: AssetStorage {
  package func size(of digest: AssetDigest, _ connection: Connection) throws -> Int64? {
    guard try database.has(AssetSchema.subject), let row = try AssetTable(connection).row(digest),
      row.place != .absent
    else { return nil }
    return row.size
  }

  package func isSensitive(_ digest: AssetDigest, _ connection: Connection) throws -> Bool {
    guard try database.has(AssetSchema.subject) else { return false }
    return try AssetTable(connection).isSensitive(digest)
  }

  package func open(_ digest: AssetDigest) throws -> any AssetBytes { try open(Asset(digest)) }

  package func noteDamage(of digest: AssetDigest) throws { try mark(digest, deep: true) }

  package func store(
    _ digest: AssetDigest, size: Int64, isSensitive: Bool, resuming: Bool,
    _ write: (any AssetDownload) throws -> Void
  ) throws {
    let unit = resuming ? AssetLayout.chunkSize : nil
    try download(digest, size: size, unit: unit, isSensitive: isSensitive) { try write($0) }
  }
}

extension PartialAsset: AssetDownload {}

extension AssetReferences {
  /// The assets whose bytes the sync log keeps, ascending: those that are here, and those that no URL has.
  ///
  /// - Parameter storage: of the store
  package func kept(by storage: any AssetStorage, _ connection: Connection) throws -> [AssetDigest] {
    var digests: Set<AssetDigest> = []
    for (_, asset) in found {
      guard let digest = asset.digest else { continue }
      if try asset.url == nil || storage.size(of: digest, connection) != nil { digests.insert(digest) }
    }
    return digests.ordered()
  }
}
