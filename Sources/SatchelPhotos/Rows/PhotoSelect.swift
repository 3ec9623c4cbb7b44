import SatchelCore
import SatchelStorage

/// Reads the photos that match a query, in its order, by SQLite's own indexes.
///
/// Values are written into the statement as literals: numbers, and strings of hexadecimal digits.
struct PhotoSelect {
  let connection: Connection
  let catalogue: Int64
  let query: PhotoQuery

  /// Returns a page.
  ///
  /// - Parameter cursor: the last photo of the page before
  func page(after cursor: PhotoKey?) throws -> PhotoPage {
    let records = try ShardTable(connection: connection, catalogue: catalogue).records()
    let pattern = query.filename.map { FilenamePattern($0) }
    let columns = """
      p.md5, filename, size, photodate, modified, width, height, apple_photo_id,
      b.md5 IS NOT NULL AND b.line IS NULL, l.starred IS NOT NULL,
      starred, backup, queued, lease_owner, attempts, last_attempt, error, camera_make, camera_model, orientation,
      latitude, longitude, aperture, shutter_speed, iso, focal_length, thumbnail_cached_at, preview_cached_at,
      scanned_date, date_source, utc_offset
      """
    let order = query.isDescending ? " DESC" : ""
    let keys = key == nil ? "p.md5\(order)" : "\(key ?? "")\(order), p.md5\(order)"
    let statement = try connection.compile(
      """
      SELECT \(columns) FROM \(source) LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5
      LEFT JOIN photo_base b ON b.catalogue = p.catalogue AND b.md5 = p.md5
      WHERE \(conditions(after: cursor)) ORDER BY \(keys)\(pattern == nil ? " LIMIT \(query.limit + 1)" : "")
      """)
    var page = PhotoPage(photos: [], next: nil)
    while try statement.step() {
      if let pattern, !pattern.matches(statement.bytes(1)) { continue }
      if page.photos.count == query.limit {
        page.next = page.photos.last.map { self.key(of: $0.photo).cursor(query) }
        break
      }
      let md5 = try PhotoTable.md5(statement, of: "photo")
      page.photos.append(
        PhotoDetails(
          PhotoTable.photo(statement, md5),
          local: statement.flag(9) ? try LocalTable.read(statement, from: 10) : nil,
          isOnRemote: !records[md5.shard.number].isUnmet && !statement.flag(8)))
    }
    return page
  }

  /// Returns how many photos match.
  func count() throws -> Int64 {
    let pattern = query.filename.map { FilenamePattern($0) }
    let local =
      query.isStarred == nil && query.backup == nil
      ? "" : " LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5"
    let statement = try connection.compile(
      "SELECT \(pattern == nil ? "count(*)" : "p.md5, filename") FROM photo p\(local) WHERE \(conditions(after: nil))"
    )
    guard let pattern else { return try statement.step() ? statement.integer(0) : 0 }
    var count: Int64 = 0
    while try statement.step() {
      if pattern.matches(statement.bytes(1)) { count += 1 }
    }
    return count
  }

  /// The column that the order is by, before the md5.
  private var key: String? {
    switch query.order {
    case .md5: nil
    case .photodate: "photodate"
    case .filename: "filename"
    }
  }

  /// Without filters of local columns, the order by date is that of the index.
  private var source: String {
    query.order == .photodate && query.isStarred == nil && query.backup == nil
      ? "photo p INDEXED BY photo_photodate" : "photo p"
  }

  private func key(of photo: Photo) -> PhotoKey {
    var key = PhotoKey(md5: photo.md5)
    switch query.order {
    case .md5: break
    case .photodate: key.photodate = photo.photodate
    case .filename: key.filename = Array(photo.filename.utf8)
    }
    return key
  }

  private func conditions(after cursor: PhotoKey?) -> String {
    var conditions = ["p.catalogue = \(catalogue)"]
    if let from = query.from { conditions.append("photodate >= \(from)") }
    if let to = query.to { conditions.append("photodate <= \(to)") }
    if let bounds = query.shard.map({ MD5.bounds(of: $0) }) {
      conditions.append("p.md5 BETWEEN x'\(bounds.lowerBound)' AND x'\(bounds.upperBound)'")
    }
    // A photo without local columns has no star, and is not backed up.
    if let isStarred = query.isStarred {
      conditions.append(isStarred ? "starred <> 0" : "coalesce(starred, 0) = 0")
    }
    if let backup = query.backup {
      conditions.append(backup == .notBackedUp ? "coalesce(backup, 0) = 0" : "backup = \(backup.number)")
    }
    if let cursor {
      let sign = query.isDescending ? "<" : ">"
      switch query.order {
      case .md5: conditions.append("p.md5 \(sign) x'\(cursor.md5)'")
      case .photodate:
        conditions.append("(photodate, p.md5) \(sign) (\(cursor.photodate), x'\(cursor.md5)')")
      case .filename:
        conditions.append(
          "(filename, p.md5) \(sign) (CAST(x'\(cursor.filename.hexadecimal)' AS TEXT), x'\(cursor.md5)')")
      }
    }
    return conditions.joined(separator: " AND ")
  }
}
