import SatchelCore

/// The tables of a deferred index: the rows to find, and the index of their hashes.
package protocol DeferredIndexSource: Sendable {
  /// The look-up key.
  associatedtype Key

  /// The index of hashes.
  static var keys: KeyBlocks { get }
  /// The row before the first possible one: an index up to here is empty.
  var start: Int64 { get }
  /// Returns the hash of a key; 64 bits for which collisions cannot be constructed.
  func hash(_ key: Key) -> Int64
  /// Returns the last indexed row and the last row that was ever inserted.
  func extent(_ connection: Connection) throws -> (floor: Int64, newest: Int64)
  /// Visits the existing rows after `floor` up to `newest`, with their hashes, in ascending order.
  func scan(
    _ connection: Connection, from floor: Int64, through newest: Int64,
    visit: (_ hash: Int64, _ row: Int64) throws -> Void) throws
  /// Whether a row exists and has the key.
  func isRow(_ row: Int64, of key: Key, _ connection: Connection) throws -> Bool
  /// Returns the existing rows after `floor` up to `newest`; nil where rows are never deleted before they are
  /// indexed.
  func present(_ connection: Connection, from floor: Int64, through newest: Int64) throws -> Set<Int64>?
  /// Stores that rows up to `floor` are in the index.
  func setFloor(_ floor: Int64, in transaction: Transaction) throws
}

extension DeferredIndexSource {
  package var start: Int64 { 0 }

  /// Returns the row of a hash in the index, which contains rows up to `floor`, for which `isIt` is true.
  func first(
    of hash: Int64, _ connection: Connection, through floor: Int64, where isIt: (_ row: Int64) throws -> Bool
  ) throws -> Int64? {
    guard floor > start else { return nil }
    var found: Int64?
    try Self.keys.rows(of: hash, connection) { row in
      guard try isIt(row) else { return true }
      found = row
      return false
    }
    return found
  }
}
