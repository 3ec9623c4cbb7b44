/// The tables of a deferred index: rows that something is looked up in, and the index of their hashes.
package protocol DeferredIndexSource: Sendable {
  /// What is looked up.
  associatedtype Key

  /// The index.
  static var keys: KeyBlocks { get }
  /// Up to here there are no rows: an index that goes no further has nothing.
  var start: Int64 { get }
  /// The hash of a key; 64 bits that nobody can make collide on purpose.
  func hash(_ key: Key) -> Int64
  /// Rows up to `floor` are in the index; `newest` is the last that was ever taken.
  func extent(_ connection: Connection) throws -> (floor: Int64, newest: Int64)
  /// Visits the rows behind `floor` up to `newest` that are there, with their hashes, in ascending order.
  func scan(
    _ connection: Connection, from floor: Int64, through newest: Int64,
    visit: (_ hash: Int64, _ row: Int64) throws -> Void) throws
  /// Whether a row is there, and is that of the key.
  func isRow(_ row: Int64, of key: Key, _ connection: Connection) throws -> Bool
  /// Those rows behind `floor` up to `newest` that are there; nil where rows never go before they are in the index.
  func present(_ connection: Connection, from floor: Int64, through newest: Int64) throws -> Set<Int64>?
  /// Notes that rows up to `floor` are in the index.
  func setFloor(_ floor: Int64, in transaction: Transaction) throws
}

extension DeferredIndexSource {
  package var start: Int64 { 0 }

  /// The row of a hash in the index, which has rows up to `floor`, for which `isIt` holds.
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
