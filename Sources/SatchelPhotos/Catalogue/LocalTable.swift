import SatchelCore
import SatchelStorage

/// A row of `photo_local`: the local-only columns of a photo.
struct LocalRow {
  var isStarred = false
  var backup = BackupStatus.notBackedUp
  /// The position in the queue, while the photo is queued or being uploaded.
  var queued: Int64?
  var leaseOwner: String?
  var attempts: Int64 = 0
  var lastAttempt: Int64?
  var error: String?
  var metadata = PhotoMetadata()
  /// The date that the last scan found, Unix seconds, and its source.
  var scannedDate: Int64?
  var dateSource: PhotoDateSource?

  /// The source of a photo's date; nil for another date than the scanned one.
  func source(of photo: Photo) -> PhotoDateSource? { photo.photodate == scannedDate ? dateSource : nil }
}

/// The table `photo_local`: the local-only columns of photos.
struct LocalTable {
  let connection: Connection
  let catalogue: Int64

  func row(_ md5: MD5) throws -> LocalRow? {
    try md5.withBytes {
      try connection.first(
        """
        SELECT starred, backup, queued, lease_owner, attempts, last_attempt, error, camera_make, camera_model,
        orientation, latitude, longitude, aperture, shutter_speed, iso, focal_length, thumbnail_cached_at,
        preview_cached_at, scanned_date, date_source, utc_offset FROM photo_local WHERE catalogue = ? AND md5 = ?
        """, .integer(catalogue), .blob($0)
      ) { try Self.read($0, from: 0) }
    }
  }

  func put(_ md5: MD5, _ row: LocalRow) throws {
    let statement = try connection.prepared(
      """
      INSERT OR REPLACE INTO photo_local(starred, backup, queued, lease_owner, attempts, last_attempt, error,
      camera_make, camera_model, orientation, latitude, longitude, aperture, shutter_speed, iso, focal_length,
      thumbnail_cached_at, preview_cached_at, scanned_date, date_source, utc_offset, catalogue, md5)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    func number(_ value: Int64?) -> Binding { value.map { .integer($0) } ?? .null }
    func text(_ value: String?) -> Binding { value.map { .text($0) } ?? .null }
    func real(_ value: Double?) -> Binding { value.map { .real($0) } ?? .null }
    let metadata = row.metadata
    try statement.bind([
      .integer(row.isStarred ? 1 : 0), .integer(row.backup.number), number(row.queued),
      text(row.leaseOwner),
      .integer(row.attempts), number(row.lastAttempt), text(row.error), text(metadata.cameraMake),
      text(metadata.cameraModel), number(metadata.orientation), real(metadata.latitude),
      real(metadata.longitude), real(metadata.aperture), text(metadata.shutterSpeed), number(metadata.iso),
      real(metadata.focalLength), number(metadata.thumbnailCachedAt), number(metadata.previewCachedAt),
      number(row.scannedDate), number(row.dateSource?.number), number(metadata.utcOffset),
      .integer(catalogue),
    ])
    try md5.withBytes {
      try statement.bind(.blob($0), at: 23)
      _ = try statement.step()
    }
  }

  // MARK: The queue

  /// Returns the position after all queued photos.
  func nextQueuePosition() throws -> Int64 {
    let last = try connection.number(
      "SELECT max(queued) FROM photo_local WHERE catalogue = ? AND backup = 1", .integer(catalogue))
    return max(0, min(last, 1 << 60)) + 1
  }

  /// Returns the photo that has been queued longest.
  ///
  /// - Parameter position: of those behind it in the queue
  func firstInQueue(after position: Int64 = -1) throws -> MD5? {
    try connection.first(
      """
      SELECT md5 FROM photo_local WHERE catalogue = ? AND backup = 1 AND queued > ? ORDER BY queued LIMIT 1
      """, .integer(catalogue), .integer(position)
    ) { try Self.md5($0) }
  }

  /// Returns the photos whose upload failed, and that are to be tried again: after a minute, and after twice as
  /// long for each further attempt, up to a day.
  func failedBefore(_ now: Int64) throws -> [MD5] {
    var photos: [MD5] = []
    try connection.each(
      """
      SELECT md5 FROM photo_local WHERE catalogue = ? AND backup = 4
      AND coalesce(last_attempt, 0) + min(60000 << max(0, min(attempts - 1, 11)), 86400000) <= ? ORDER BY md5
      """, .integer(catalogue), .integer(now)
    ) { photos.append(try Self.md5($0)) }
    return photos
  }

  /// Returns the photos that are being uploaded, and the owners of their leases.
  func leases() throws -> [(md5: MD5, owner: String)] {
    var leases: [(md5: MD5, owner: String)] = []
    try connection.each(
      "SELECT md5, lease_owner FROM photo_local WHERE catalogue = ? AND backup = 2", .integer(catalogue)
    ) { leases.append((try Self.md5($0), $0.text(1))) }
    return leases
  }

  /// Returns the photos with a status, in order.
  func photos(_ status: BackupStatus) throws -> [MD5] {
    var photos: [MD5] = []
    try connection.each(
      "SELECT md5 FROM photo_local WHERE catalogue = ? AND backup = ? ORDER BY md5", .integer(catalogue),
      .integer(status.number)
    ) { photos.append(try Self.md5($0)) }
    return photos
  }

  /// Returns the number of photos of each status; photos without a row are not counted.
  func counts() throws -> [BackupStatus: Int64] {
    var counts: [BackupStatus: Int64] = [:]
    try connection.each(
      "SELECT backup, count(*) FROM photo_local WHERE catalogue = ? GROUP BY backup", .integer(catalogue)
    ) { counts[try BackupStatus(number: $0.anyInteger(0))] = $0.anyInteger(1) }
    return counts
  }

  // MARK: Reading rows

  static func md5(_ row: Statement) throws -> MD5 {
    guard let md5 = MD5(row: row.bytes(0)) else {
      throw SatchelError(.damaged, "photo_local: an md5 has \(row.bytes(0).count) bytes")
    }
    return md5
  }

  /// - Parameter column: the column of `starred`, which the others follow
  static func read(_ row: Statement, from column: Int32) throws -> LocalRow {
    func number(_ offset: Int32) -> Int64? {
      row.isNull(column + offset) ? nil : row.anyInteger(column + offset)
    }
    func text(_ offset: Int32) -> String? { row.textIfAny(column + offset) }
    func real(_ offset: Int32) -> Double? { row.isNull(column + offset) ? nil : row.real(column + offset) }
    var local = LocalRow()
    local.isStarred = row.flag(column)
    local.backup = try BackupStatus(number: row.anyInteger(column + 1))
    local.queued = number(2)
    local.leaseOwner = text(3)
    local.attempts = try row.integer(column + 4, in: StoredRange.count)
    local.lastAttempt = number(5)
    local.error = text(6)
    local.metadata.cameraMake = text(7)
    local.metadata.cameraModel = text(8)
    local.metadata.orientation = number(9)
    local.metadata.latitude = real(10)
    local.metadata.longitude = real(11)
    local.metadata.aperture = real(12)
    local.metadata.shutterSpeed = text(13)
    local.metadata.iso = number(14)
    local.metadata.focalLength = real(15)
    local.metadata.thumbnailCachedAt = number(16)
    local.metadata.previewCachedAt = number(17)
    local.scannedDate = number(18)
    local.dateSource = try number(19).map { try PhotoDateSource(number: $0) }
    local.metadata.utcOffset = number(20)
    return local
  }
}
