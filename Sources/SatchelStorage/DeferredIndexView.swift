/// One connection's state of a deferred index, to look several keys up in. Used by the thread that made it.
package final class DeferredIndexView<Source: DeferredIndexSource> {
  private let index: DeferredIndex<Source>
  private let connection: Connection
  /// Rows up to here are in the index, as this state has it.
  private let floor: Int64
  /// Rows that the memory no longer has: this state is older than a merge, which may have come after it.
  private var older = DeferredTail()

  init(_ index: DeferredIndex<Source>, _ connection: Connection, floor: Int64) {
    self.index = index
    self.connection = connection
    self.floor = floor
  }

  package func find(_ key: Source.Key) throws -> Int64? { try find(key, hash: index.source.hash(key)) }

  /// The row of a key; nil when there is none.
  package func find(_ key: Source.Key, hash: Int64) throws -> Int64? {
    let source = index.source
    let waiting = index.waiting(hash)
    if let row = waiting.first, try source.isRow(row, of: key, connection) { return row }
    for row in waiting.others where try source.isRow(row, of: key, connection) { return row }
    if waiting.floor > floor, waiting.floor > older.seen {
      older = DeferredTail(floor: floor, seen: floor)
      try source.scan(connection, from: floor, through: waiting.floor) { older.add($0, $1) }
      older.seen = waiting.floor
    }
    if let row = older.first[hash], try source.isRow(row, of: key, connection) { return row }
    for row in older.others[hash] ?? [] where try source.isRow(row, of: key, connection) { return row }
    var found: Int64?
    try source.rows(connection, hash: hash) { row in
      guard try source.isRow(row, of: key, connection) else { return true }
      found = row
      return false
    }
    return found
  }
}
