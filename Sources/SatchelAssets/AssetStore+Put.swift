import SatchelCore
import SatchelStorage

extension AssetStore {
  /// Puts bytes into the store. Bytes that it has already are not stored again.
  ///
  /// An asset to which nothing refers is kept for an hour at least, and removed later: put the record that refers to it
  /// next.
  ///
  /// - Parameter type: the media type of the returned reference
  /// - Returns: the reference, with SHA-256 and size
  /// - Throws: `SatchelError` `.readOnly`, `.full`, `.io`, `.busy`, `.closed`
  @discardableResult
  public func put(_ bytes: [UInt8], type: String? = nil) throws -> Asset {
    try bytes.withUnsafeBytes { try put($0, type: type) }
  }

  /// Puts bytes into the store, as `put(_:type:)` does.
  @discardableResult
  public func put(_ bytes: UnsafeRawBufferPointer, type: String? = nil) throws -> Asset {
    try put(type: type, expecting: nil) {
      try $0.append(bytes)
    } then: { _, _, _ in
    }
  }

  /// Puts the content of a file into the store; the file stays.
  ///
  /// - Throws: as `put(_:type:)`; `.notFound` without the file, `.invalid` for what is no file
  @discardableResult
  public func put(contentsOf path: String, type: String? = nil) throws -> Asset {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "path: is empty or contains a NUL")
    }
    // O_NONBLOCK: opening a named pipe must not block.
    let file = try DiskFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    let status = try file.status()
    try DiskFile.refuseSpecial(path, status)
    guard status.st_mode & S_IFMT == S_IFREG else { throw SatchelError(.invalid, "\(path): is not a file") }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    return try put(type: type, expecting: nil) { writer in
      var offset: Int64 = 0
      while true {
        let count = try file.read(into: buffer, at: offset)
        if count == 0 { return }
        try writer.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += Int64(count)
      }
    } then: { _, _, _ in
    }
  }

  /// Puts bytes into the store that `write` appends one after the other; memory stays bounded.
  ///
  /// - Parameters:
  ///   - type: the media type of the returned reference
  ///   - maxSize: more bytes are refused
  ///   - write: appends the bytes; when it throws, nothing is put
  /// - Throws: as `put(_:type:)`, and what `write` throws; `.full` for more bytes than `maxSize`
  @discardableResult
  public func put(
    type: String? = nil, maxSize: Int64 = Int64.max, _ write: (AssetWriter) throws -> Void
  ) throws -> Asset {
    try put(type: type, maxSize: maxSize, expecting: nil) { writer in
      try HostWork.calling("a function that appends bytes", for: work) { try write(writer) }
    } then: { _, _, _ in
    }
  }

  /// - Parameters:
  ///   - digest: that the bytes must have
  ///   - then: runs in the transaction that puts them, with the row
  package func put(
    type: String? = nil, maxSize: Int64 = Int64.max, expecting digest: AssetDigest?,
    _ write: (AssetWriter) throws -> Void, then: (AssetTable, Int64, Transaction) throws -> Void
  ) throws -> Asset {
    let writer = try makeWriter(type: type, maxSize: maxSize)
    try write(writer)
    return try put(writer, type: type, expecting: digest, then: then)
  }

  /// Returns a writer for `put(_:type:)`.
  func makeWriter(type: String?, maxSize: Int64) throws -> AssetWriter {
    if let type, !Asset.isType(type) { throw SatchelError(.invalid, "type: \(Asset.typeRule)") }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only; open it writable to put assets")
    }
    let limit = min(maxSize, database.isMemory ? Self.maxMemory : AssetSchema.sizes.upperBound)
    return AssetWriter(database.isMemory ? nil : folder, limit: limit)
  }

  /// Puts the bytes that were appended to a writer.
  func put(
    _ writer: AssetWriter, type: String?, expecting digest: AssetDigest? = nil,
    then: (AssetTable, Int64, Transaction) throws -> Void = { _, _, _ in }
  ) throws -> Asset {
    let put = try writer.finish()
    if let digest, digest != put.digest {
      throw SatchelError(.damaged, "asset \(digest.text): these bytes have the SHA-256 \(put.digest.text)")
    }
    try self.write { table, transaction in
      let row = try store(writer, put, table, now: transaction.now)
      try then(table, row.id, transaction)
    }
    cleanIfDue()
    return Asset(put.digest, size: put.size, type: type)
  }

  /// Stores what was written, in the transaction.
  private func store(
    _ writer: AssetWriter, _ put: AssetWriter.Outcome, _ table: AssetTable, now: Int64
  ) throws -> AssetTable.Row {
    let row = try table.made(put.digest, size: put.size, now: now)
    guard row.place == .absent || row.place == .file && !has(put.digest) else {
      try table.use(row.id, now: now)
      return row
    }
    if database.isMemory { try refuseInMemory(put.size, table) }
    let place = try writer.place(as: put.digest, in: table, row.id)
    if place == .file { try AssetGarbage(table.connection).remove(put.digest) }
    try table.setPlace(place, of: row.id, size: put.size, now: now)
    return row
  }

  /// Whether the file of an asset is there; another program may have removed it.
  private func has(_ digest: AssetDigest) -> Bool { access(folder.path(of: digest), F_OK) == 0 }

  private func refuseInMemory(_ size: Int64, _ table: AssetTable) throws {
    let used = try table.connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    guard used + size <= Self.maxMemory else {
      throw SatchelError(
        .full, "a store in memory keeps at most \(Self.maxMemory >> 20) MiB of assets; it has \(used) bytes")
    }
  }
}

