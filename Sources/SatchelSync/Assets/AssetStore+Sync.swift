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

  package func open(_ digest: AssetDigest) throws -> any AssetBytes { try open(Asset(digest)) }

  package func noteDamage(of digest: AssetDigest) throws { try mark(digest, deep: true) }

  /// Nothing is kept of an interrupted download.
  package func store(
    _ digest: AssetDigest, size: Int64, resuming: Bool, _ write: (any AssetDownload) throws -> Void
  ) throws {
    _ = try put(maxSize: size, expecting: digest) {
      try write(AssetWriterDownload($0))
    } then: { _, _, _ in
    }
  }
}

/// An asset that is written from its beginning.
private final class AssetWriterDownload: AssetDownload {
  private let writer: AssetWriter

  init(_ writer: AssetWriter) { self.writer = writer }

  var count: Int64 { writer.size }

  func append(_ bytes: [UInt8]) throws { try writer.append(bytes) }

  func restart() throws {
    if count > 0 { throw SatchelError(.internal, "an asset that is being written cannot begin again") }
  }
}

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
