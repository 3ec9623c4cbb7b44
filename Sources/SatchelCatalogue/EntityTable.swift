import SatchelCore
import SatchelJSON
import SatchelStorage

/// A row of `entity`: a variant without its content.
struct EntityRecord {
  var row: Int64
  var entityID: String
  var scope: Scope
  var place: Int64
  var expiresAt: Int64
  var updatedAt: Int64
  var timeToLive: Int64
  var displayName: String
  /// The size of the content in bytes; nil when it was pruned.
  var size: Int64?
  var createdAt: Int64
  /// The context of the delivery that wrote the content.
  var source: Int64

  /// Whether it is expired; also when a clock that was ahead has dated it, which a write corrects.
  func isExpired(at now: Int64) -> Bool {
    expiresAt <= now || StoreClock.isAhead(expiresAt - timeToLive, of: now)
  }
}

/// Reads and writes the tables `entity`, `entity_content` and `expiry_block`.
struct EntityTable {
  let connection: Connection

  func record(_ row: Int64) throws -> EntityRecord? {
    let statement = try connection.prepared(
      """
      SELECT entity_id, scope, place, expires_at, updated_at, time_to_live, display_name, size,
      created_at, source FROM entity WHERE id = ?
      """)
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step(), let scope = Scope(rawValue: Int(statement.anyInteger(1))) else { return nil }
    return EntityRecord(
      row: row, entityID: statement.text(0), scope: scope, place: try statement.integer(2),
      expiresAt: try statement.integer(3), updatedAt: try statement.integer(4),
      timeToLive: try statement.integer(5, in: 0...StoredRange.time.upperBound),
      displayName: statement.textIfAny(6) ?? statement.text(0),
      size: try statement.integerIfAny(7, in: StoredRange.length),
      createdAt: try statement.integerIfAny(8, in: StoredRange.time) ?? statement.integer(4),
      source: try statement.integer(9))
  }

  /// Returns the text of the key of a variant's place; nil for `global`.
  func placeText(of record: EntityRecord) throws -> String? {
    try connection.first("SELECT text FROM place WHERE id = ?", .integer(record.place)) { $0.text(0) }
  }

  /// Reads a body and its placeholders; the bytes are valid only inside `read`.
  func withContent<Result>(
    of row: Int64, read: (UnsafeRawBufferPointer, [Template<EntityTarget>.Placeholder]) throws -> Result
  ) throws -> Result? {
    let statement = try connection.prepared("SELECT body, placeholders FROM entity_content WHERE entity = ?")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step() else { return nil }
    return try read(statement.bytes(0), PlaceholderCoding.decodeEntity(statement.bytes(1)))
  }

  /// Whether a stored body has the same value as another one, with the same nested entities.
  func hasContent(
    _ row: Int64, body: UnsafeRawBufferPointer, placeholders: [Template<EntityTarget>.Placeholder]
  ) throws -> Bool {
    try withContent(of: row) { stored, known in
      (stored.hasSameBytes(as: body) && known == placeholders)
        || ContentEquality.equal(stored, placeholders: known, body, otherPlaceholders: placeholders)
    } ?? false
  }

  /// Whether other entities are nested in a stored one. Reads only the first page of the body.
  func hasNestedEntities(_ row: Int64) throws -> Bool {
    try connection.first(
      "SELECT typeof(placeholders) = 'blob' FROM entity_content WHERE entity = ?", .integer(row)
    ) { try $0.integer(0) != 0 } ?? false
  }

  // MARK: Writing

  /// Inserts a new variant with a reference count of one: that of the section that delivers it.
  func insert(
    _ row: Int64, _ tag: StorageTag, place: Int64, displayName: String, body: UnsafeRawBufferPointer,
    placeholders: [UInt8], source: Int64, now: Int64
  ) throws {
    let insert = try connection.prepared(
      """
      INSERT INTO entity(id, entity_id, scope, place, display_name, time_to_live, expires_at, updated_at,
      reference_count, size, source) VALUES(?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
      """)
    defer { insert.reset() }
    try insert.bind(.integer(row), at: 1)
    try insert.bind(.text(tag.entityID), at: 2)
    try insert.bind(.integer(Int64(tag.scope.rawValue)), at: 3)
    try insert.bind(.integer(place), at: 4)
    try insert.bind(displayName == tag.entityID ? .null : .text(displayName), at: 5)
    try insert.bind(.integer(tag.timeToLive), at: 6)
    try insert.bind(.integer(now + tag.timeToLive), at: 7)
    try insert.bind(.integer(now), at: 8)
    try insert.bind(.integer(Int64(body.count)), at: 9)
    try insert.bind(.integer(source), at: 10)
    _ = try insert.step()
    try insertContent(of: row, body, placeholders: placeholders)
    try lowerEarliest(of: row, to: now + tag.timeToLive)
  }

  private func insertContent(of row: Int64, _ body: UnsafeRawBufferPointer, placeholders: [UInt8]) throws {
    let insert = try connection.prepared(
      "INSERT OR REPLACE INTO entity_content(entity, body, placeholders) VALUES(?, ?, ?)")
    defer { insert.reset() }
    try insert.bind(.integer(row), at: 1)
    try insert.bind(.blob(body), at: 2)
    try placeholders.withUnsafeBytes { bytes in
      try insert.bind(placeholders.isEmpty ? .null : .blob(bytes), at: 3)
      _ = try insert.step()
    }
  }

