import SatchelStorage

/// Decides which photos of one shard a query wants.
final class PhotoFilter {
  private let query: PhotoQuery
  private let pattern: FilenamePattern?
  private let local: LocalTable
  private let agreed: AgreedPhotos
  private var marks: [MD5: (isStarred: Bool?, backup: BackupStatus)] = [:]

  init(_ query: PhotoQuery, _ scan: ShardScan) {
    self.query = query
    pattern = query.filename.map { FilenamePattern($0) }
    local = LocalTable(connection: scan.connection, catalogue: scan.catalogue)
    agreed = AgreedPhotos(scan.connection, scan.record)
  }

  /// Must be told of each part of a shard before its photos.
  func begin(_ range: ClosedRange<MD5>) throws {
    if query.isStarred != nil || query.backup != nil { marks = try local.marks(in: range) }
  }

  func wants(_ photo: ShardScan.Row) throws -> Bool {
    if let from = query.from, photo.row.photodate < from { return false }
    if let to = query.to, photo.row.photodate > to { return false }
    if let pattern, !photo.withFilename({ pattern.fits($0) }) { return false }
    guard query.isStarred != nil || query.backup != nil else { return true }
    let mark = marks[photo.md5]
    if let backup = query.backup, backup != mark?.backup ?? .notBackedUp { return false }
    guard let isStarred = query.isStarred else { return true }
    return try isStarred == mark?.isStarred ?? agreed.contains(photo)
  }
}

extension ShardScan.Row {
  /// Hands out the name's bytes, without quotes.
  func withFilename<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let field = row.filename
    guard field.hasDoubledQuotes else { return try body(bytes[within: field.start..<field.end]) }
    return try Array(ShardRow.text(field, in: bytes).utf8).withUnsafeBytes { try body($0) }
  }
}
