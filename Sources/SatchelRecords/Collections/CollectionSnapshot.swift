/// What one read transaction shows of a collection, for all reads that share it.
final class CollectionSnapshot: Sendable {
  /// As many connections read at once.
  static let most = 4

  /// Of the transaction; see `Connection.snapshot`.
  let number: UInt64
  let row: CollectionRow

  init(number: UInt64, row: CollectionRow) {
    self.number = number
    self.row = row
  }
}
