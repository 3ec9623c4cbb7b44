import SatchelCore
import SatchelStorage

/// A row of `photo_shard`: the state of a shard without its photos.
struct ShardRecord {
  let shard: Shard.Index
  var base = ShardVersion.empty
  /// The version synchronized last, while an imported file has replaced it as the base; else empty.
  var ancestor = ShardVersion.empty
  var isImported = false
  /// SHA-256 of the remote's bytes at the last sync; nil until the first.
  var syncedChecksum: String?
  var etag: String?
  /// The ancestors of the version synchronized last; see `SyncAncestors`.
  var ancestors: String?
  /// SHA-256 of the file that was imported as the base; nil when lines of it were rejected.
  var source: String?
  /// The number of the shard's latest change.
  var sequence: Int64 = 0
  /// The number of the latest import.
  var importedSequence: Int64 = 0
  var changes: Int64 = 0
  var added: Int64 = 0
  var removed: Int64 = 0
  var pendingUpload: PendingShard?
  /// When the content last changed, and when it was last the remote's: Unix milliseconds.
  var modified: Int64?
  var synced: Int64?

  init(shard: Shard.Index) { self.shard = shard }

  /// The number of photos, changes included.
  var photos: Int64 { base.photos + added - removed }

  /// The version that the remote had at the last sync.
  var syncedVersion: ShardVersion { isImported ? ancestor : base }

  /// Whether there is anything to upload.
  var hasChanges: Bool { changes > 0 || isImported }

  /// An estimate of the shard's size when written. The counters are not trusted beyond 256 MB.
  var bytesToReserve: Int {
    let limit: Int64 = 1 << 28
    return Int(min(min(max(0, base.bytes), limit) + max(0, min(changes, 1 << 20)) * 160, limit))
  }
}

/// The tables `photo_shard` and `photo_version`.
struct ShardTable {
  let connection: Connection
  let catalogue: Int64

  /// The limit of version ids, which are the upper half of block ids.
  private static let maxVersions: Int64 = 1 << 31

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
      SELECT s.shard, s.base, b.checksum, b.photos, b.kept, b.bytes, s.ancestor, a.checksum, a.photos, a.kept,
      a.bytes, s.is_imported, s.synced_checksum, s.etag, s.source, s.sequence, s.imported_sequence,
      s.changes, s.added, s.removed, s.pending_checksum, s.pending_sequence, s.ancestors, s.modified, s.synced
      FROM photo_shard s LEFT JOIN photo_version b ON b.id = s.base
      LEFT JOIN photo_version a ON a.id = s.ancestor
      WHERE s.catalogue = ? AND s.shard BETWEEN ? AND ?
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
      INSERT OR REPLACE INTO photo_shard(catalogue, shard, base, ancestor, is_imported, synced_checksum, etag,
      source, sequence, imported_sequence, changes, added, removed, pending_checksum, pending_sequence,
      ancestors, modified, synced) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(catalogue), .integer(Int64(record.shard.number)), .integer(record.base.id),
      .integer(record.ancestor.id), .integer(record.isImported ? 1 : 0), Self.text(record.syncedChecksum),
      Self.text(record.etag), Self.text(record.source), .integer(record.sequence),
      .integer(record.importedSequence), .integer(record.changes), .integer(record.added),
      .integer(record.removed), Self.text(record.pendingUpload?.checksum),
      record.pendingUpload.map { .integer($0.sequence) } ?? .null, Self.text(record.ancestors),
      record.modified.map { .integer($0) } ?? .null, record.synced.map { .integer($0) } ?? .null)
  }

  // MARK: Versions

  /// Writes a version's row, and returns it; assigns an id when that is 0.
  func put(_ version: ShardVersion) throws -> ShardVersion {
    var version = version
    if version.id == 0 {
      // A version's blocks are removed with it, so that its id can be reused.
      let last = try connection.number("SELECT max(id) FROM photo_version")
      guard (0..<Self.maxVersions - 1).contains(last) else {
        throw SatchelError(.damaged, "photo_version: \(last) is not the id of a version")
      }
      version.id = last + 1
    }
    try connection.run(
      "INSERT OR REPLACE INTO photo_version(id, checksum, photos, kept, bytes) VALUES(?, ?, ?, ?, ?)",
      .integer(version.id), .text(version.checksum), .integer(version.photos), .integer(version.kept),
      .integer(version.bytes))
    return version
  }

  func remove(_ version: ShardVersion) throws {
    guard version.id != 0 else { return }
    try connection.run(
      "DELETE FROM photo_block WHERE id BETWEEN ? AND ?", .integer(version.blocks.lowerBound),
      .integer(version.blocks.upperBound))
    try DateTable(connection: connection).remove(version)
    try connection.run("DELETE FROM photo_version WHERE id = ?", .integer(version.id))
  }

  private static func text(_ text: String?) -> Binding { text.map { .text($0) } ?? .null }

  private static func read(_ row: Statement, _ shard: Shard.Index) throws -> ShardRecord {
    var record = ShardRecord(shard: shard)
    record.base = try version(row, 1, of: shard)
    record.ancestor = try version(row, 6, of: shard)
    record.isImported = row.flag(11)
    record.syncedChecksum = row.textIfAny(12)
    record.etag = row.textIfAny(13)
    record.source = row.textIfAny(14)
    record.sequence = try count(row, 15, of: shard)
    record.importedSequence = try count(row, 16, of: shard)
    record.changes = try row.integer(17, in: PhotoSchema.changes)
    record.added = try row.integer(18, in: PhotoSchema.changes)
    record.removed = try row.integer(19, in: PhotoSchema.changes)
    record.pendingUpload = try row.textIfAny(20).map {
      PendingShard(checksum: $0, sequence: try row.integer(21, in: StoredRange.count))
    }
    record.ancestors = row.textIfAny(22)
    record.modified = row.isNull(23) ? nil : row.anyInteger(23)
    record.synced = row.isNull(24) ? nil : row.anyInteger(24)
    return record
  }

  private static func version(_ row: Statement, _ column: Int32, of shard: Shard.Index) throws -> ShardVersion
  {
    let id = row.anyInteger(column)
    if id == 0 { return .empty }
    guard (1..<maxVersions).contains(id), !row.isNull(column + 1) else {
      throw SatchelError(.damaged, "photo_shard: version \(id) of shard \(shard) does not exist")
    }
    return ShardVersion(
      id: id, checksum: row.text(column + 1), photos: try count(row, column + 2, of: shard),
      kept: try count(row, column + 3, of: shard), bytes: try count(row, column + 4, of: shard))
  }

  /// Reads a number that cannot overflow in sums.
  private static func count(_ row: Statement, _ column: Int32, of shard: Shard.Index) throws -> Int64 {
    let count = row.anyInteger(column)
    guard (0...1 << 56).contains(count) else {
      throw SatchelError(.damaged, "photo_shard: shard \(shard) has the count \(count)")
    }
    return count
  }
}
