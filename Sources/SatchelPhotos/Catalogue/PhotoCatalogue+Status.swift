import SatchelCore
import SatchelDocuments
import SatchelStorage

extension PhotoCatalogue {
  /// Returns the catalogue's status without reading its photos.
  public func status() throws -> PhotoStatus {
    let nothing = PhotoStatus(directory: directory)
    return try readInterruptibly(otherwise: nothing) { connection, id in
      var status = nothing
      let row = try CatalogueTable(connection: connection).row(id)
      (status.uuid, status.created, status.modified) = (row?.uuid, row?.created, row?.modified)
      status.onConflict = row?.onConflict ?? .remoteWins
      (status.remoteUUID, status.user, status.lastSync) = (row?.remoteUUID, row?.user, row?.lastSync)
      status.shards = try ShardTable(connection: connection, catalogue: id).records().map { ShardStatus($0) }
      status.photos = status.shards.reduce(0) { $0 + $1.photos }
      status.conflicts = try ConflictLog(connection).count(of: ConflictLog.Owner(.photos, id))
      status.backups = try LocalTable(connection: connection, catalogue: id).counts()
      status.backups[.notBackedUp] = nil
      return status
    }
  }

  /// Detaches the catalogue from its remote: the base of each shard is deleted, and the next sync as the same user
  /// merges both sides by its policy. Nothing is uploaded, and no local photo changes. The rows still belong to the
  /// user: a sync as another one is refused, unless `SyncOptions.first` says what to do with them.
  ///
  /// - Throws: `.readOnly`, `.closed`
  public func detach() throws {
    try write { transaction, id in try detach(id, in: transaction) }
  }

  func detach(_ id: Int64, in transaction: Transaction) throws {
    for shard in Shard.Index.all {
      var edit = try ShardEdit(transaction, catalogue: id, shard: shard)
      guard edit.record.syncedChecksum != nil || edit.record.etag != nil || edit.record.pendingUpload != nil
      else {
        continue
      }
      try edit.detach()
      try edit.save()
    }
    try CatalogueTable(connection: transaction.connection).detach(id)
    notify(Shard.Index.all, in: transaction)
  }

  /// Returns the directories of catalogues that have content which the remote does not have, in the order of their
  /// bytes.
  ///
  /// - Throws: `.damaged`, `.closed`, `.io`
  package static func unsentDirectories(in database: Database) throws -> [String] {
    try database.read { connection in
      var catalogues: [(id: Int64, directory: String)] = []
      try connection.each("SELECT id, directory FROM photo_catalogue ORDER BY directory") {
        catalogues.append((try $0.integer(0), $0.text(1)))
      }
      return try catalogues.filter { catalogue in
        try ShardTable(connection: connection, catalogue: catalogue.id).records().contains(
          where: \.hasChanges)
      }.map(\.directory)
    }
  }

  /// Returns the directories that a store has catalogues of, in the order of their bytes.
  ///
  /// - Throws: `.damaged`, `.closed`, `.io`
  package static func directories(in database: Database) throws -> [String] {
    guard try database.has(PhotoSchema.subject) else { return [] }
    return try database.read { connection in
      var directories: [String] = []
      try connection.each("SELECT directory FROM photo_catalogue ORDER BY directory") {
        directories.append($0.text(0))
      }
      return directories
    }
  }
}
