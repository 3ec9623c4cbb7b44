import SatchelJSON
import SatchelStorage

/// What is known of a variant without its content.
struct EntityRecord {
  var row: Int64
  var entityID: String
  var scope: Scope
  var place: Int64
  var expiresAt: Int64
  var updatedAt: Int64
  var timeToLive: Int64
  var displayName: String
  /// Bytes of content; nil when it was pruned.
  var size: Int64?

  func isExpired(at now: Int64) -> Bool { expiresAt <= now }
}

/// The tables of entities: `entity` for facts, `entity_content` for bodies.
struct EntityTable {
  let connection: Connection

  func record(_ row: Int64) throws -> EntityRecord? {
    let statement = try connection.prepared(
      """
      SELECT entity_id, scope, place, expires_at, updated_at, time_to_live, display_name, size
      FROM entity WHERE id = ?
      """)
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step(), let scope = Scope(rawValue: Int(statement.anyInteger(1))) else { return nil }
    return EntityRecord(
      row: row, entityID: statement.text(0), scope: scope, place: try statement.integer(2),
      expiresAt: try statement.integer(3), updatedAt: try statement.integer(4),
      timeToLive: try statement.integer(5, in: 0...StoredRange.time.upperBound),
      displayName: statement.textIfAny(6) ?? statement.text(0),
      size: try statement.integerIfAny(7, in: StoredRange.length))
  }

  /// Reads a body and its holes; the bytes are valid inside `read` only.
  func withContent<Result>(
    of row: Int64, read: (UnsafeRawBufferPointer, [Template<EntityTarget>.Hole]) throws -> Result
  ) throws -> Result? {
    let statement = try connection.prepared("SELECT body, holes FROM entity_content WHERE entity = ?")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step() else { return nil }
    return try read(statement.bytes(0), HoleCoding.decodeEntity(statement.bytes(1)))
  }

  func hasContent(_ row: Int64, body: UnsafeRawBufferPointer, holes: [UInt8]) throws -> Bool {
    let statement = try connection.prepared("SELECT body, holes FROM entity_content WHERE entity = ?")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step() else { return false }
    return statement.bytes(0).hasSameBytes(as: body) && statement.bytes(1).elementsEqual(holes)
  }

  /// Whether other entities are nested in a stored one. Reads no more of the body than its first page.
  func holdsOthers(_ row: Int64) throws -> Bool {
    try connection.first(
      "SELECT typeof(holes) = 'blob' FROM entity_content WHERE entity = ?", .integer(row)
    ) { try $0.integer(0) != 0 } ?? false
  }

  // MARK: Writing

  /// A new variant. It is used once: by the section that brings it.
  func insert(
    _ row: Int64, _ tag: StorageTag, place: Int64, displayName: String, body: UnsafeRawBufferPointer,
    holes: [UInt8], now: Int64
  ) throws {
    let insert = try connection.prepared(
      """
      INSERT INTO entity(id, entity_id, scope, place, display_name, time_to_live, expires_at, updated_at, uses,
      size) VALUES(?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
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
    _ = try insert.step()
    try insertContent(row, body, holes)
    try lowerEarliest(of: row, to: now + tag.timeToLive)
  }

  private func insertContent(_ row: Int64, _ body: UnsafeRawBufferPointer, _ holes: [UInt8]) throws {
    let insert = try connection.prepared(
      "INSERT OR REPLACE INTO entity_content(entity, body, holes) VALUES(?, ?, ?)")
    defer { insert.reset() }
    try insert.bind(.integer(row), at: 1)
    try insert.bind(.blob(body), at: 2)
    try holes.withUnsafeBytes { bytes in
      try insert.bind(holes.isEmpty ? .null : .blob(bytes), at: 3)
      _ = try insert.step()
    }
  }

  /// New content for a variant, and a new life.
  func update(
    _ row: Int64, _ tag: StorageTag, displayName: String, body: UnsafeRawBufferPointer, holes: [UInt8],
    now: Int64
  ) throws {
    try connection.run(
      """
      UPDATE entity SET display_name = ?, time_to_live = ?, expires_at = ?, updated_at = ?, size = ? WHERE id = ?
      """, displayName == tag.entityID ? .null : .text(displayName), .integer(tag.timeToLive),
      .integer(now + tag.timeToLive), .integer(now), .integer(Int64(body.count)), .integer(row))
    try insertContent(row, body, holes)
    try lowerEarliest(of: row, to: now + tag.timeToLive)
  }

  /// The same content again: it lives on.
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
    if expiry < record.expiresAt { try lowerEarliest(of: record.row, to: expiry) }
  }

  /// One section more, or less, refers to a variant.
  func changeUses(of row: Int64, by difference: Int64) throws {
    try connection.run(
      "UPDATE entity SET uses = uses + ? WHERE id = ?", .integer(difference), .integer(row))
  }

  /// Takes content away: all of the variant when nothing refers to it, else only its body, so that it can be
  /// named as missing.
  ///
  /// - Returns: the bytes of content that went; nil when there was none.
  func prune(_ row: Int64) throws -> Int64? {
    guard
      let (uses, size) = try connection.first(
        "SELECT uses, size FROM entity WHERE id = ?", .integer(row),
        read: { (try $0.integer(0, in: StoredRange.count), try $0.integerIfAny(1, in: StoredRange.length)) })
    else { return nil }
    try connection.run("DELETE FROM entity_content WHERE entity = ?", .integer(row))
    if uses > 0 {
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

extension UnsafeRawBufferPointer {
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
