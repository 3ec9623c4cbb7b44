import SatchelStorage

/// Finds single photos.
struct PhotoLookup {
  let connection: Connection
  let catalogue: Int64

  /// The photo's row, with the changes on top; nil when there is none.
  func photo(_ md5: MD5) throws -> Photo? {
    let overlay = OverlayTable(connection: connection, catalogue: catalogue)
    let changed: Photo?? = try overlay.row(md5) { row in try row.line.map { try Self.parse($0, md5) } }
    if let changed { return changed }
    let base = try ShardTable(connection: connection, catalogue: catalogue).base(md5.shard)
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, level: base) { try Self.parse($0, md5) }
  }

  /// The photo with all that is known here.
  func details(_ md5: MD5) throws -> PhotoDetails? {
    guard let photo = try photo(md5) else { return nil }
    let local = try LocalTable(connection: connection, catalogue: catalogue).row(md5)
    return PhotoDetails(photo, local: local, isAgreed: try isAgreed(md5))
  }

  /// Whether the photo is in what was last agreed with the master.
  func isAgreed(_ md5: MD5) throws -> Bool {
    let level = try connection.number(
      """
      SELECT CASE WHEN is_imported THEN ancestor ELSE base END FROM photo_shard
      WHERE catalogue = ? AND shard = ?
      """, .integer(catalogue), .integer(Int64(md5.shard.number)))
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, level: level) { _ in true } ?? false
  }

  /// Reads a line that a table holds.
  static func parse(_ line: UnsafeRawBufferPointer, _ md5: MD5) throws -> Photo {
    guard let photo = ShardReader.photo(in: line, shard: md5.shard), photo.md5 == md5 else {
      throw SatchelError(.damaged, "shard \(md5.shard): the row of \(md5) cannot be read")
    }
    return photo
  }
}
