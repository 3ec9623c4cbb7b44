/// One connection's state of a deferred index, to look several keys up in. Used by the thread that made it.
package final class DeferredIndexView<Source: DeferredIndexSource> {
  private let index: DeferredIndex<Source>
  private let connection: Connection
  /// Rows up to here are in the index, as this state has it.
  private let floor: Int64
  /// The last row that this state was seen to have; those that its own transaction adds come after it.
  private let newest: Int64
  /// Rows that the memory no longer has: this state is older than a merge, which may have come after it.
  private var older = DeferredTail()

  init(_ index: DeferredIndex<Source>, _ connection: Connection, floor: Int64, newest: Int64) {
    self.index = index
    self.connection = connection
    self.floor = floor
    self.newest = newest
  }

  package func find(_ key: Source.Key) throws -> Int64? { try find(key, hash: index.source.hash(key)) }

  /// The row of a key; nil when there is none.
  package func find(_ key: Source.Key, hash: Int64) throws -> Int64? {
    try first(of: hash) { try index.source.isRow($0, of: key, connection) }
  }

  /// The row of a hash for which `isIt` holds; nil when there is none.
  func first(of hash: Int64, where isIt: (_ row: Int64) throws -> Bool) throws -> Int64? {
    let waiting = try index.waiting(hash, connection, floor: floor, newest: newest)
    if let row = waiting.first, try isIt(row) { return row }
    for row in waiting.others where try isIt(row) { return row }
    if waiting.floor > floor, waiting.floor > older.seen {
      older = DeferredTail(floor: floor, seen: floor)
      try index.source.scan(connection, from: floor, through: waiting.floor) { older.add($0, $1) }
      older.seen = waiting.floor
    }
    if let row = older.first[hash], try isIt(row) { return row }
    for row in older.others[hash] ?? [] where try isIt(row) { return row }
    return try index.source.first(of: hash, connection, through: floor, where: isIt)
  }
}
