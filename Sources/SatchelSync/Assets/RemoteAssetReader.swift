import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

/// The assets that a sync downloads.
public enum AssetDownloads: Sendable, Equatable {
  /// None: each is fetched when it is needed.
  case lazy
  /// All that the store refers to,
  case all
  /// or the newest of them, up to so many bytes.
  case bytes(Int64)
}

/// Reads assets that are in the remote.
package struct RemoteAssetReader: Sendable {
  private let ledger: SyncLogTables
  private let remote: SyncLogRemote

  /// - Parameter cancellation: between blocks
  package init(
    _ ledger: SyncLogTables, with store: any ObjectStore, user: UserID, retry: Retry = Retry(),
    cancellation: Cancellation = .never
  ) throws {
    self.init(
      ledger, try SyncLogRemote(store, user: user, keys: nil, retry: retry, cancellation: cancellation))
  }

  init(_ ledger: SyncLogTables, _ remote: SyncLogRemote) { (self.ledger, self.remote) = (ledger, remote) }

  /// Downloads an asset into the store, from where an earlier download has stopped.
  ///
  /// - Throws: `SatchelError` `.notFound` for an asset without an object, also when it is not where its entry says;
  ///   `.damaged`: then the next sync looks at it again; `ObjectStoreError`
  package func fetch(_ digest: AssetDigest) throws {
    guard let storage = ledger.client.assets else { throw SatchelError(.internal, "the store has no assets") }
    let (seal, location, isSensitive) = try located(digest)
    var isResumed = false
    func store(resuming: Bool) throws {
      try storage.store(
        digest, size: seal.layout.size, isSensitive: isSensitive, resuming: resuming
      ) { download in
        try resume(download, seal)
        isResumed = download.count > 0
        try fetch(seal, at: location, download)
      }
    }
    do {
      try store(resuming: true)
    } catch let error as SatchelError where error.code == .damaged && isResumed {
      // The beginning may have been damaged by a loss of power.
      try store(resuming: false)
    }
  }

  private func fetch(
    _ seal: AssetSeal, at location: SyncAssetEntry.Location, _ download: any AssetDownload
  ) throws {
    if download.count == seal.layout.size, seal.layout.size > 0 { return }
    let first = download.count / AssetLayout.chunkSize
    try reading(location) { () throws(ObjectStoreError) in
      try remote.read(first..<seal.layout.chunks, of: seal, at: location) { try download.append($0) }
    }
  }

  /// An earlier download has left whole chunks.
  private func resume(_ download: any AssetDownload, _ seal: AssetSeal) throws {
    let isWhole = download.count == seal.layout.size || download.count % AssetLayout.chunkSize == 0
    if !isWhole || download.count > seal.layout.size { try download.restart() }
  }

  /// Reads a range of an asset without storing it; what is beyond its end is missing.
  ///
  /// - Throws: as `fetch`
  package func read(_ digest: AssetDigest, _ range: Range<Int64>) throws -> [UInt8] {
    let (seal, location, _) = try located(digest)
    let range = range.clamped(to: 0..<seal.layout.size)
    let chunks = seal.layout.chunks(with: range)
    var bytes: [UInt8] = []
    try reading(location) { () throws(ObjectStoreError) in
      try remote.read(chunks, of: seal, at: location) { bytes += $0 }
    }
    let start = Int(range.lowerBound - seal.layout.content(of: chunks).lowerBound)
    return Array(bytes.dropFirst(start).prefix(range.count))
  }

  private func located(_ digest: AssetDigest) throws -> (
    AssetSeal, SyncAssetEntry.Location, isSensitive: Bool
  ) {
    let found = try ledger.database.read { connection in
      try SyncTracker.generations(connection).flatMap {
        try SyncAssetTables(connection).located(digest, $0.valid)
      }
    }
    guard let found else { throw SatchelError(.notFound, "asset \(digest): its bytes are not in the remote") }
    let seal = try AssetSeal(digest, size: found.size, key: found.location.key)
    return (seal, found.location, found.isSensitive)
  }

  /// Notes a doubt about an object that cannot be read: one wrong response is not believed.
  private func reading(
    _ location: SyncAssetEntry.Location, _ body: () throws(ObjectStoreError) -> Void
  ) throws {
    do throws(ObjectStoreError) {
      try body()
    } catch {
      if error.reason == .notFound || error.reason == .failed(.damaged) {
        try ledger.doubt([location.object])
      }
      throw error.satchelError
    }
  }

  // MARK: Downloads of a sync

  /// Downloads what a sync is to download, the newest first, several at the same time.
  ///
  /// - Returns: the number of downloads, and what could not be downloaded
  func fetch(
    _ downloads: AssetDownloads, parallel: Int
  ) throws -> (count: Int, failed: [(digest: AssetDigest, error: SatchelError)]) {
    let wanted = try wanted(downloads)
    let results = Locked<[AssetDigest: SatchelError]>([:])
    inParallel(wanted, limit: parallel) { digest in
      do {
        try remote.cancellation.check()
        try fetch(digest)
      } catch {
        results.withLock { $0[digest] = SatchelError(converting: error) }
      }
    }
    try remote.cancellation.check()
    let failed = results.withLock { failed in
      wanted.compactMap { digest in failed[digest].map { (digest, $0) } }
    }
    return (wanted.count - failed.count, failed)
  }

  /// The assets that entries of declared collections refer to, that are in the remote, and not here.
  private func wanted(_ downloads: AssetDownloads) throws -> [AssetDigest] {
    guard downloads != .lazy, let storage = ledger.client.assets else { return [] }
    var rest = Int64.max
    if case .bytes(let limit) = downloads { rest = limit }
    return try ledger.database.read { connection in
      var (wanted, seen) = ([AssetDigest](), Set<AssetDigest>())
      try connection.each(
        """
        SELECT a.sha256, a.size FROM sync_asset a JOIN sync_asset_reference r USING(generation, sha256)
        JOIN sync_entry e ON e.id = r.entry JOIN sync_collection c ON c.id = e.collection
        WHERE a.generation = (SELECT generation FROM sync_log) AND a.object IS NOT NULL AND c.is_declared = 1
        ORDER BY e.seq DESC
        """
      ) { row in
        let digest = try SyncAssetTables.digest(row, 0)
        let size = try row.integer(1, in: 0...AssetLayout.maximumSize)
        guard size <= rest, seen.insert(digest).inserted, try storage.size(of: digest, connection) == nil
        else { return }
        rest -= size
        wanted.append(digest)
      }
      return wanted
    }
  }
}
