import SatchelStorage

/// Knows which photos of a shard the master is known to hold.
struct AgreedPhotos {
  /// Nil when that is the base.
  private let ancestor: BlockCursor?

  init(_ connection: Connection, _ record: ShardRecord) {
    ancestor = record.isImported ? BlockCursor(connection, record.ancestor, shard: record.shard) : nil
  }

  func contains(_ photo: ShardScan.Row) throws -> Bool {
    try ancestor.map { try $0.contains(photo.md5) } ?? photo.isInBase
  }
}
