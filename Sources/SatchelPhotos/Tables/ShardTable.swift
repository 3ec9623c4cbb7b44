import SatchelStorage

/// The rows of shards and of their levels.
struct ShardTable {
  let connection: Connection
  let catalogue: Int64

  /// The ids of blocks are made of those of levels.
  private static let mostLevels: Int64 = 1 << 31

  /// A shard's row; as of an empty shard when there is none.
  func record(_ shard: Shard.Index) throws -> ShardRecord {
    let found = try connection.first(
      """
      SELECT s.shard, s.base, b.checksum, b.photos, b.kept, b.bytes, s.ancestor, a.checksum, a.photos, a.kept,
      a.bytes, s.is_imported, s.agreed, s.etag, s.source, s.sequence, s.imported_sequence, s.changes, s.added,
      s.removed, s.intent_checksum, s.intent_sequence, s.lineage
      FROM photo_shard s LEFT JOIN photo_level b ON b.id = s.base LEFT JOIN photo_level a ON a.id = s.ancestor
      WHERE s.catalogue = ? AND s.shard = ?
      """, .integer(catalogue), .integer(Int64(shard.number))
    ) { try Self.read($0, shard) }
    return found ?? ShardRecord(shard: shard)
  }

  /// All sixteen.
  func records() throws -> [ShardRecord] { try Shard.Index.all.map { try record($0) } }

  /// Only where a shard's base stands: what looking up a photo needs.
  func base(_ shard: Shard.Index) throws -> Int64 {
    try connection.number(
      "SELECT base FROM photo_shard WHERE catalogue = ? AND shard = ?", .integer(catalogue),
      .integer(Int64(shard.number)))
  }

  func put(_ record: ShardRecord) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO photo_shard(catalogue, shard, base, ancestor, is_imported, agreed, etag, source,
      sequence, imported_sequence, changes, added, removed, intent_checksum, intent_sequence,
      lineage) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(catalogue), .integer(Int64(record.shard.number)), .integer(record.base.id),
      .integer(record.ancestor.id), .integer(record.isImported ? 1 : 0), Self.text(record.agreed),
      Self.text(record.etag), Self.text(record.source), .integer(record.sequence),
      .integer(record.importedSequence), .integer(record.changes), .integer(record.added),
      .integer(record.removed), Self.text(record.intent?.checksum),
      record.intent.map { .integer($0.sequence) } ?? .null, Self.text(record.lineage))
  }

  // MARK: Levels

  /// Writes a level's row; makes one when its id is 0, and says which.
  func put(_ level: ShardLevel) throws -> ShardLevel {
    var level = level
    if level.id == 0 {
      // Blocks of a level outlive it never, so that an id may come again.
      let last = try connection.number("SELECT max(id) FROM photo_level")
      guard (0..<Self.mostLevels - 1).contains(last) else {
        throw SatchelError(.damaged, "photo_level: level \(last) is none")
      }
      level.id = last + 1
    }
    try connection.run(
      "INSERT OR REPLACE INTO photo_level(id, checksum, photos, kept, bytes) VALUES(?, ?, ?, ?, ?)",
      .integer(level.id), .text(level.checksum), .integer(level.photos), .integer(level.kept),
      .integer(level.bytes))
    return level
  }

  func remove(_ level: ShardLevel) throws {
    guard level.id != 0 else { return }
    try connection.run(
      "DELETE FROM photo_block WHERE id BETWEEN ? AND ?", .integer(level.blocks.lowerBound),
      .integer(level.blocks.upperBound))
    try BlockDates(connection: connection).remove(level.blocks)
    try connection.run("DELETE FROM photo_level WHERE id = ?", .integer(level.id))
  }

  private static func text(_ text: String?) -> Binding { text.map { .text($0) } ?? .null }

  private static func read(_ row: Statement, _ shard: Shard.Index) throws -> ShardRecord {
    var record = ShardRecord(shard: shard)
    record.base = try level(row, 1, shard)
    record.ancestor = try level(row, 6, shard)
    record.isImported = row.flag(11)
    record.agreed = row.textIfAny(12)
    record.etag = row.textIfAny(13)
    record.source = row.textIfAny(14)
    record.sequence = try count(row, 15, shard)
    record.importedSequence = try count(row, 16, shard)
    record.changes = try row.integer(17, in: PhotoSchema.changes)
    record.added = try row.integer(18, in: PhotoSchema.changes)
    record.removed = try row.integer(19, in: PhotoSchema.changes)
    record.intent = try row.textIfAny(20).map {
      UploadIntent(checksum: $0, sequence: try row.integer(21, in: StoredRange.count))
    }
    record.lineage = row.textIfAny(22)
    return record
  }

  private static func level(_ row: Statement, _ column: Int32, _ shard: Shard.Index) throws -> ShardLevel {
    let id = row.anyInteger(column)
    if id == 0 { return .empty }
    guard (1..<mostLevels).contains(id), !row.isNull(column + 1) else {
      throw SatchelError(.damaged, "photo_shard: level \(id) of shard \(shard) is not there")
    }
    return ShardLevel(
      id: id, checksum: row.text(column + 1), photos: try count(row, column + 2, shard),
      kept: try count(row, column + 3, shard), bytes: try count(row, column + 4, shard))
  }

  /// A number that sums cannot overflow with.
  private static func count(_ row: Statement, _ column: Int32, _ shard: Shard.Index) throws -> Int64 {
    let count = row.anyInteger(column)
    guard (0...1 << 56).contains(count) else {
      throw SatchelError(.damaged, "photo_shard: shard \(shard) counts \(count) of something")
    }
    return count
  }
}
