import SatchelStorage

/// The tables `entity` and `entity_index`, for the deferred index of variants.
struct VariantRows: DeferredIndexSource {
  static let keys = KeyBlocks(
    KeyBlocks.Statements(
      find: "SELECT first, entries FROM entity_index WHERE first <= ? ORDER BY first DESC LIMIT 1",
      next: "SELECT first FROM entity_index WHERE first > ? ORDER BY first LIMIT 1",
      put: "INSERT OR REPLACE INTO entity_index(first, entries) VALUES(?, ?)",
      delete: "DELETE FROM entity_index WHERE first = ?",
      all: "SELECT first, entries FROM entity_index ORDER BY first"))

  /// 64 bits of SHA-256: nobody can make ids that collide.
  func hash(_ variant: VariantIndex.Variant) -> Int64 {
    var hash = SHA256()
    var prefix = (Int64(variant.scope.rawValue).littleEndian, variant.place.littleEndian)
    withUnsafeBytes(of: &prefix) { hash.update($0) }
    var id = variant.entityID
    id.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
    var digest: Int64 = 0
    withUnsafeMutableBytes(of: &digest) { hash.digest(into: $0) }
    return Int64(littleEndian: digest)
  }

  func extent(_ connection: Connection) throws -> (floor: Int64, newest: Int64) {
    (
      try connection.number("SELECT value FROM setting WHERE key = 'indexed_through'"),
      try connection.number("SELECT max(id) FROM entity")
    )
  }

  func scan(
    _ connection: Connection, from floor: Int64, through newest: Int64, visit: (Int64, Int64) throws -> Void
  ) throws {
    try connection.each(
      "SELECT id, entity_id, scope, place FROM entity WHERE id > ? AND id <= ? ORDER BY id",
      .integer(floor), .integer(newest)
    ) { row in
      guard let scope = Scope(rawValue: Int(row.anyInteger(2))) else { return }
      let variant = VariantIndex.Variant(entityID: row.text(1), scope: scope, place: row.anyInteger(3))
      try visit(hash(variant), row.anyInteger(0))
    }
  }

  func isRow(_ row: Int64, of variant: VariantIndex.Variant, _ connection: Connection) throws -> Bool {
    let statement = try connection.prepared("SELECT entity_id, scope, place FROM entity WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    guard try statement.step() else { return false }
    var id = variant.entityID
    let bytes = statement.bytes(0)
    return id.withUTF8({ bytes.hasSameBytes(as: UnsafeRawBufferPointer($0)) })
      && statement.anyInteger(1) == Int64(variant.scope.rawValue) && statement.anyInteger(2) == variant.place
  }

  /// Entities are merged before any of them is pruned.
  func present(_ connection: Connection, from floor: Int64, through newest: Int64) -> Set<Int64>? { nil }

  func setFloor(_ floor: Int64, in transaction: Transaction) throws {
    try transaction.connection.run(
      "INSERT INTO setting(key, value) VALUES('indexed_through', ?1) ON CONFLICT DO UPDATE SET value = ?1",
      .integer(floor))
  }
}
