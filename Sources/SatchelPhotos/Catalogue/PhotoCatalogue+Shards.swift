import SatchelStorage

extension PhotoCatalogue {
  /// A shard as a file: its photos and the lines that were kept, with all changes.
  ///
  /// Memory: the file. The same content always gives the same bytes.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func exportShard(_ shard: Shard.Index) throws -> [UInt8] { try export(shard).bytes }

  /// As `exportShard(_:)`, a part after the other: each is valid until `sink` returns.
  ///
  /// - Parameter reserve: told about how many bytes there will be
  package func exportShard(
    _ shard: Shard.Index, reserving reserve: (Int) -> Void, to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    _ = try write(shard, reserving: reserve, to: sink)
  }

  /// What was written of a shard.
  struct Written {
    /// SHA-256 of the bytes.
    var checksum = Shard.emptyChecksum
    /// The last change that they hold.
    var sequence: Int64 = 0
    var photos: Int64 = 0
  }

  /// Writes one state of a shard, with all changes.
  func write(
    _ shard: Shard.Index, reserving reserve: (Int) -> Void = { _ in },
    to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Written {
    try read(otherwise: Written()) { connection, id in
      let record = try ShardTable(connection: connection, catalogue: id).record(shard)
      reserve(record.bytesToReserve)
      var hash = SHA256()
      let photos = try ShardMerge.write(connection, catalogue: id, record: record) { part in
        hash.update(part)
        try sink(part)
      }
      let checksum = hash.digest().hexadecimal
      guard record.changes > 0 || record.base.checksum == checksum else {
        throw SatchelError(.damaged, "shard \(shard): its blocks are not what was written")
      }
      return Written(checksum: checksum, sequence: record.sequence, photos: photos)
    }
  }

  /// A file replaces a shard's rows, in one transaction. What is known of photos only here stays.
  ///
  /// Lines that are no rows are reported, and stay in the shard; of two lines with one md5 the later counts. With
  /// `.remoteWins` (the file wins) changes made here since the last agreement go to the conflict log when the file
  /// says otherwise; with `.mergeRows` they stay on top of the file.
  ///
  /// Memory: beside the bytes 56 for each photo of the file, and the file once more when it is not written as this
  /// library writes.
  ///
  /// - Throws: `.invalid` when more than a million lines are no rows, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func importShard(
    _ shard: Shard.Index, _ bytes: UnsafeRawBufferPointer, policy: SyncPolicy = .remoteWins
  ) throws -> ImportReport {
    let known = try record(shard)
    var source: String?
    if let known, known.changes == 0, known.source != nil {
      source = Shard.checksum(bytes)
      // Nothing would change.
      if known.source == source { return ImportReport(photos: known.base.photos, rejected: [], conflicts: 0) }
    }
    let file = try ShardFile(bytes, shard: shard, source: source)
    return try withExtendedLifetime(file) {
      try write { transaction, id in
        try importFile(file, into: id, policy: policy, in: transaction).report
      }
    }
  }

  /// As `importShard(_:_:policy:)` for bytes that are borrowed.
  @discardableResult
  public func importShard(
    _ shard: Shard.Index, _ bytes: [UInt8], policy: SyncPolicy = .remoteWins
  ) throws -> ImportReport {
    try bytes.withUnsafeBytes { try importShard(shard, $0, policy: policy) }
  }

  func record(_ shard: Shard.Index) throws -> ShardRecord? {
    try read(otherwise: nil) { connection, id in
      try ShardTable(connection: connection, catalogue: id).record(shard)
    }
  }

  /// Makes a file the base of its shard.
  ///
  /// - Returns: what became of it, and whether the shard's content changed
  func importFile(
    _ file: ShardFile, into id: Int64, policy: SyncPolicy, in transaction: Transaction
  ) throws -> (report: ImportReport, isChanged: Bool) {
    var edit = try ShardEdit(transaction, catalogue: id, shard: file.shard)
    let table = CatalogueTable(connection: transaction.connection)
    let overlay = try edit.overlayChanges()
    let before = edit.record
    var conflicts = 0
    if !overlay.isEmpty {
      try edit.clearOverlay()
      switch policy {
      case .mergeRows: try edit.fillOverlay(overlay, over: file)
      case .remoteWins: conflicts = try edit.logConflicts(overlay, against: file, cause: .import)
      }
    }
    try edit.importBase(file, sequence: table.takeSequence(id))
    try edit.save()
    let isChanged = before.base.checksum != edit.record.base.checksum || before.changes != edit.record.changes
    if isChanged {
      try table.setModified(id, now: transaction.now)
      note([file.shard], in: transaction)
    }
    let report = ImportReport(
      photos: Int64(file.entries.count), rejected: file.rejected, conflicts: conflicts)
    return (report, isChanged)
  }
}
