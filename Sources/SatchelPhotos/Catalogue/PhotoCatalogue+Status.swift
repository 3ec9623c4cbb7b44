import SatchelStorage

extension PhotoCatalogue {
  /// What there is to say of the catalogue without a look at its photos.
  public func status() throws -> PhotoStatus {
    let nothing = PhotoStatus(directory: directory)
    return try read(otherwise: nothing) { connection, id in
      var status = nothing
      let row = try CatalogueTable(connection: connection).row(id)
      (status.uuid, status.created, status.modified) = (row?.uuid, row?.created, row?.modified)
      (status.masterUUID, status.user, status.lastSync) = (row?.agreedUUID, row?.user, row?.lastSync)
      status.shards = try ShardTable(connection: connection, catalogue: id).records().map { ShardStatus($0) }
      status.photos = status.shards.reduce(0) { $0 + $1.photos }
      status.conflicts = try ConflictTable(connection: connection, catalogue: id).count()
      status.backups = try LocalTable(connection: connection, catalogue: id).counts()
      status.backups[.notBackedUp] = nil
      return status
    }
  }

  /// Forgets the master: nothing counts as agreed any more, and the next sync, with whatever master, brings both
  /// sides together by its policy. Nothing is sent, and no photo changes here.
  ///
  /// - Throws: `.readOnly`, `.closed`
  public func unlink() throws {
    try write { transaction, id in
      for shard in Shard.Index.all {
        var edit = try ShardEdit(transaction, catalogue: id, shard: shard)
        guard edit.record.agreed != nil || edit.record.etag != nil || edit.record.intent != nil else {
          continue
        }
        try edit.unlink()
        try edit.save()
      }
      try CatalogueTable(connection: transaction.connection).unlink(id)
      note(Shard.Index.all, in: transaction)
    }
  }
}
