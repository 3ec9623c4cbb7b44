import SatchelRemote
import SatchelStorage

extension PhotoCatalogue: SyncLedger {
  func identify() throws {
    let isNamed = try read(otherwise: false) { _, _ in true }
    if !isNamed, !database.options.isReadOnly { try write { _, _ in } }
  }

  func syncState() throws -> SyncState {
    let nothing = SyncState(shards: Shard.Index.all.map { ShardState(ShardRecord(shard: $0)) })
    return try read(otherwise: nothing) { connection, id in
      guard let row = try CatalogueTable(connection: connection).row(id) else { return nothing }
      return SyncState(
        uuid: row.uuid, agreedUUID: row.agreedUUID, user: row.user,
        manifestETag: row.manifestETag.flatMap { ETag($0) },
        shards: try ShardTable(connection: connection, catalogue: id).records().map { ShardState($0) })
    }
  }

  func beginSync(uuid: String, user: UserID) throws {
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection)
        .setMaster(id, uuid: uuid, user: user.text, manifestETag: nil, lastSync: nil)
    }
  }

  func export(_ shard: Shard.Index) throws -> ShardExport {
    var bytes: [UInt8] = []
    let written = try write(shard, reserving: { bytes.reserveCapacity($0) }) { bytes.append(contentsOf: $0) }
    return ShardExport(
      bytes: bytes, checksum: written.checksum, sequence: written.sequence, photos: written.photos)
  }

  func lastSynced(_ shard: Shard.Index) throws -> [UInt8] {
    try read(otherwise: []) { connection, id in
      let record = try ShardTable(connection: connection, catalogue: id).record(shard)
      guard record.agreed != nil else { return [] }
      var synced = ShardRecord(shard: shard)
      synced.base = record.agreedLevel
      return try ShardMerge.bytes(connection, catalogue: id, record: synced)
    }
  }

  func noteIntent(_ shard: Shard.Index, _ export: ShardExport) throws {
    try editing(shard) { edit in
      guard edit.record.sequence == export.sequence else {
        throw SatchelError(.busy, "shard \(shard) was changed since it was exported")
      }
      edit.record.intent = UploadIntent(checksum: export.checksum, sequence: export.sequence)
    }
  }

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, lineage: String?) throws {
    try export.bytes.withUnsafeBytes { bytes in
      let file = try ShardFile(bytes, shard: shard)
      try editing(shard) { edit in
        guard edit.record.intent == UploadIntent(checksum: export.checksum, sequence: export.sequence) else {
          throw SatchelError(.busy, "shard \(shard): another upload was begun meanwhile")
        }
        try withExtendedLifetime(file) { try edit.settle(file, upTo: export.sequence) }
        try edit.agree(on: export.checksum, etag: etag, lineage: lineage)
      }
    }
  }

  func take(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    settledUpTo: Int64?, policy: SyncPolicy, lineage: String?, keepsLost: Bool
  ) throws -> Taken {
    try bytes.withUnsafeBytes { bytes in
      let file = try ShardFile(bytes, shard: shard)
      return try editing(shard) { edit in
        guard edit.record.agreed == expected else {
          throw SatchelError(.busy, "shard \(shard) was synced by somebody else meanwhile")
        }
        var (conflicts, replaced) = (0, [RejectedRow]())
        let before = try edit.photos()
        let lost = keepsLost ? try edit.rowsLost(to: file) : []
        try withExtendedLifetime(file) {
          if let settledUpTo, edit.record.intent?.checksum == checksum {
            try edit.settle(file, upTo: settledUpTo)
          } else {
            replaced = try edit.keptLines(missingIn: file, after: settledUpTo ?? -1)
            conflicts = try edit.take(file, settledUpTo: settledUpTo ?? -1, policy: policy)
          }
          conflicts += try edit.logConflicts(lost, against: file, cause: .sync)
        }
        let removed = try edit.removed(from: before, by: file)
        try edit.agree(on: checksum, etag: etag, lineage: lineage)
        return Taken(
          photos: Int64(file.entries.count), rejected: file.rejected + replaced, removed: removed,
          conflicts: conflicts, hasChanges: edit.record.hasChanges)
      }
    }
  }

  func agree(_ shard: Shard.Index, checksum: String, etag: ETag?, lineage: String?) throws {
    try editing(shard) { edit in
      try edit.settleSame(checksum)
      try edit.agree(on: checksum, etag: etag, lineage: lineage)
    }
  }

  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws {
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection).setMaster(
        id, uuid: uuid, user: user.text, manifestETag: manifestETag?.text, lastSync: transaction.now)
    }
  }

  /// Changes one shard, and says so when its content or what is pending changed.
  private func editing<Result>(_ shard: Shard.Index, _ body: (inout ShardEdit) throws -> Result) throws
    -> Result
  {
    try write { transaction, id in
      var edit = try ShardEdit(transaction, catalogue: id, shard: shard)
      let before = edit.record
      let result = try body(&edit)
      try edit.save()
      if before.base != edit.record.base || before.changes != edit.record.changes
        || before.hasChanges != edit.record.hasChanges
      {
        note([shard], in: transaction)
      }
      return result
    }
  }
}

extension ShardState {
  init(_ record: ShardRecord) {
    self.init(
      index: record.shard, agreed: record.agreed, etag: record.etag.flatMap { ETag($0) },
      photos: record.photos, agreedPhotos: record.agreedLevel.photos, hasChanges: record.hasChanges,
      intent: record.intent, lineage: record.lineage)
  }
}
