import SatchelCore
import SatchelStorage

/// A row of `photo_shard`: the state of a shard without its photos.
struct ShardRecord {
  let shard: Shard.Index
  var photos: Int64 = 0
  /// The number of rows of `photo_base`: of changes of single photos, and of changes that imported files made.
  var changes: Int64 = 0
  var imports: Int64 = 0
  /// Lines that are no photos, and how many of them differ from the version synchronized last.
  var kept: Int64 = 0
  var keptChanges: Int64 = 0
  /// The number of photos in the version synchronized last.
  var syncedPhotos: Int64 = 0
  /// SHA-256 of the remote's bytes at the last sync; nil until the first.
  var syncedChecksum: String?
  /// SHA-256 of the version synchronized last in its canonical form, as it is written.
  var syncedContent: String?
  var etag: String?
  /// The ancestors of the version synchronized last; see `SyncAncestors`.
  var ancestors: String?
  /// SHA-256 of the file whose content the shard has; nil when lines of it were rejected, or photos changed since.
  var source: String?
  /// The number of the shard's latest change.
  var sequence: Int64 = 0
  var pendingUpload: PendingShard?
  /// When the content last changed, and when it was last the remote's: Unix milliseconds.
  var modified: Int64?
  var synced: Int64?

  init(shard: Shard.Index) { self.shard = shard }

  /// Whether the shard was never synchronized, or was detached since.
  var isUnmet: Bool { syncedChecksum == nil }

  /// Whether there is anything to upload.
  var hasChanges: Bool { isUnmet && photos > 0 || changes > 0 || imports > 0 || keptChanges > 0 }

  /// - Throws: `.damaged` unless the version synchronized last, as it is written, has this checksum
  func check(_ checksum: String) throws {
    guard !isUnmet, let expected = syncedContent, checksum != expected else { return }
    throw SatchelError(
      .damaged, "shard \(shard): its rows do not have the checksum of the version synchronized last")
  }

  /// An estimate of the shard's size when written. The counters are not trusted beyond 256 MB.
  var bytesToReserve: Int { Int(min(max(0, photos), 1 << 21) * 128) }
}

/// The table `photo_shard`.
struct ShardTable {
  let connection: Connection
  let catalogue: Int64

  /// Returns a shard's row; an empty record when it has no row.
  func record(_ shard: Shard.Index) throws -> ShardRecord {
    try records(shard...shard).first ?? ShardRecord(shard: shard)
  }

  /// Returns the rows of all sixteen shards.
  func records() throws -> [ShardRecord] {
    var records = Shard.Index.all.map { ShardRecord(shard: $0) }
    guard let first = records.first, let last = records.last else { return [] }
    for record in try self.records(first.shard...last.shard) { records[record.shard.number] = record }
    return records
  }

  /// Returns the rows of shards that have one.
  private func records(_ shards: ClosedRange<Shard.Index>) throws -> [ShardRecord] {
    var records: [ShardRecord] = []
    try connection.each(
      """
      SELECT shard, photos, changes, imports, kept, kept_changes, synced_photos, synced_checksum, etag, ancestors,
      source, sequence, synced_content, pending_checksum, pending_sequence, modified, synced
      FROM photo_shard WHERE catalogue = ? AND shard BETWEEN ? AND ?
      """, .integer(catalogue), .integer(Int64(shards.lowerBound.number)),
      .integer(Int64(shards.upperBound.number))
    ) { row in
      if let shard = Shard.Index(Int(row.anyInteger(0))) { records.append(try Self.read(row, shard)) }
    }
    return records
  }

  func put(_ record: ShardRecord) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO photo_shard(catalogue, shard, photos, changes, imports, kept, kept_changes, synced_photos,
      synced_checksum, etag, ancestors, source, sequence, synced_content, pending_checksum, pending_sequence,
      modified, synced) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(catalogue), .integer(Int64(record.shard.number)), .integer(record.photos),
      .integer(record.changes), .integer(record.imports), .integer(record.kept), .integer(record.keptChanges),
      .integer(record.syncedPhotos), Self.text(record.syncedChecksum), Self.text(record.etag),
      Self.text(record.ancestors), Self.text(record.source), .integer(record.sequence),
      Self.text(record.syncedContent), Self.text(record.pendingUpload?.checksum),
      record.pendingUpload.map { .integer($0.sequence) } ?? .null,
      record.modified.map { .integer($0) } ?? .null, record.synced.map { .integer($0) } ?? .null)
  }

  private static func text(_ text: String?) -> Binding { text.map { .text($0) } ?? .null }

  private static func read(_ row: Statement, _ shard: Shard.Index) throws -> ShardRecord {
    var record = ShardRecord(shard: shard)
    record.photos = try row.integer(1, in: PhotoSchema.changes)
    record.changes = try row.integer(2, in: PhotoSchema.changes)
    record.imports = try row.integer(3, in: PhotoSchema.changes)
    record.kept = try row.integer(4, in: PhotoSchema.changes)
    record.keptChanges = try row.integer(5, in: PhotoSchema.changes)
    record.syncedPhotos = try row.integer(6, in: PhotoSchema.changes)
    record.syncedChecksum = row.textIfAny(7)
    record.etag = row.textIfAny(8)
    record.ancestors = row.textIfAny(9)
    record.source = row.textIfAny(10)
    record.sequence = try row.integer(11, in: StoredRange.count)
    record.syncedContent = row.textIfAny(12)
    record.pendingUpload = try row.textIfAny(13).map {
      PendingShard(checksum: $0, sequence: try row.integer(14, in: StoredRange.count))
    }
    record.modified = row.isNull(15) ? nil : row.anyInteger(15)
    record.synced = row.isNull(16) ? nil : row.anyInteger(16)
    return record
  }
}
