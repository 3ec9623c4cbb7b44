import SatchelCore
import SatchelDocuments
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Returns a shard as a file: its photos and kept lines, with all changes.
  ///
  /// Memory: the file. The same content always gives the same bytes.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func exportShard(_ shard: Shard.Index) throws -> [UInt8] { try export(shard).bytes }

  /// Writes a shard as a file in parts: each part is valid until `sink` returns.
  ///
  /// - Parameter reserve: called first with the approximate number of bytes
  package func exportShard(
    _ shard: Shard.Index, reserving reserve: (Int) -> Void, to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    _ = try write(shard, reserving: reserve, to: sink)
  }

  /// The result of writing a shard.
  struct Written {
    /// SHA-256 of the bytes.
    var checksum = Shard.emptyChecksum
    /// The last change that the bytes contain.
    var sequence: Int64 = 0
    var photos: Int64 = 0
  }

  /// Writes a shard from one read transaction, with all changes.
  func write(
    _ shard: Shard.Index, reserving reserve: (Int) -> Void = { _ in },
    to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Written {
    try read(otherwise: Written()) { connection, id in
      let record = try ShardTable(connection: connection, catalogue: id).record(shard)
      reserve(record.bytesToReserve)
      var hash = SHA256()
      let photos = try ShardLines.write(.local, of: record, connection, catalogue: id) { part in
        hash.update(part)
        try sink(part)
      }
      let checksum = hash.digest().hexadecimal
      if !record.hasChanges { try record.check(checksum) }
      return Written(checksum: checksum, sequence: record.sequence, photos: photos)
    }
  }

  /// Replaces a shard's rows by a file, in one transaction. Local columns of the photos stay.
  ///
  /// Lines that are not rows are reported, and stay in the shard; of two lines with one md5 the later wins.
  /// With `.remoteWins` (the file wins) local changes since the last sync that the file contradicts go to the
  /// conflict log; with `.merge` they stay on top of the file.
  ///
  /// Memory in addition to the bytes: 48 bytes for each photo of the file, and a copy of the file when it is
  /// not in canonical form.
  ///
  /// - Throws: `.invalid` when more than a million lines are rejected, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func importShard(
    _ shard: Shard.Index, _ bytes: UnsafeRawBufferPointer, onConflict: ConflictPolicy = .remoteWins
  ) throws -> ImportReport {
    try onConflict.checkForPhotos()
    let known = try record(shard)
    var source: String?
    if let known, known.changes == 0, known.source != nil {
      source = Shard.checksum(bytes)
      // The same file was imported before.
      if known.source == source { return ImportReport(photos: known.photos, rejected: [], conflicts: 0) }
    }
    let file = try ShardFile(bytes, shard: shard, source: source)
    return try withExtendedLifetime(file) {
      try write { transaction, id in
        try importFile(file, into: id, onConflict: onConflict, in: transaction).report
      }
    }
  }

  /// Imports a shard from an array; see `importShard(_:_:onConflict:)` for a buffer.
  @discardableResult
  public func importShard(
    _ shard: Shard.Index, _ bytes: [UInt8], onConflict: ConflictPolicy = .remoteWins
  ) throws -> ImportReport {
    try bytes.withUnsafeBytes { try importShard(shard, $0, onConflict: onConflict) }
  }

  func record(_ shard: Shard.Index) throws -> ShardRecord? {
    try read(otherwise: nil) { connection, id in
      try ShardTable(connection: connection, catalogue: id).record(shard)
    }
  }

  /// Makes a file the content of its shard.
  ///
  /// - Returns: the report, and whether the shard's content changed
  func importFile(
    _ file: ShardFile, into id: Int64, onConflict: ConflictPolicy, in transaction: Transaction
  ) throws -> (report: ImportReport, isChanged: Bool) {
    var edit = try ShardEdit(transaction, catalogue: id, shard: file.shard)
    let table = CatalogueTable(connection: transaction.connection)
    let changes = edit.record.changes
    let conflicts = try edit.importFile(file, sequence: table.allocateSequence(id), onConflict: onConflict)
    try edit.save()
    let isChanged = edit.isChanged || changes != edit.record.changes
    if isChanged {
      try table.setModified(id, now: transaction.now)
      notify([file.shard], in: transaction)
    }
    let report = ImportReport(
      photos: Int64(file.entries.count), rejected: file.rejected, conflicts: conflicts)
    return (report, isChanged)
  }
}
