import SatchelStorage

/// Finds the row of a variant: the entity id, its scope, and the place it is for.
///
/// A deferred index: rows beyond setting 'indexed_through' are not in `entity_index` yet, and are merged in sorted
/// order, many payloads at once, inside a payload's own transaction.
final class VariantIndex: Sendable {
  struct Variant {
    var entityID: String
    var scope: Scope
    /// Row of the place, 0 for `global`.
    var place: Int64
  }

  typealias View = DeferredIndexView<VariantRows>

  private let rows = DeferredIndex(VariantRows())

  static func hash(_ variant: Variant) -> Int64 { VariantRows().hash(variant) }

  /// Catches up with what a connection sees. Inside a write the view stays true through `add`.
  func view(of connection: Connection) throws -> View { try rows.view(of: connection) }

  /// The row that the next new entity takes. Rows are never taken twice, though the newest may be removed:
  /// what other processes remember of a row stays true.
  static func nextRow(_ connection: Connection) throws -> Int64 {
    let (floor, newest) = try VariantRows().extent(connection)
    return max(newest, floor) + 1
  }

  /// Remembers a row that the transaction has just made.
  func add(_ hash: Int64, row: Int64, in transaction: Transaction) {
    rows.add(hash, row: row, in: transaction)
  }

  /// Merges what waits when it has become much.
  func mergeIfMuch(in transaction: Transaction) throws { try rows.mergeIfMuch(in: transaction) }

  /// Brings the index up to date with all rows.
  func merge(in transaction: Transaction) throws { try rows.merge(in: transaction) }
}
