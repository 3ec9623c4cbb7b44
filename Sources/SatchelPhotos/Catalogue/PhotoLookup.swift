import SatchelCore
import SatchelStorage

/// Looks up single photos.
struct PhotoLookup {
  let connection: Connection
  let catalogue: Int64

  /// Returns the photo's row, with the changes on top; nil when the catalogue does not have the photo.
  func photo(_ md5: MD5) throws -> Photo? {
    let overlay = OverlayTable(connection: connection, catalogue: catalogue)
    let changed: Photo?? = try overlay.row(md5) { row in try row.line.map { try Self.parse($0, md5) } }
    if let changed { return changed }
    let base = try ShardTable(connection: connection, catalogue: catalogue).base(md5.shard)
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, version: base) { try Self.parse($0, md5) }
  }

  /// Returns the photo with its local columns.
  func details(_ md5: MD5) throws -> PhotoDetails? {
    guard let photo = try photo(md5) else { return nil }
    let local = try LocalTable(connection: connection, catalogue: catalogue).row(md5)
    return PhotoDetails(photo, local: local, isOnRemote: try isOnRemote(md5))
  }

  /// Whether the photo is in the version synchronized last.
  func isOnRemote(_ md5: MD5) throws -> Bool {
    let version = try connection.number(
      """
      SELECT CASE WHEN is_imported THEN ancestor ELSE base END FROM photo_shard
      WHERE catalogue = ? AND shard = ?
      """, .integer(catalogue), .integer(Int64(md5.shard.number)))
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, version: version) { _ in true } ?? false
  }

  /// Parses a line of a table.
  static func parse(_ line: UnsafeRawBufferPointer, _ md5: MD5) throws -> Photo {
    guard let photo = ShardReader.photo(in: line, shard: md5.shard), photo.md5 == md5 else {
      throw SatchelError(.damaged, "shard \(md5.shard): the row of \(md5) cannot be read")
    }
    return photo
  }
}

/// The photos of a shard that the remote had at the last sync.
struct RemotePhotos {
  /// Nil when the base is the version synchronized last.
  private let ancestor: BlockCursor?

  init(_ connection: Connection, _ record: ShardRecord) {
    ancestor = record.isImported ? BlockCursor(connection, record.ancestor, shard: record.shard) : nil
  }

  func contains(_ photo: ShardScan.Row) throws -> Bool {
    try ancestor.map { try $0.contains(photo.md5) } ?? photo.isInBase
  }
}
