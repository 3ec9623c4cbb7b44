import SatchelCore
import SatchelDocuments
import SatchelRemote
import SatchelSync
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
        uuid: row.uuid, remoteUUID: row.remoteUUID, user: row.user,
        manifestETag: row.manifestETag.flatMap { ETag($0) },
        shards: try ShardTable(connection: connection, catalogue: id).records().map { ShardState($0) })
    }
  }

  func beginSync(uuid: String, user: UserID) throws {
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection)
        .setRemote(id, uuid: uuid, user: user.text, manifestETag: nil, lastSync: nil)
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
      let bytes = try ShardLines.bytes(.synced, of: record, connection, catalogue: id)
      try record.check(Shard.checksum(bytes))
      return bytes
    }
  }

  func recordPendingUpload(_ shard: Shard.Index, _ export: ShardExport) throws {
    try editing(shard) { edit in
      guard edit.record.sequence == export.sequence else {
        throw SatchelError(.busy, "shard \(shard) was changed after it was exported")
      }
      edit.record.pendingUpload = PendingShard(checksum: export.checksum, sequence: export.sequence)
    }
  }

  func finishUpload(_ shard: Shard.Index, export: ShardExport, etag: ETag?, ancestors: String?) throws {
    try editing(shard) { edit in
      guard edit.record.pendingUpload == PendingShard(checksum: export.checksum, sequence: export.sequence)
      else {
        throw SatchelError(.busy, "shard \(shard): another upload was started meanwhile")
      }
      if try !edit.confirmExport(export.checksum, upTo: export.sequence) {
        try export.bytes.withUnsafeBytes { bytes in
          let file = try ShardFile(bytes, shard: shard)
          try withExtendedLifetime(file) { _ = try edit.confirmUpload(file, upTo: export.sequence) }
        }
      }
      try edit.setSynced(export.checksum, etag: etag, ancestors: ancestors)
    }
  }

  func applyRemote(
    _ shard: Shard.Index, bytes: [UInt8], checksum: String, etag: ETag?, expected: String?,
    confirmedUpTo: Int64?, onConflict: ConflictPolicy, ancestors: String?, logsLostRows: Bool
  ) throws -> PullResult {
    try bytes.withUnsafeBytes { bytes in
      let file = try ShardFile(bytes, shard: shard)
      return try editing(shard) { edit in
        guard edit.record.syncedChecksum == expected else {
          throw SatchelError(.busy, "shard \(shard) was synchronized by another process meanwhile")
        }
        let applied = try withExtendedLifetime(file) {
          if let confirmedUpTo, edit.record.pendingUpload?.checksum == checksum {
            return try edit.confirmUpload(file, upTo: confirmedUpTo)
          }
          return try edit.applyRemote(
            file, confirmedUpTo: confirmedUpTo, onConflict: onConflict, logsLostRows: logsLostRows)
        }
        try edit.setSynced(checksum, etag: etag, ancestors: ancestors)
        return PullResult(
          photos: Int64(file.entries.count), rejected: file.rejected + applied.replaced,
          removed: applied.removed,
          conflicts: applied.conflicts, hasChanges: edit.record.hasChanges)
      }
    }
  }

  func keepsChanges(_ shard: Shard.Index, over bytes: [UInt8], onConflict: ConflictPolicy) throws -> Bool {
    try bytes.withUnsafeBytes { bytes in
      let file = try ShardFile(bytes, shard: shard)
      return try read(otherwise: false) { connection, id in
        let record = try ShardTable(connection: connection, catalogue: id).record(shard)
        return try withExtendedLifetime(file) {
          let merge = RemoteMerge(record, confirmedUpTo: nil, onConflict: onConflict)
          let kept = KeptTable(connection: connection, catalogue: id, shard: shard)
          var keeps = try kept.changes(by: file) { merge.merge(&$0, remote: $1) }
            .contains { $0.after.local != $0.after.synced }
          try PhotoVersions.each(of: file, connection, catalogue: id) { photo in
            switch merge.decision(photo).base {
            case .keep: if photo.base != nil { keeps = true }
            case .write: keeps = true
            case .delete: break
            }
          }
          return keeps
        }
      }
    }
  }

  func confirmIdentical(_ shard: Shard.Index, checksum: String, etag: ETag?, ancestors: String?) throws {
    try editing(shard) { edit in
      try edit.confirmIdentical(checksum)
      try edit.setSynced(checksum, etag: etag, ancestors: ancestors)
    }
  }

  func finishSync(manifestETag: ETag?, uuid: String, user: UserID) throws {
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection).setRemote(
        id, uuid: uuid, user: user.text, manifestETag: manifestETag?.text, lastSync: transaction.now)
    }
  }

  /// Changes one shard, and notifies observers when its content or its pending state changed.
  private func editing<Result>(_ shard: Shard.Index, _ body: (inout ShardEdit) throws -> Result) throws
    -> Result
  {
    try write { transaction, id in
      var edit = try ShardEdit(transaction, catalogue: id, shard: shard)
      let before = edit.record
      let result = try body(&edit)
      try edit.save()
      if edit.isChanged || before.changes != edit.record.changes
        || before.hasChanges != edit.record.hasChanges
      {
        notify([shard], in: transaction)
      }
      return result
    }
  }
}

extension ShardState {
  init(_ record: ShardRecord) {
    self.init(
      index: record.shard, syncedChecksum: record.syncedChecksum, etag: record.etag.flatMap { ETag($0) },
      photos: record.photos, syncedPhotos: record.syncedPhotos, hasChanges: record.hasChanges,
      pendingUpload: record.pendingUpload, ancestors: record.ancestors)
  }
}
