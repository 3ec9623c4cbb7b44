import SatchelCore
import SatchelStorage

/// The table `photo_trash`: the rows of photos that were removed, as they were.
///
/// A row whose photo is there again does not count; it goes when its time is over.
struct TrashTable {
  /// Rows stay for 30 days, in milliseconds.
  private static let period: Int64 = 30 * 86_400_000

  let connection: Connection
  let catalogue: Int64

  /// Keeps the row of a photo that is about to be removed.
  func add(_ md5: MD5, now: Int64) throws {
    try md5.withBytes {
      try connection.run(
        """
        INSERT OR REPLACE INTO photo_trash(
          catalogue, md5, filename, size, photodate, modified, width, height, apple_photo_id, removed)
        SELECT catalogue, md5, filename, size, photodate, modified, width, height, apple_photo_id, ?
        FROM photo WHERE catalogue = ? AND md5 = ?
        """, .integer(now), .integer(catalogue), .blob($0))
    }
  }

  /// Returns photos in the order of their MD5.
  func photos(after md5: MD5?, limit: Int) throws -> [TrashedPhoto] {
    var photos: [TrashedPhoto] = []
    try (md5 ?? MD5(high: 0, low: 0)).withBytes { bytes in
      try connection.each(
        """
        SELECT md5, filename, size, photodate, modified, width, height, apple_photo_id, removed FROM photo_trash t
        WHERE catalogue = ?1 AND (md5 > ?2 OR ?3 AND md5 = ?2)
        AND NOT EXISTS(SELECT 1 FROM photo p WHERE p.catalogue = ?1 AND p.md5 = t.md5) ORDER BY md5 LIMIT ?4
        """, .integer(catalogue), .blob(bytes), .integer(md5 == nil ? 1 : 0), .integer(Int64(limit))
      ) { row in
        let md5 = try PhotoTable.md5(row, of: "photo_trash")
        photos.append(TrashedPhoto(photo: PhotoTable.photo(row, md5), removed: row.anyInteger(8)))
      }
    }
    return photos
  }

  /// Returns the row of a photo; nil for one that is not in the trash.
  func photo(_ md5: MD5) throws -> Photo? {
    try md5.withBytes {
      try connection.first(
        """
        SELECT md5, filename, size, photodate, modified, width, height, apple_photo_id FROM photo_trash t
        WHERE catalogue = ?1 AND md5 = ?2
        AND NOT EXISTS(SELECT 1 FROM photo p WHERE p.catalogue = ?1 AND p.md5 = t.md5)
        """, .integer(catalogue), .blob($0)
      ) { PhotoTable.photo($0, md5) }
    }
  }

  /// Returns the number of photos.
  func count() throws -> Int64 {
    try connection.number(
      """
      SELECT count(*) FROM photo_trash t WHERE catalogue = ?1
      AND NOT EXISTS(SELECT 1 FROM photo p WHERE p.catalogue = ?1 AND p.md5 = t.md5)
      """, .integer(catalogue))
  }

  /// Deletes rows whose time was over at an earlier call, a day ago or more: so a clock that is ahead for less than that
  /// deletes none early.
  func expire(now: Int64) throws {
    let expired = try connection.numberIfAny(
      "SELECT trash_expired FROM photo_catalogue WHERE id = ?", .integer(catalogue))
    if let expired {
      // A time after now is of a clock that was ahead.
      if expired...expired + StoreClock.tolerance ~= now { return }
      try connection.run(
        "DELETE FROM photo_trash WHERE catalogue = ? AND removed < ?", .integer(catalogue),
        .integer(min(expired, now) - Self.period))
    }
    try connection.run(
      "UPDATE photo_catalogue SET trash_expired = ? WHERE id = ?", .integer(now), .integer(catalogue))
  }

  func empty() throws {
    try connection.run("DELETE FROM photo_trash WHERE catalogue = ?", .integer(catalogue))
  }
}