  /// Replaces the content of a variant, and renews its expiry.
  func update(
    _ row: Int64, _ tag: StorageTag, displayName: String, body: UnsafeRawBufferPointer, placeholders: [UInt8],
    source: Int64, now: Int64
  ) throws {
    try connection.run(
      """
      UPDATE entity SET display_name = ?, time_to_live = ?, expires_at = ?, size = ?, source = ?,
      created_at = coalesce(created_at, updated_at), updated_at = ? WHERE id = ?
      """, displayName == tag.entityID ? .null : .text(displayName), .integer(tag.timeToLive),
      .integer(now + tag.timeToLive), .integer(Int64(body.count)), .integer(source), .integer(now),
      .integer(row))
    try insertContent(of: row, body, placeholders: placeholders)
    try SearchIndex(connection: connection).noteChange(of: row)
    try lowerEarliest(of: row, to: now + tag.timeToLive)
  }

  /// Renews the expiry of a variant whose content is the same.
  func renew(_ record: EntityRecord, _ tag: StorageTag, displayName: String, now: Int64) throws {
    let expiry = now + tag.timeToLive
    guard
      expiry != record.expiresAt || tag.timeToLive != record.timeToLive
        || !displayName.hasSameBytes(as: record.displayName)
    else { return }
    try connection.run(
      "UPDATE entity SET display_name = ?, time_to_live = ?, expires_at = ? WHERE id = ?",
      displayName == tag.entityID ? .null : .text(displayName), .integer(tag.timeToLive), .integer(expiry),
      .integer(record.row))
    if !displayName.hasSameBytes(as: record.displayName) {
      try SearchIndex(connection: connection).noteChange(of: record.row)
    }
    if expiry < record.expiresAt { try lowerEarliest(of: record.row, to: expiry) }
  }

  /// Renews the expiry of a variant by its own time to live.
  func renew(_ record: EntityRecord, now: Int64) throws {
    let expiry = now + record.timeToLive
    guard expiry != record.expiresAt else { return }
    try connection.run(
      "UPDATE entity SET expires_at = ? WHERE id = ?", .integer(expiry), .integer(record.row))
    if expiry < record.expiresAt { try lowerEarliest(of: record.row, to: expiry) }
  }

  /// Adds `difference` to the reference count of a variant.
  func changeReferenceCount(of row: Int64, by difference: Int64) throws {
    try connection.run(
      "UPDATE entity SET reference_count = reference_count + ? WHERE id = ?", .integer(difference),
      .integer(row))
  }

  /// Deletes the content of a variant, and the variant itself when no section references it. A variant that
  /// is still referenced stays, to be reported as missing.
  ///
  /// - Returns: the size of the deleted content in bytes; nil when there was none
  func prune(_ row: Int64) throws -> Int64? {
    guard
      let (referenceCount, size) = try connection.first(
        "SELECT reference_count, size FROM entity WHERE id = ?", .integer(row),
        read: { (try $0.integer(0, in: StoredRange.count), try $0.integerIfAny(1, in: StoredRange.length)) })
    else { return nil }
    try SearchIndex(connection: connection).remove(row)
    try connection.run("DELETE FROM entity_content WHERE entity = ?", .integer(row))
    if referenceCount > 0 {
      try connection.run("UPDATE entity SET size = NULL WHERE id = ?", .integer(row))
    } else {
      let record = try record(row)
      try connection.run("DELETE FROM entity WHERE id = ?", .integer(row))
      if let record {
        let variant = VariantIndex.Variant(
          entityID: record.entityID, scope: record.scope, place: record.place)
        try VariantRows.keys.remove((VariantIndex.hash(variant), row), connection)
      }
    }
    return size
  }
}

extension EntityTable {
  /// The number of rows that share an entry of `expiry_block`.
  static let blockSize: Int64 = 256

  /// Lowers the earliest expiry of an entity's block to `expiry`, if that is earlier.
  func lowerEarliest(of row: Int64, to expiry: Int64) throws {
    let block = row / Self.blockSize
    let known = try connection.prepared("SELECT earliest FROM expiry_block WHERE block = ?")
    defer { known.reset() }
    try known.bind(.integer(block), at: 1)
    if try known.step(), known.anyInteger(0) <= expiry { return }
    known.reset()
    try connection.run(
      "INSERT OR REPLACE INTO expiry_block(block, earliest) VALUES(?, ?)", .integer(block), .integer(expiry))
  }

  /// Returns the rows of expired entities that have content, in ascending order.
  func expired(at now: Int64) throws -> [Int64] {
    var blocks: [Int64] = []
    try connection.each("SELECT block FROM expiry_block WHERE earliest <= ?", .integer(now)) {
      blocks.append(try $0.integer(0, in: 0...1 << 45))
    }
    var rows: [Int64] = []
    for block in blocks {
      try connection.each(
        "SELECT id FROM entity WHERE id >= ? AND id < ? AND size IS NOT NULL AND expires_at <= ?",
        .integer(block * Self.blockSize), .integer((block + 1) * Self.blockSize), .integer(now)
      ) { rows.append(try $0.integer(0)) }
    }
    return rows
  }

  /// Recomputes, after a prune, the blocks that may have expired entities.
  func refreshBlocks(at now: Int64) throws {
    var blocks: [Int64] = []
    try connection.each("SELECT block FROM expiry_block WHERE earliest <= ?", .integer(now)) {
      blocks.append(try $0.integer(0, in: 0...1 << 45))
    }
    for block in blocks {
      let earliest = try connection.first(
        "SELECT min(expires_at) FROM entity WHERE id >= ? AND id < ? AND size IS NOT NULL",
        .integer(block * Self.blockSize), .integer((block + 1) * Self.blockSize)
      ) { try $0.integerIfAny(0) }
      if let earliest = earliest ?? nil {
        try connection.run(
          "UPDATE expiry_block SET earliest = ? WHERE block = ?", .integer(earliest), .integer(block))
      } else {
        try connection.run("DELETE FROM expiry_block WHERE block = ?", .integer(block))
      }
    }
  }
}
