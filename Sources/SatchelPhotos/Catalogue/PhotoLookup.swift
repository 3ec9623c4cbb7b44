import SatchelCore
import SatchelStorage

/// Looks up single photos.
struct PhotoLookup {
  let connection: Connection
  let catalogue: Int64

  func photo(_ md5: MD5) throws -> Photo? {
    try PhotoTable(connection: connection, catalogue: catalogue).photo(md5)
  }

  /// The columns that `details` reads, of photos `p` with their bases `b` and local columns `l`.
  static let columns: StaticString = """
    SELECT p.md5, filename, size, photodate, p.modified, width, height, apple_photo_id,
    b.md5 IS NULL OR b.line IS NOT NULL, l.starred IS NOT NULL,
    starred, backup, queued, lease_owner, attempts, last_attempt, error, camera_make, camera_model, orientation,
    latitude, longitude, aperture, shutter_speed, iso, focal_length, thumbnail_cached_at, preview_cached_at,
    scanned_date, date_source, utc_offset
    """

  /// Reads a photo with its local columns.
  ///
  /// - Parameter isMet: whether its shard was synchronized
  static func details(_ row: Statement, _ md5: MD5, isMet: Bool) throws -> PhotoDetails {
    PhotoDetails(
      PhotoTable.photo(row, md5), local: row.flag(9) ? try LocalTable.read(row, from: 10) : nil,
      isOnRemote: isMet && row.flag(8))
  }

  /// Returns a photo of a directory's catalogue with its local columns.
  static func details(_ md5: MD5, of directory: String, _ connection: Connection) throws -> PhotoDetails? {
    let statement = try connection.prepared(
      """
      , s.synced_checksum IS NOT NULL FROM photo_catalogue c JOIN photo p ON p.catalogue = c.id AND p.md5 = ?
      LEFT JOIN photo_shard s ON s.catalogue = c.id AND s.shard = ?
      LEFT JOIN photo_base b ON b.catalogue = c.id AND b.md5 = p.md5
      LEFT JOIN photo_local l ON l.catalogue = c.id AND l.md5 = p.md5 WHERE directory = ?
      """, after: columns)
    defer { statement.reset() }
    return try md5.withBytes {
      try statement.bind([.blob($0), .integer(Int64(md5.shard.number)), .text(directory)])
      return try statement.step() ? details(statement, md5, isMet: statement.flag(31)) : nil
    }
  }

  /// Whether the photo is in the version synchronized last.
  func isOnRemote(_ md5: MD5) throws -> Bool {
    let record = try ShardTable(connection: connection, catalogue: catalogue).record(md5.shard)
    if record.isUnmet { return false }
    let bases = BaseTable(connection: connection, catalogue: catalogue)
    if let changed = try bases.row(md5) { return changed.base.line != nil }
    return try photo(md5) != nil
  }

  /// Parses a line of a table.
  static func parse(_ line: [UInt8], _ md5: MD5) throws -> Photo {
    guard let photo = line.withUnsafeBytes({ ShardReader.photo(in: $0, shard: md5.shard) }), photo.md5 == md5
    else {
      throw SatchelError(.damaged, "shard \(md5.shard): the row of \(md5) cannot be read")
    }
    return photo
  }
}
