import SatchelCore
import SatchelJSON
import SatchelStorage

/// The assets of a store: immutable bytes, each kept once however many documents refer to them.
///
/// Assets up to 64 KiB are rows of the store's file; larger ones are files in the folder `{store}.assets` next to it.
/// Safe to use from any number of threads; several processes may use the same store.
public final class AssetStore: Sendable {
  package let database: Database
  package let folder: AssetFolder
  /// The times at which assets were read, by row, which the next write of this handle stores.
  let reads = Locked<[Int64: Int64]>([:])
  /// When this handle last removed unused assets, on the monotonic clock.
  let lastCleaning = Locked<Int64?>(nil)
  let flights = AssetFlights()

  /// Returns the assets that are not evicted: those of offline regions of the catalogue.
  let pinned: @Sendable (Connection) throws -> Set<Int64>

  /// Whether larger assets are rows, too: all of the store is in one file.
  let keepsRows: Bool

  package init(
    _ database: Database, keepsRows: Bool = false,
    pinned: @escaping @Sendable (Connection) throws -> Set<Int64> = { _ in [] }
  ) {
    (self.database, self.keepsRows, self.pinned) = (database, keepsRows, pinned)
    folder = AssetFolder(of: database.realPath, calls: database.options.fileCalls)
  }

  /// The largest asset whose bytes are a row: measured on ext4 with synced commits, rows are 2 to 10 times as fast below,
  /// files above.
  package static let maxRow = 64 * 1024
  /// The largest asset that can be a row: SQLite's limit is a little less than twice as high.
  static let maxLargeRow: Int64 = 512 << 20
  /// The bytes that a store in memory keeps at most.
  static let maxMemory: Int64 = 256 << 20
  /// An asset that was put, dropped or read within this time, in milliseconds, is not removed: the record that refers to
  /// it may be about to be put.
  static let grace: Int64 = 60 * 60 * 1000

  /// The subject of the host's functions that run on behalf of this store.
  package var work: HostWork.Resource { HostWork.Resource(ObjectIdentifier(database)) }

  /// Reads in a store that may have no assets yet.
  ///
  /// - Returns: nil in that case
  func read<Result>(_ body: (AssetTable) throws -> Result) throws -> Result? {
    guard try database.has(AssetSchema.subject) else { return nil }
    return try database.read { try body(AssetTable($0)) }
  }

  /// Writes, with the tables of assets.
  func write<Result>(isSynced: Bool = true, _ body: (AssetTable, Transaction) throws -> Result) throws
    -> Result
  {
    try database.prepare(AssetSchema.subject)
    return try database.write(isSynced: isSynced) { transaction in
      try saveReads(transaction)
      return try body(AssetTable(transaction.connection), transaction)
    }
  }

  // MARK: Reading

  /// Returns where the bytes of an asset are.
  ///
  /// - Throws: `SatchelError` `.io`, `.closed`
  public func state(of asset: Asset) throws -> AssetState {
    try read { try $0.state(asset) } ?? (asset.url == nil ? .missing : .remote)
  }

  /// Opens the bytes of an asset, which stay readable while the reader is open, even when the asset is removed meanwhile.
  ///
  /// - Parameter verifying: whether all bytes are hashed first: a file in the folder may have been damaged
  /// - Throws: `SatchelError` `.notFound` when the bytes are not here: `fetch` gets those that are `remote`; `.damaged` for
  ///   a file that is lost, or has other bytes; `.unauthorized` for a sensitive asset when the store's key is not set; `.io`,
  ///   `.closed`
  public func open(_ asset: Asset, verifying: Bool = false) throws -> AssetReader {
    let reader = try find(asset)
    if verifying { try reader.verify() }
    return reader
  }

  private func find(_ asset: Asset) throws -> AssetReader {
    guard let (row, digest) = try read({ try $0.find(asset) }) ?? nil, row.place != .absent else {
      throw notHere(asset)
    }
    noteRead(of: row.id)
    let seal = try row.seal?.opened(digest, size: row.size ?? 0, by: database.keyring.keys)
    guard let reader = try open(row, digest, seal) else { throw notHere(asset) }
    return reader
  }

  /// Opens the bytes of a row.
  ///
  /// - Parameter seal: opens them; nil for what they are stored as
  /// - Returns: nil when they were removed meanwhile
  func open(_ row: AssetTable.Row, _ digest: AssetDigest, _ seal: AssetSeal?) throws -> AssetReader? {
    if row.place == .row {
      guard let bytes = try read({ try $0.bytes(row.id) }) ?? nil else { return nil }
      return try AssetReader(bytes, digest, seal)
    }
    let size = row.size ?? 0
    let file = row.file(digest)
    do {
      return try AssetReader(
        folder, file, digest, size: row.seal == nil ? size : StoredSeal.size(of: size), seal)
    } catch let error as SatchelError where error.code == .notFound {
      // Removed between the two: then the row says so by now.
      guard let now = try read({ try $0.row(digest) }) ?? nil, now.place == .file, now.file(digest) == file
      else { return nil }
      throw SatchelError(
        .damaged,
        "\(folder.path(of: file)): the file of this asset is lost; assets.verify marks it as missing")
    }
  }

  private func notHere(_ asset: Asset) -> SatchelError {
    let name = asset.sha256.map { "asset \($0)" } ?? "asset of \(asset.url ?? "")"
    return SatchelError(
      .notFound, "\(name): its bytes are not in the store; assets.fetch gets those that are remote")
  }

  /// Returns bytes of an asset.
  ///
  /// - Parameters:
  ///   - offset: of the first byte
  ///   - count: the maximum number of bytes; nil for all to the end
  /// - Throws: as `open`; `SatchelError` `.invalid` for a negative number
  public func bytes(of asset: Asset, from offset: Int64 = 0, count: Int? = nil) throws -> [UInt8] {
    let reader = try open(asset)
    return try reader.read(count ?? Int(clamping: max(0, reader.size - offset)), at: offset)
  }

  // MARK: The order of use

  func noteRead(of id: Int64) {
    if database.options.isReadOnly { return }
    let now = database.clock.now()
    reads.withLock { $0[id] = now }
  }

  /// Stores when assets were read, as part of another write.
  private func saveReads(_ transaction: Transaction) throws {
    let taken = reads.withLock { reads in
      defer { reads = [:] }
      return reads
    }
    let table = AssetTable(transaction.connection)
    for (id, time) in taken { try table.use(id, now: min(time, transaction.now)) }
  }

  /// Stores when assets were read, as the last step before the store closes: a failure costs only the order of eviction.
  package func saveReadsWhenClosing() {
    database.whenClosing { [weak self] _ in
      guard let self, reads.withLock({ !$0.isEmpty }), !database.options.isReadOnly else { return }
      try? write(isSynced: false) { _, _ in }
    }
  }
}
