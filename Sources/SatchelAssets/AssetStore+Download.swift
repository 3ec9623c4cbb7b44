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
    let partial = PartialAsset(writer, digest, size: size, in: self)
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
  /// A download that has advanced this far is worth a transaction, in case that the process ends.
  static let notedSize: Int64 = 1 << 20

  private let writer: AssetWriter
  private let digest: AssetDigest
  private let size: Int64
  private let store: AssetStore
  /// Whether no row has to be written any more.
  private var isNoted: Bool

  fileprivate init(_ writer: AssetWriter, _ digest: AssetDigest, size: Int64, in store: AssetStore) {
    (self.writer, self.digest, self.size, self.store) = (writer, digest, size, store)
    isNoted = size <= AssetStore.maxRow || store.database.isMemory || writer.isSealed
  }

  /// The number of bytes so far.
  package var count: Int64 { writer.size }

  /// Appends verified bytes.
  package func append(_ bytes: [UInt8]) throws {
    try writer.append(bytes)
    if !isNoted, count >= Self.notedSize { note() }
  }

  /// Removes all bytes.
  package func restart() throws { try writer.restart() }

  /// Begins with what an earlier download has left, if anything.
  fileprivate func resume(_ unit: Int64) throws {
    guard !isNoted, let name = try store.read({ try $0.transfer(of: digest) }) ?? nil else { return }
    let file: AssetFolder.Incoming?
    do {
      file = try store.folder.openIncoming(name)
    } catch let error as SatchelError where error.code == .busy {
      // Another process downloads it: its row stays.
      isNoted = true
      return
    }
    guard let file else { return }
    let found = Int64(try file.file.status().st_size)
    // One that is too long has other bytes: it is removed, and nothing is kept of it.
    guard found <= size else { return }
    do {
      try writer.resume(file, count: found == size ? found : found - found % unit)
    } catch {
      return try writer.restart()
    }
    (file.isKept, isNoted) = (true, true)
  }

  /// Writes the row before the bytes are complete: the process may end at any time. Without it they are only downloaded
  /// again, so a failure does not fail the download.
  private func note() {
    isNoted = true
    guard let file = writer.file else { return }
    do {
      try store.write(isSynced: false) { table, transaction in
        let row = try table.made(digest, size: size, now: transaction.now)
        try table.setTransfer(file.name, of: row.id)
      }
      file.isKept = true
    } catch {}
  }

  /// Keeps what has arrived, synced, so that a loss of power does not cost it.
  fileprivate func keep() {
    if !isNoted { note() }
    guard let file = writer.file, file.isKept else { return }
    try? file.file.sync()
  }
}

extension AssetTable {
  /// The file of `incoming` with the first bytes of an asset that is not here.
  func transfer(of digest: AssetDigest) throws -> String? {
    try digest.bytes.withUnsafeBytes {
      try connection.first(
        """
        SELECT t.file FROM asset a JOIN asset_transfer t ON t.asset = a.id WHERE a.sha256 = ? AND a.place = 0
        """, .blob($0)
      ) { $0.text(0) }
    }
  }

  /// Whether a download of an asset that is not here goes on with a file.
  func hasTransfer(_ file: String) throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM asset_transfer t JOIN asset a ON a.id = t.asset WHERE t.file = ? AND a.place = 0)
      """, .text(file)) == 1
  }

  func setTransfer(_ file: String, of id: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO asset_transfer(asset, file) VALUES(?, ?)", .integer(id), .text(file))
  }

  func removeTransfer(of id: Int64) throws {
    try connection.run("DELETE FROM asset_transfer WHERE asset = ?", .integer(id))
  }
}
