import SatchelCore
import SatchelStorage

/// Maps variants, identified by entity id, scope and place, to their rows.
///
/// The index is deferred: rows after setting 'indexed_through' are not yet in `entity_index`, and are merged
/// in sorted order, many payloads at once, inside the transaction of one of them.
final class VariantIndex: Sendable {
  struct Variant {
    var entityID: String
    var scope: Scope
    /// The row of the place; 0 for `global`.
    var place: Int64
  }

  typealias View = DeferredIndexView<VariantRows>

  private let rows = DeferredIndex(VariantRows())

  static func hash(_ variant: Variant) -> Int64 { VariantRows().hash(variant) }

  /// Returns a view of the index at the connection's snapshot. In a write transaction `add` keeps the view
  /// current.
  func view(of connection: Connection) throws -> View { try rows.view(of: connection) }

  /// Returns the row for the next new entity. Rows are never reused, even when the newest one was removed, so
  /// that entries cached by other processes stay valid.
  static func nextRow(_ connection: Connection) throws -> Int64 {
    let (floor, newest) = try VariantRows().extent(connection)
    return max(newest, floor) + 1
  }

  /// Adds a row that the transaction inserted.
  func add(_ hash: Int64, row: Int64, in transaction: Transaction) {
    rows.add(hash, row: row, in: transaction)
  }

  /// Merges the pending rows when there are enough of them.
  func mergeIfNeeded(in transaction: Transaction) throws { try rows.mergeIfNeeded(in: transaction) }

  /// Merges all pending rows.
  func merge(in transaction: Transaction) throws { try rows.merge(in: transaction) }
}

/// Accesses the tables `entity` and `entity_index` for the deferred index of variants.
struct VariantRows: DeferredIndexSource {
  static let keys = KeyBlocks(
    KeyBlocks.Statements(
      find: "SELECT first, entries FROM entity_index WHERE first <= ? ORDER BY first DESC LIMIT 1",
      next: "SELECT first FROM entity_index WHERE first > ? ORDER BY first LIMIT 1",
      put: "INSERT OR REPLACE INTO entity_index(first, entries) VALUES(?, ?)",
      delete: "DELETE FROM entity_index WHERE first = ?",
      all: "SELECT first, entries FROM entity_index ORDER BY first"))

  /// Returns 64 bits of SHA-256, so that ids cannot be chosen to collide.
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

  /// Returns nil: a prune merges all rows into the index before it deletes any.
  func present(_ connection: Connection, from floor: Int64, through newest: Int64) -> Set<Int64>? { nil }

  func setFloor(_ floor: Int64, in transaction: Transaction) throws {
    try transaction.connection.run(
      "INSERT INTO setting(key, value) VALUES('indexed_through', ?1) ON CONFLICT DO UPDATE SET value = ?1",
      .integer(floor))
  }
}
