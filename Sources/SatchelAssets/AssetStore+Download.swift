import SatchelCore
import SatchelStorage

/// Downloads that go on where they were interrupted.
extension AssetStore {
  /// Stores an asset whose bytes arrive in order. When `write` throws, or the process ends, what has arrived of a larger
  /// asset stays for the next download of it, unless it is sensitive.
  ///
  /// - Parameters:
  ///   - size: of the asset in bytes
  ///   - unit: an earlier download goes on at a multiple of it, or has all bytes; nil to begin again
  ///   - isSensitive: as of `put`
  ///   - write: appends the bytes after those that are there
  /// - Throws: `SatchelError` `.damaged` for bytes with another SHA-256, which are removed; as `put`; the errors of `write`
  package func download(
    _ digest: AssetDigest, size: Int64, unit: Int64?, isSensitive: Bool = false,
    _ write: (PartialAsset) throws -> Void
  ) throws {
    let writer = try makeWriter(type: nil, maxSize: size, isSensitive: isSensitive, for: digest)
    let partial = PartialAsset(writer, .asset(digest, size: size), limit: size, in: self)
    if let unit { try partial.resume(unit) }
    do {
      try write(partial)
    } catch {
      partial.keep()
      throw error
    }
    _ = try put(writer, type: nil, expecting: digest)
  }

  /// Removes files of downloads that no row names.
  func removeAbandoned() throws {
    try folder.removeAbandoned { name in try read { try $0.hasTransfer(name) } ?? false }
  }
}

/// An asset that is being downloaded.
package final class PartialAsset {
  /// The asset, or the URL that it is fetched from.
  enum Origin {
    case asset(AssetDigest, size: Int64)
    /// - Parameter isVerified: whether the SHA-256 of the bytes is known
    case url(String, isVerified: Bool)
  }

  /// A download that has advanced this far is worth a transaction, in case that the process ends.
  private static let notedSize: Int64 = 1 << 20

  private let writer: AssetWriter
  private let origin: Origin
  private let limit: Int64
  private let store: AssetStore
  /// Whether no row has to be written any more.
  private var isNoted: Bool
  /// Of a URL, the entity tag of the bytes, by which a server says that they are still the same; nil without one.
  package var etag: String?
  /// Whether a later download can go on with these bytes. Of a URL its source has to say so.
  private var canGoOn: Bool

  /// - Parameter limit: the maximum size of the asset in bytes
  init(_ writer: AssetWriter, _ origin: Origin, limit: Int64, in store: AssetStore) {
    (self.writer, self.origin, self.limit, self.store) = (writer, origin, limit, store)
    isNoted = limit <= AssetStore.maxRow || store.database.isMemory || writer.isSealed
    if case .asset = origin { canGoOn = true } else { canGoOn = false }
    writer.partial = self
  }

  /// The number of bytes so far.
  package var count: Int64 { writer.size }

  /// Appends verified bytes.
  package func append(_ bytes: [UInt8]) throws { try writer.append(bytes) }

  /// Removes all bytes.
  package func restart() throws { try writer.restart() }

  /// Begins with what an earlier download has left, if anything.
  ///
  /// - Parameter unit: goes on at a multiple of it, unless all bytes are there
  fileprivate func resume(_ unit: Int64) throws {
    guard !isNoted, let known = try store.read({ try $0.transfer(of: origin) }) ?? nil else { return }
    let file: AssetFolder.Incoming?
    do {
      file = try store.folder.openIncoming(known.file)
    } catch let error as SatchelError where error.code == .busy {
      // Another process downloads it: its row stays.
      isNoted = true
      return
    }
    guard let file else { return }
    let found = Int64(try file.file.status().st_size)
    // One that is too long has other bytes: it is removed, and nothing is kept of it.
    guard found <= limit else { return }
    do {
      try writer.resume(file, count: found == limit ? found : found - found % unit)
    } catch {
      return try writer.restart()
    }
    (file.isKept, isNoted, etag) = (true, true, known.etag)
  }

  /// Begins with what an earlier fetch of the URL has left; its source goes on with such bytes.
  func goOn() throws {
    canGoOn = true
    try resume(1)
  }

  /// Whether the bytes of a later download are those that follow these ones.
  private var isSame: Bool {
    guard case .url(_, let isVerified) = origin else { return true }
    // A weak tag says that something has the same meaning, not that it has the same bytes.
    return isVerified || etag.map { $0.hasPrefix("\"") && $0.utf8.count <= 1024 } ?? false
  }

  /// Notes a download that has advanced far.
  func advance() { if !isNoted, count >= Self.notedSize { note() } }

  /// Writes the row before the bytes are complete: the process may end at any time. Without it they are only downloaded
  /// again, so a failure does not fail the download.
  private func note() {
    guard canGoOn, isSame else { return }
    isNoted = true
    guard let file = writer.file else { return }
    do {
      try store.write(isSynced: false) { table, transaction in
        try table.setTransfer(file.name, etag, of: origin, now: transaction.now)
      }
      file.isKept = true
    } catch {}
  }

  /// Keeps what has arrived, synced, so that a loss of power does not cost it.
  func keep() {
    if writer.hasFailed { return writer.discard() }
    if !isNoted { note() }
    guard let file = writer.file, file.isKept else { return }
    try? file.file.sync()
  }
}

extension AssetTable {
  /// The file of `incoming` with the first bytes of an asset that is not here, and the entity tag of a URL.
  func transfer(of origin: PartialAsset.Origin) throws -> (file: String, etag: String?)? {
    switch origin {
    case .asset(let digest, _):
      try digest.bytes.withUnsafeBytes {
        try connection.first(
          """
          SELECT t.file FROM asset a JOIN asset_transfer t ON t.asset = a.id WHERE a.sha256 = ? AND a.place = 0
          """, .blob($0)
        ) { ($0.text(0), nil) }
      }
    case .url(let url, _):
      try connection.first(
        "SELECT t.file, t.etag FROM asset_source s JOIN asset_transfer t ON t.asset = -s.id WHERE s.url = ?",
        .text(url)
      ) { ($0.text(0), $0.textIfAny(1)) }
    }
  }

  /// Whether a download goes on with a file: of an asset that is not here, or of a URL.
  func hasTransfer(_ file: String) throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM asset_transfer t JOIN asset a ON a.id = t.asset WHERE t.file = ?1 AND a.place = 0)
      OR EXISTS(SELECT 1 FROM asset_transfer t JOIN asset_source s ON s.id = -t.asset WHERE t.file = ?1)
      """, .text(file)) == 1
  }

  fileprivate func setTransfer(
    _ file: String, _ etag: String?, of origin: PartialAsset.Origin, now: Int64
  ) throws {
    let row =
      switch origin {
      case .asset(let digest, let size): try made(digest, size: size, now: now).id
      case .url(let url, _): try -source(url)
      }
    try connection.run(
      "INSERT OR REPLACE INTO asset_transfer(asset, file, etag) VALUES(?, ?, ?)", .integer(row), .text(file),
      Binding(etag))
  }

  /// - Parameter id: of an asset, or the negative one of a URL
  func removeTransfer(of id: Int64) throws {
    try connection.run("DELETE FROM asset_transfer WHERE asset = ?", .integer(id))
  }
}
