import SatchelJSON
import SatchelStorage

/// All collections of one open store: what their handles share.
package final class RecordStore: Sendable {
  package let database: Database
  let journal: Journal
  private let shapes = Guarded<[Int64: CollectionShape]>([:])
  private let keys = Guarded<[Int64: DeferredIndex<RecordIDs>]>([:])
  private let work = Guarded<RecordWork?>(nil)
  /// What the latest transaction knew at its end, by its number.
  private let known = Guarded<(transaction: UInt64, collections: [Int64: WorkingCollection])>((0, [:]))
  private let hasWritten = Guarded(false)
  private let mirrors = Guarded<[Int64: RecordMirror]>([:])

  /// One for each `Database`; touches nothing yet.
  ///
  /// - Parameter journal: gets what the store cannot take; shared by all that is kept in the same file
  package init(database: Database, journal: Journal) {
    self.database = database
    self.journal = journal
    registerEntries()
    database.whenClosing { [weak self] _ in try self?.mergeKeys() }
  }

  /// Brings the indexes of ids up to date, where something was written: the next handle need not read what waits.
  private func mergeKeys() throws {
    guard hasWritten.withLock({ $0 }) else { return }
    let indexes = keys.withLock { Array($0.values) }.filter(\.hasWaiting)
    guard !indexes.isEmpty else { return }
    do {
      try database.write { transaction in
        for index in indexes { try index.merge(in: transaction) }
      }
    } catch let error as SatchelError where error.code == .busy || error.code == .full {
      // Nothing depends on it.
    }
  }

  // MARK: Shared knowledge

  func keys(of collection: Int64) -> DeferredIndex<RecordIDs> {
    keys.withLock { keys in
      if let index = keys[collection] { return index }
      let index = DeferredIndex(RecordIDs(collection: collection))
      keys[collection] = index
      return index
    }
  }

  /// The shape that a state of the store has.
  func shape(of row: CollectionRow, _ connection: Connection) throws -> CollectionShape {
    if let shape = shapes.withLock({ $0[row.id] }), shape.number == row.shape { return shape }
    let shape = try CollectionShape(row, connection)
    shapes.withLock { shapes in
      if shapes[row.id].map({ $0.number < shape.number }) ?? true { shapes[row.id] = shape }
    }
    return shape
  }

  /// Forgets a collection's shape: it was declared anew, or that has failed.
  func forgetShape(of collection: Int64) { shapes.withLock { $0[collection] = nil } }

  // MARK: Mirrors

  func mirror(of collection: Int64) -> RecordMirror? { mirrors.withLock { $0[collection] } }

  func setMirror(_ mirror: RecordMirror, of collection: Int64) {
    mirrors.withLock { $0[collection] = mirror }
  }

  func dropMirror(of collection: Int64, owner: ObjectIdentifier) {
    mirrors.withLock { if $0[collection]?.owner == owner { $0[collection] = nil } }
  }

  // MARK: Transactions

  /// Writes, as a part of the transaction that the thread is in, if any. The body must change nothing before it has
  /// checked everything.
  func write<Result>(_ body: (RecordWork) throws -> Result) throws -> Result {
    try journal.takeInSpilled(database)
    return try database.join { try body(work(in: $0)) }
  }

  /// Writes as one transaction, or as a savepoint of the one that the thread is in.
  func transaction<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    try journal.write(in: database, body)
  }

  /// Reads one state of the store; inside a transaction of the same thread also what it has written.
  func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if database.isInTransaction {
      return try database.join { transaction in
        try current(transaction)?.flush()
        return try body(transaction.connection)
      }
    }
    return try database.read(body)
  }

  private func current(_ transaction: Transaction) -> RecordWork? {
    work.withLock { $0?.transaction === transaction ? $0 : nil }
  }

  /// Lets go of a transaction that is about to be committed; the next may need what it knows.
  func keep(_ collections: [Int64: WorkingCollection], _ over: RecordWork, _ transaction: Transaction) {
    known.withLock { $0 = (transaction.number, collections) }
    work.withLock { if $0 === over { $0 = nil } }
  }

  /// Lets go of a transaction that has failed, and of all that may be of it.
  func forgetAll() {
    known.withLock { $0 = (0, [:]) }
    let gone = work.withLock { work -> RecordWork? in
      defer { work = nil }
      return work
    }
    _ = gone  // Released here, outside of the lock.
    for index in keys.withLock({ Array($0.values) }) { index.forget() }
  }

  /// What a transaction does to records.
  func work(in transaction: Transaction) -> RecordWork {
    if let work = current(transaction) {
      work.enterScope()
      return work
    }
    let made = RecordWork(
      self, transaction, known.withLock { $0.transaction == transaction.follows ? $0.collections : [:] })
    hasWritten.withLock { $0 = true }
    work.withLock { $0 = made }
    transaction.beforeCommit(once: "records") { [weak made] _ in try made?.finish() }
    made.enterScope()
    return made
  }
}