/// Receives the bytes of an asset. Valid during the call that it was given to, and on its thread.
public final class AssetWriter {
  private let folder: AssetFolder?
  private let limit: Int64
  private var hash = SHA256()
  /// The first bytes, until there are more than a row may have, or all of a store in memory.
  private var head: [UInt8] = []
  private var incoming: AssetFolder.Incoming?
  /// The first failure: what follows it would not be the bytes of the asset.
  private var failure: (any Error)?
  /// The number of bytes.
  public private(set) var size: Int64 = 0

  struct Outcome {
    var digest: AssetDigest
    var size: Int64
  }

  /// - Parameter folder: nil for a store in memory
  init(_ folder: AssetFolder?, limit: Int64) { (self.folder, self.limit) = (folder, limit) }

  /// Appends bytes, which are copied.
  ///
  /// - Throws: `SatchelError` `.full` for more than are allowed, `.io`; the same again from then on, and when the bytes are
  ///   to be put
  public func append(_ bytes: UnsafeRawBufferPointer) throws {
    if let failure { throw failure }
    do {
      try add(bytes)
    } catch {
      failure = error
      throw error
    }
  }

  private func add(_ bytes: UnsafeRawBufferPointer) throws {
    guard Int64(bytes.count) <= limit - size else {
      throw SatchelError(.full, "the asset has more than the \(limit) bytes that are allowed").at(
        limit: Int(limit))
    }
    hash.update(bytes)
    if let folder, incoming == nil, head.count + bytes.count > AssetStore.maxRow {
      let file = try folder.makeIncoming()
      try file.file.write(head, at: 0)
      (incoming, head) = (file, [])
    }
    if let incoming { try incoming.file.write(bytes, at: size) } else { head.append(contentsOf: bytes) }
    size += Int64(bytes.count)
  }

  /// Appends bytes.
  public func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try append($0) } }

  /// Syncs what was written.
  func finish() throws -> Outcome {
    if let failure { throw failure }
    try incoming?.file.sync()
    guard let digest = AssetDigest(hash.digest()) else {
      throw SatchelError(.internal, "a SHA-256 has 32 bytes")
    }
    return Outcome(digest: digest, size: size)
  }

  /// Gives the bytes their place, in the transaction.
  func place(as digest: AssetDigest, in table: AssetTable, _ id: Int64) throws -> AssetTable.Place {
    guard let folder, let incoming else {
      try head.withUnsafeBytes { try table.insert($0, of: id) }
      return .row
    }
    try folder.place(incoming, as: digest)
    return .file
  }
}
