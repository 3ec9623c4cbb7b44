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

  package init(_ database: Database) {
    self.database = database
    folder = AssetFolder(of: database.realPath, calls: database.options.fileCalls)
  }

  /// The largest asset whose bytes are a row: measured on ext4 with synced commits, rows are 2 to 10 times as fast below,
  /// files above.
  package static let maxRow = 64 * 1024
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
  ///   a file that is lost, or has other bytes; `.io`, `.closed`
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
    if row.place == .row {
      guard let bytes = try read({ try $0.bytes(row.id) }) ?? nil else { throw notHere(asset) }
      return AssetReader(bytes, digest)
    }
    do {
      return try AssetReader(folder, digest, size: row.size ?? 0)
    } catch let error as SatchelError where error.code == .notFound {
      // Removed between the two: then the row says so by now.
      guard let now = try read({ try $0.row(digest) }) ?? nil, now.place == .file else {
        throw notHere(asset)
      }
      throw SatchelError(
        .damaged,
        "\(folder.path(of: digest)): the file of this asset is lost; assets.verify marks it as missing")
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

/// The open bytes of one asset.
///
/// Safe to use from several threads at once.
// Unchecked: what it has does not change, except for `lock`, which is released when it ends.
public final class AssetReader: @unchecked Sendable {
  private enum Source {
    case row([UInt8])
    case file(FileHandle)
  }

  private final class FileHandle {
    let file: DiskFile
    let lock: AssetFolder.Lock

    init(_ file: consuming DiskFile, _ lock: consuming AssetFolder.Lock) {
      self.file = file
      self.lock = lock
    }
  }

  private let source: Source
  private let digest: AssetDigest
  /// The number of bytes.
  public let size: Int64

  init(_ bytes: [UInt8], _ digest: AssetDigest) {
    source = .row(bytes)
    (self.digest, size) = (digest, Int64(bytes.count))
  }

  /// - Throws: `.notFound` without the file; `.damaged` for one of another size
  init(_ folder: AssetFolder, _ digest: AssetDigest, size: Int64) throws {
    let lock = try folder.lockShared()
    let file = try folder.open(digest)
    let actual = Int64(try file.status().st_size)
    guard actual == size else {
      throw SatchelError(.damaged, "\(file.path): has \(actual) bytes, not the \(size) of the asset")
    }
    path = file.path
    source = .file(FileHandle(file, lock))
    (self.digest, self.size) = (digest, size)
  }

  /// The path of the file, for players and other programs: it stays while the reader is open. Nil for a small asset,
  /// which is in the store's file.
  public private(set) var path: String?

  /// The SHA-256 of the bytes, 64 hexadecimal digits in lower case.
  public var sha256: String { digest.text }

  /// Returns up to `count` bytes from `offset` on; fewer at the end, none after it.
  ///
  /// - Throws: `SatchelError` `.invalid` for a negative number, `.damaged` for a file that has become shorter, `.io`
  public func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
    try check(count, offset)
    return try [UInt8](unsafeUninitializedCapacity: Int(min(Int64(count), max(0, size - offset)))) {
      buffer, done in
      done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Reads bytes from `offset` on into a buffer.
  ///
  /// - Returns: the number of bytes, less than the buffer's size only at the end
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
    try check(buffer.count, offset)
    let count = Int(min(Int64(buffer.count), max(0, size - offset)))
    guard count > 0 else { return 0 }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    switch source {
    case .row(let bytes):
      bytes.withUnsafeBytes {
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count]))
      }
    case .file(let handle):
      guard try handle.file.read(into: target, at: offset) == count else {
        throw SatchelError(.damaged, "\(handle.file.path): has become shorter")
      }
    }
    return count
  }

  private func check(_ count: Int, _ offset: Int64) throws {
    guard offset >= 0 else { throw SatchelError(.invalid, "offset: \(offset) must not be negative") }
    guard count >= 0 else { throw SatchelError(.invalid, "count: \(count) must not be negative") }
  }

  /// Visits the bytes in parts of at most 256 KiB.
  package func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    if case .row(let bytes) = source { return try bytes.withUnsafeBytes(body) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < size {
      let count = try read(into: buffer, at: offset)
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }

  /// Hashes all bytes.
  ///
  /// - Throws: `.damaged` when they are not those of the asset
  func verify() throws {
    var hash = SHA256()
    try forEachPart {
      try InterruptibleCall.check()
      hash.update($0)
    }
    guard hash.digest() == digest.bytes else {
      throw SatchelError(.damaged, "\(path ?? "asset \(sha256)"): has other bytes than the asset")
    }
  }
}
