/// Finds rows by the hash of a key, without paying for an index at every write.
///
/// An index of hashes costs a random page for every row, which is most of what writing would cost. Rows that are
/// new wait here in memory, and are merged into it in sorted order, many at once, inside a later transaction.
/// Nothing depends on the memory: whoever lacks it (another process, a new start) reads the rows in question.
package final class DeferredIndex<Source: DeferredIndexSource>: Sendable {
  package let source: Source
  /// Rows that may be waiting in memory, where the index is small.
  private let mostWaiting: Int
  /// A merge changes nearly every page of a large index: the larger it is, the more are merged at once, up to a number
  /// that a new start still reads in the time of a few commits.
  private static var share: Int64 { 16 }
  private static var most: Int { 1 << 17 }
  private let tail = Guarded(DeferredTail())

  package init(_ source: Source, mostWaiting: Int = 8192) {
    self.source = source
    self.mostWaiting = mostWaiting
  }

  // MARK: Looking up

  /// Catches up with what a connection sees. Inside a write the view stays true through `add`.
  package func view(of connection: Connection) throws -> DeferredIndexView<Source> {
    let (floor, newest) = try source.extent(connection)
    return try view(of: connection, floor: floor, newest: newest)
  }

  /// As `view(of:)`, for whoever has read the extent already.
  package func view(
    of connection: Connection, floor: Int64, newest: Int64
  ) throws -> DeferredIndexView<Source> {
    try tail.withLock { try catchUp(&$0, connection, floor: floor, newest: newest) }
    return DeferredIndexView(self, connection, floor: floor, newest: newest)
  }

  private func catchUp(
    _ tail: inout DeferredTail, _ connection: Connection, floor: Int64, newest: Int64
  ) throws {
    // The memory holds all rows between its floor and what it has seen. Others have merged beyond that: it
    // begins anew, rather than with a gap that an older state would fall into.
    if floor > tail.seen { tail = DeferredTail(floor: floor, seen: floor) }
    guard tail.seen < newest else { return }
    var found = DeferredTail(floor: tail.floor, seen: tail.seen)
    try source.scan(connection, from: tail.seen, through: newest) { found.add($0, $1) }
    tail.take(found)
    tail.seen = newest
  }

  /// The rows that wait under a hash, and up to where the memory has been merged. The memory catches up first: between
  /// two look-ups another thread's transaction may fail, and take back what it had added.
  func waiting(
    _ hash: Int64, _ connection: Connection, floor: Int64, newest: Int64
  ) throws -> (first: Int64?, others: [Int64], floor: Int64) {
    try tail.withLock { tail in
      try catchUp(&tail, connection, floor: floor, newest: newest)
      return (tail.first[hash], tail.hasOthers ? tail.others[hash] ?? [] : [], tail.floor)
    }
  }

  /// The row of a hash for which `isIt` holds, in the state that a connection sees; nil when there is none.
  package func first(
    of hash: Int64, _ connection: Connection, floor: Int64, newest: Int64,
    where isIt: (_ row: Int64) throws -> Bool
  ) throws -> Int64? {
    let waiting = try waiting(hash, connection, floor: floor, newest: newest)
    if waiting.floor > floor {
      return try view(of: connection, floor: floor, newest: newest).first(of: hash, where: isIt)
    }
    if let row = waiting.first, try isIt(row) { return row }
    for row in waiting.others where try isIt(row) { return row }
    return try source.first(of: hash, connection, through: floor, where: isIt)
  }

  // MARK: Adding

  /// Remembers a row that the transaction has just made.
  package func add(_ hash: Int64, row: Int64, in transaction: Transaction) {
    add(hash, row: row)
    transaction.onFailure { [self] in forget() }
  }

  /// As `add(_:row:in:)`, for whoever sees to it that `forget` is called should the transaction fail.
  package func add(_ hash: Int64, row: Int64) { tail.withLock { $0.add(hash, row) } }

  /// Forgets what waits; it is read again when it is needed.
  package func forget() { tail.withLock { $0 = DeferredTail(floor: $0.floor, seen: $0.floor) } }

  // MARK: Merging

  /// Merges what waits when it has become much.
  package func mergeIfMuch(in transaction: Transaction) throws {
    if isMuch { try merge(in: transaction) }
  }

  /// Whether anything waits.
  package var hasWaiting: Bool { tail.withLock { $0.count } > 0 }

  /// Whether it is time to merge.
  package var isMuch: Bool {
    let (count, indexed) = tail.withLock { ($0.count, $0.floor - source.start) }
    guard count >= mostWaiting else { return false }
    return count >= min(Int(clamping: indexed / Self.share), Self.most)
  }

  /// Brings the index up to date with all rows.
  package func merge(in transaction: Transaction) throws {
    let (floor, newest) = try source.extent(transaction.connection)
    guard newest > floor else { return }
    try tail.withLock { try catchUp(&$0, transaction.connection, floor: floor, newest: newest) }
    let present = try source.present(transaction.connection, from: floor, through: newest)
    var entries = tail.withLock { $0.entries }
    entries.removeAll { $0.row <= floor || $0.row > newest || present?.contains($0.row) == false }
    entries.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
    try Source.keys.add(entries, transaction.connection)
    try source.setFloor(newest, in: transaction)
    let before = tail.withLock { tail in
      let before = tail.floor
      tail = DeferredTail(floor: newest, seen: newest)
      return before
    }
    transaction.onFailure { [self] in tail.withLock { $0 = DeferredTail(floor: before, seen: before) } }
  }
}
