import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Restores the consistency of the tables of photos after rows were lost: counts again, and detaches each shard whose
  /// rows are not the ones that were synchronized last, so that the next sync merges both sides, and returns what the
  /// remote has.
  package static func repair(_ database: Database) throws {
    guard try database.has(PhotoSchema.subject) else { return }
    try database.write { transaction in
      let connection = transaction.connection
      for catalogue in try connection.numbers("SELECT id FROM photo_catalogue ORDER BY id") {
        for shard in Shard.Index.all {
          var edit = try ShardEdit(transaction, catalogue: catalogue, shard: shard)
          try edit.repair()
          try edit.save()
        }
      }
    }
  }
}

extension ShardEdit {
  fileprivate mutating func repair() throws {
    record.photos = try photos.count(of: shard)
    (record.changes, record.imports) = try bases.counts(of: shard)
    (record.kept, record.keptChanges) = try kept.counts()
    if record.isUnmet { return }
    var hash = SHA256()
    record.syncedPhotos = try ShardLines.write(.synced, of: record, connection, catalogue: catalogue) {
      hash.update($0)
    }
    if hash.digest().hexadecimal != record.syncedContent { try detach() }
  }
}
