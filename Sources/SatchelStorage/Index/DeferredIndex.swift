import SatchelCore

/// Finds rows by the hash of a key, without updating an index at every write.
///
/// Each row in an index of hashes dirties a random page, which would be most of the cost of writing. New rows
/// are kept in memory, and merged into the index in sorted order, many at once, inside a later transaction.
/// Correctness does not depend on the memory: another process, or a new start, scans the rows that are not
/// yet indexed.
///
/// Storing the payloads of W1 takes 0.65 of the time that it takes with an index of SQLite on the ids: the limit probe
/// `persist_limit` with either, 15 pairs in turns.
package final class DeferredIndex<Source: DeferredIndexSource>: Sendable {
  package let source: Source
  /// The number of rows that wait in memory before a merge into a small index.
  private static var minMergeThreshold: Int { 8192 }
  /// A merge changes nearly every page of a large index: the larger it is, the more rows are merged at once,
  /// up to a number that a new start can still scan in the time of a few commits.
  private static var indexFraction: Int64 { 16 }
  private static var maxMergeThreshold: Int { 1 << 17 }
  private let tail = Locked(DeferredTail())

  package init(_ source: Source) {
    self.source = source
  }

  // MARK: Looking up

  /// Returns a view of the index for a connection's snapshot. Inside a write it stays valid after `add`.
  package func view(of connection: Connection) throws -> DeferredIndexView<Source> {
    let (floor, newest) = try source.extent(connection)
    return try view(of: connection, floor: floor, newest: newest)
  }

  /// Returns a view, for a caller that has read the extent already.
  package func view(
    of connection: Connection, floor: Int64, newest: Int64
  ) throws -> DeferredIndexView<Source> {
    try tail.withLock { try catchUp(&$0, connection, floor: floor, newest: newest) }
    return DeferredIndexView(self, connection, floor: floor, newest: newest)
  }

  private func catchUp(
    _ tail: inout DeferredTail, _ connection: Connection, floor: Int64, newest: Int64
  ) throws {
    // The memory contains all rows from its floor to `seen`. Another process has merged beyond `seen`: start
    // empty, since a gap would lose rows for an older snapshot.
    if floor > tail.seen { tail = DeferredTail(floor: floor, seen: floor) }
    guard tail.seen < newest else { return }
    var found = DeferredTail(floor: tail.floor, seen: tail.seen)
    try source.scan(connection, from: tail.seen, through: newest) { found.add($0, $1) }
    tail.merge(found)
    tail.seen = newest
  }

  /// Returns the waiting rows of a hash, and the floor of the memory. The memory is brought up to date first:
  /// between two look-ups another thread's transaction may fail and remove the rows that it had added.
  func waiting(
    _ hash: Int64, _ connection: Connection, floor: Int64, newest: Int64
  ) throws -> (first: Int64?, others: [Int64], floor: Int64) {
    try tail.withLock { tail in
      try catchUp(&tail, connection, floor: floor, newest: newest)
      return (tail.first[hash], tail.hasOthers ? tail.others[hash] ?? [] : [], tail.floor)
    }
  }

  /// Returns the row of a hash for which `isIt` is true, in a connection's snapshot; nil when no row matches.
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

  /// Adds a row that the transaction has just inserted.
  package func add(_ hash: Int64, row: Int64, in transaction: Transaction) {
    add(hash, row: row)
    transaction.onFailure { [self] in forget() }
  }

  /// Adds a row, for a caller that calls `forget` if the transaction fails.
  package func add(_ hash: Int64, row: Int64) { tail.withLock { $0.add(hash, row) } }

  /// Discards the waiting rows; they are scanned again when needed.
  package func forget() { tail.withLock { $0 = DeferredTail(floor: $0.floor, seen: $0.floor) } }

  // MARK: Merging

  /// Merges the waiting rows if there are enough.
  package func mergeIfNeeded(in transaction: Transaction) throws {
    if needsMerge { try merge(in: transaction) }
  }

  /// Whether any rows wait.
  package var hasWaiting: Bool { tail.withLock { $0.count } > 0 }

  /// Whether enough rows wait to merge them.
  package var needsMerge: Bool {
    let (count, indexed) = tail.withLock { ($0.count, $0.floor - source.start) }
    guard count >= Self.minMergeThreshold else { return false }
    return count >= min(Int(clamping: indexed / Self.indexFraction), Self.maxMergeThreshold)
  }

  /// Merges all rows into the index.
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

/// A view of a deferred index for one connection's snapshot, for several look-ups on the thread that created
/// it.
package final class DeferredIndexView<Source: DeferredIndexSource> {
  private let index: DeferredIndex<Source>
  private let connection: Connection
  /// The last indexed row in this snapshot.
  private let floor: Int64
  /// The last row that this snapshot was known to have; rows that its own transaction adds follow.
  private let newest: Int64
  /// Rows that are no longer in memory: a merge after this snapshot may have moved them.
  private var older = DeferredTail()

  init(_ index: DeferredIndex<Source>, _ connection: Connection, floor: Int64, newest: Int64) {
    self.index = index
    self.connection = connection
    self.floor = floor
    self.newest = newest
  }

  package func find(_ key: Source.Key) throws -> Int64? { try find(key, hash: index.source.hash(key)) }

  /// Returns the row of a key; nil when no row has it.
  package func find(_ key: Source.Key, hash: Int64) throws -> Int64? {
    try first(of: hash) { try index.source.isRow($0, of: key, connection) }
  }

  /// Returns the row of a hash for which `isIt` is true; nil when no row matches.
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

/// The rows after `floor`, up to `seen`, by hash.
struct DeferredTail {
  var floor: Int64 = 0
  var seen: Int64 = 0
  /// Nearly every hash has one row, which needs no array.
  private(set) var first: [Int64: Int64] = [:]
  private(set) var others: [Int64: [Int64]] = [:]

  init(floor: Int64 = 0, seen: Int64 = 0) {
    self.floor = floor
    self.seen = seen
  }

  var count: Int { first.count }
  var hasOthers: Bool { !others.isEmpty }

  var entries: [(hash: Int64, row: Int64)] {
    first.map { ($0.key, $0.value) } + others.flatMap { hash, rows in rows.map { (hash, $0) } }
  }

  mutating func add(_ hash: Int64, _ row: Int64) {
    if let known = first.updateValue(row, forKey: hash), known != row {
      others[hash, default: []].append(known)
    }
    seen = max(seen, row)
  }

  mutating func merge(_ other: DeferredTail) {
    if first.isEmpty {
      first = other.first
      others = other.others
      return
    }
    for (hash, row) in other.first { add(hash, row) }
    for (hash, rows) in other.others { others[hash, default: []] += rows }
  }
}

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
