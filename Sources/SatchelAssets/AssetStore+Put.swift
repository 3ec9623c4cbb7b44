import SatchelCore
import SatchelStorage

extension AssetStore {
  /// Puts bytes into the store. Bytes that it has already are not stored again.
  ///
  /// An asset to which nothing refers is kept for an hour at least, and removed later: put the record that refers to it
  /// next.
  ///
  /// - Parameters:
  ///   - type: the media type of the returned reference
  ///   - isSensitive: whether the bytes are stored encrypted (AES-256-GCM), under a key of their own that is encrypted with
  ///     the store's key. An asset that is sensitive stays so, however it is put later. Its SHA-256 and size are not
  ///     encrypted. It is sent only to an encrypted remote.
  /// - Returns: the reference, with SHA-256 and size
  /// - Throws: `SatchelError` `.readOnly`, `.full`, `.io`, `.busy`, `.closed`; `.unauthorized` for a sensitive asset when the
  ///   store's key is not set
  @discardableResult
  public func put(_ bytes: [UInt8], type: String? = nil, isSensitive: Bool = false) throws -> Asset {
    try bytes.withUnsafeBytes { try put($0, type: type, isSensitive: isSensitive) }
  }

  /// Puts bytes into the store, as `put(_:type:isSensitive:)` does.
  @discardableResult
  public func put(
    _ bytes: UnsafeRawBufferPointer, type: String? = nil, isSensitive: Bool = false
  ) throws -> Asset {
    try put(type: type, isSensitive: isSensitive, expecting: nil) {
      try $0.append(bytes)
    } then: { _, _, _ in
    }
  }

  /// Puts the content of a file into the store; the file stays.
  ///
  /// - Throws: as `put(_:type:isSensitive:)`; `.notFound` without the file, `.invalid` for what is no file
  @discardableResult
  public func put(contentsOf path: String, type: String? = nil, isSensitive: Bool = false) throws -> Asset {
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
    return try put(type: type, isSensitive: isSensitive, expecting: nil) { writer in
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
  ///   - isSensitive: as of `put(_:type:isSensitive:)`
  ///   - write: appends the bytes; when it throws, nothing is put
  /// - Throws: as `put(_:type:isSensitive:)`, and what `write` throws; `.full` for more bytes than `maxSize`
  @discardableResult
  public func put(
    type: String? = nil, maxSize: Int64 = Int64.max, isSensitive: Bool = false,
    _ write: (AssetWriter) throws -> Void
  ) throws -> Asset {
    try put(type: type, maxSize: maxSize, isSensitive: isSensitive, expecting: nil) { writer in
      try HostWork.calling("a function that appends bytes", for: work) { try write(writer) }
    } then: { _, _, _ in
    }
  }

  /// - Parameters:
  ///   - digest: that the bytes must have
  ///   - then: runs in the transaction that puts them, with the row
  package func put(
    type: String? = nil, maxSize: Int64 = Int64.max, isSensitive: Bool = false,
    expecting digest: AssetDigest?,
    _ write: (AssetWriter) throws -> Void, then: (AssetTable, Int64, Transaction) throws -> Void
  ) throws -> Asset {
    let writer = try makeWriter(type: type, maxSize: maxSize, isSensitive: isSensitive, for: digest)
    try write(writer)
    return try put(writer, type: type, expecting: digest, then: then)
  }

  /// Puts the bytes of an asset of another store.
  ///
  /// - Parameter url: where that store fetched them; nil for none
  /// - Returns: the row of the asset
  package func copy(_ reader: AssetReader, url: String?) throws -> Int64 {
    var row: Int64 = 0
    _ = try put(expecting: AssetDigest(reader.sha256)) { writer in
      var offset: Int64 = 0
      while offset < reader.size {
        let part = try reader.read(1 << 18, at: offset)
        if part.isEmpty {
          throw SatchelError(.damaged, "asset \(reader.sha256): has fewer bytes than it should have")
        }
        try writer.append(part)
        offset += Int64(part.count)
      }
    } then: { table, id, transaction in
      row = id
      if let url { try table.noteFetched(url, as: id, .fetched(), now: transaction.now) }
    }
    return row
  }

  /// Returns a writer for `put(_:type:isSensitive:)`.
  ///
  /// - Parameter digest: of the bytes, if it is known: those of a sensitive asset are never written as they are
  func makeWriter(
    type: String?, maxSize: Int64, isSensitive: Bool, for digest: AssetDigest? = nil
  ) throws -> AssetWriter {
    if let type, !Asset.isType(type) { throw SatchelError(.invalid, "type: \(Asset.typeRule)") }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only; open it writable to put assets")
    }
    let most =
      database.isMemory ? Self.maxMemory : keepsRows ? Self.maxLargeRow : AssetSchema.sizes.upperBound
    let limit = min(maxSize, most)
    let isSealed =
      try isSensitive || digest.flatMap { digest in try read { try $0.isSensitive(digest) } } ?? false
    if isSealed, database.keyring.current == nil { throw SatchelError.keyNotSet("asset") }
    return try AssetWriter(database.isMemory || keepsRows ? nil : folder, limit: limit, isSealed: isSealed)
  }

  /// Puts the bytes that were appended to a writer.
  func put(
    _ writer: AssetWriter, type: String?, expecting digest: AssetDigest? = nil,
    then: (AssetTable, Int64, Transaction) throws -> Void = { _, _, _ in }
  ) throws -> Asset {
    let put = try writer.finish()
    if let digest, digest != put.digest {
      writer.discard()
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
    try table.removeTransfer(of: row.id)
    let isHere = row.place == .row || row.place == .file && has(row.file(put.digest))
    if isHere, row.seal != nil || !writer.isSealed {
      try table.use(row.id, now: now)
      writer.discard()
      return row
    }
    // An asset that is sensitive stays so.
    let plain = writer
    let writer = row.seal == nil ? plain : try plain.sealed()
    if writer !== plain { plain.discard() }
    if database.isMemory { try refuseInMemory(put.size, table) }
    try table.removeBytes(row, put.digest)
    if let sealer = writer.sealer {
      let key = try database.keyring.sealingKey(table.connection) { "asset \(put.digest)" }
      try table.setSeal(sealer, of: row.id, by: key)
    }
    let file = writer.sealer?.name ?? put.digest
    let place = try writer.place(as: file, in: table, row.id)
    if place == .file { try AssetGarbage(table.connection).remove(file) }
    try table.setPlace(place, of: row.id, size: put.size, now: now)
    return row
  }

  /// Whether the file of an asset is there; another program may have removed it.
  func has(_ file: AssetDigest) -> Bool { access(folder.path(of: file), F_OK) == 0 }

  private func refuseInMemory(_ size: Int64, _ table: AssetTable) throws {
    let used = try table.connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    guard used + size <= Self.maxMemory else {
      throw SatchelError(
        .full, "a store in memory keeps at most \(Self.maxMemory >> 20) MiB of assets; it has \(used) bytes")
    }
  }
}
