import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The state that the handles of all collections of one open store share.
package final class RecordStore: Sendable {
  package let database: Database
  package let outbox: Outbox
  let calls: FileCalls
  private let kept = Locked<[Int64: Kept]>([:])
  private let work = Locked<RecordWork?>(nil)
  /// The collections as the latest transaction left them, with the number of that transaction.
  private let known = Locked<Known>(Known())
  private let hasWritten = Locked(false)
  /// The mirrors that are written after commits, and the observer of these commits.
  let followed = Locked<[FollowedMirror]>([])
  let mirrorChanges = Locked<ChangeFeed.Subscription?>(nil)
  let delayedWork = DelayedWork()
  /// In the order in which they were deferred.
  let deferredPuts = Locked<[DeferredPut]>([])
  /// Held while they are written.
  let writingDeferred = ConditionLock()
  let job = Locked<DelayedWork.Job?>(nil)
  let isReleased = Locked(false)
  let liveQueries = LiveQueries()
  let expiryJob = ExpiryJob()
  /// The indexes of texts of a store that is opened read-only; see `TemporaryTextIndex`.
  let temporaryTexts = Locked<[TemporaryTextIndex]>([])
  /// Applies the entries of the sync log that a declaration concerns, without network.
  private let applying = Locked<(@Sendable () throws -> Void)?>(nil)

  private struct Known {
    var transaction: UInt64 = 0
    var collections: [Int64: CollectionState] = [:]
    /// Whether the store has tables of assets; nil when that was not asked.
    var hasAssets: Bool?
    /// Whether a collection was searched; nil when that was not asked.
    var hasSearches: Bool?
  }

  /// The cached values of one collection, in one dictionary: each specialization of a dictionary costs time
  /// when an app starts.
  private struct Kept {
    /// Its state in the latest snapshots, by the number of their transactions, read once for all reads that share one.
    var states: [(snapshot: UInt64, state: CollectionState)] = []
    var rules: CollectionRules?
    /// The migrations that open handles have declared, with the functions of the host.
    var migrations: [RecordMigration] = []
    var keys: DeferredIndex<RecordIDs>?
    var mirror: RecordMirror?
  }

  /// Creates the store of a `Database`, one for each; touches no table yet.
  ///
  /// - Parameters:
  ///   - outbox: receives writes that the store cannot accept; shared by all subjects of the same file
  ///   - calls: the system calls for the files of mirrors
  package init(database: Database, outbox: Outbox, calls: FileCalls = .system) {
    self.database = database
    self.outbox = outbox
    self.calls = calls
    registerEntries()
    registerSealed()
    // Holds the queries and not this store, which they hold.
    database.whenClosing { [weak self] _ in try self?.writeDeferred() }
    database.whenClosing { [liveQueries] _ in liveQueries.stop() }
    database.whenClosing { [expiryJob] _ in expiryJob.stop() }
    database.whenClosing { [delayedWork] _ in delayedWork.finish() }
    database.whenClosing { [weak self] _ in try self?.mergeKeys() }
  }

  /// Merges the indexes of ids where something was written, so that the next handle need not scan the
  /// unmerged rows.
  private func mergeKeys() throws {
    guard hasWritten.withLock({ $0 }) else { return }
    let indexes = allKeys.filter(\.hasWaiting)
    guard !indexes.isEmpty else { return }
    do {
      try database.write { transaction in
        for index in indexes { try index.merge(in: transaction) }
      }
    } catch let error as SatchelError where error.code == .busy || error.code == .full {
      // The merge is optional.
    }
  }

  // MARK: Shared knowledge

  private var allKeys: [DeferredIndex<RecordIDs>] { kept.withLock { $0.values.compactMap(\.keys) } }

  func keys(of collection: Int64) -> DeferredIndex<RecordIDs> {
    kept.withLock { kept in
      if let index = kept[collection]?.keys { return index }
      let index = DeferredIndex(RecordIDs(collection: collection))
      kept[collection, default: Kept()].keys = index
      return index
    }
  }

  /// The number of connections that read at once.
  private static let maxStates = 4

  /// Returns a declared collection in one snapshot of the store; nil when no collection of the app has the name.
  func state(named name: String, _ connection: Connection) throws -> CollectionState? {
    var state = writing(on: connection)?.known(named: name)
    if state == nil, let id = try CollectionState.id(of: name, connection) {
      state = try self.state(of: id, connection)
    }
    return state.flatMap { $0.version > 0 ? $0 : nil }
  }

  /// Returns a collection in one snapshot of the store; nil when no collection has the id.
  func state(of collection: Int64, _ connection: Connection) throws -> CollectionState? {
    let number = connection.snapshot
    let known =
      number == 0
      ? writing(on: connection)?.known(collection)
      : kept.withLock { $0[collection]?.states.first { $0.snapshot == number }?.state }
    if let known { return known }
    let state = try CollectionState.read(collection, connection, of: self)
    guard let state, number != 0 else { return state }
    kept.withLock {
      let states = $0[collection]?.states.prefix(Self.maxStates - 1) ?? []
      $0[collection, default: Kept()].states = [(number, state)] + states
    }
    return state
  }

  /// Returns the rules of a declaration if they are known.
  ///
  /// - Parameter number: identifies the declaration; see `CollectionRules.number`
  func rules(of collection: Int64, number: Int64) -> CollectionRules? {
    kept.withLock { $0[collection]?.rules.flatMap { $0.number == number ? $0 : nil } }
  }

  /// Keeps the rules of the newest declaration.
  func keep(_ rules: CollectionRules) {
    kept.withLock { kept in
      guard kept[rules.id]?.rules.map({ $0.number < rules.number }) ?? true else { return }
      kept[rules.id, default: Kept()].rules = rules
    }
  }

  /// Discards known rules: the collection was declared again, or that has failed.
  func forgetRules(of collection: Int64) { kept.withLock { $0[collection]?.rules = nil } }

  // MARK: Declarations

  /// Sets the function that applies the entries of the sync log after a collection was declared.
  package func onDeclaration(_ body: @escaping @Sendable () throws -> Void) {
    applying.withLock { $0 = body }
  }

  /// Applies the entries of the sync log for a newly declared collection. The next sync applies the rest.
  func didDeclare() throws {
    guard let body = applying.withLock({ $0 }), try SyncTracker.isBound(database) else { return }
    try body()
  }

  // MARK: Migrations

  func migrations(of collection: Int64) -> [RecordMigration] {
    kept.withLock { $0[collection]?.migrations ?? [] }
  }

  /// Adopts the migrations that the handles of another store have declared.
  package func keepMigrations(of other: RecordStore) {
    let known = other.kept.withLock { $0.mapValues(\.migrations) }
    kept.withLock { kept in
      for (collection, migrations) in known where kept[collection]?.migrations.isEmpty ?? true {
        kept[collection, default: Kept()].migrations = migrations
      }
    }
  }

  func keepMigrations(of collection: RecordCollection) {
    if collection.migrations.isEmpty { return }
    kept.withLock { $0[collection.id, default: Kept()].migrations = collection.migrations }
  }

  // MARK: Mirrors

  func mirror(of collection: Int64) -> RecordMirror? { kept.withLock { $0[collection]?.mirror } }

  func setMirror(_ mirror: RecordMirror, of collection: Int64) {
    kept.withLock { $0[collection, default: Kept()].mirror = mirror }
  }

  func forgetMirror(of collection: Int64) { kept.withLock { $0[collection]?.mirror = nil } }

  /// The mirrors of the open handles.
  var allMirrors: [RecordMirror] { kept.withLock { $0.values.compactMap(\.mirror) } }

  func dropMirror(of collection: Int64, owner: ObjectIdentifier) {
    kept.withLock { if $0[collection]?.mirror?.owner == owner { $0[collection]?.mirror = nil } }
  }

  // MARK: Transactions

  /// Writes the deferred puts, before any other call on records; in a transaction it does nothing.
  ///
  /// - Throws: when neither the store nor the outbox file can be written: the puts stay deferred
  package func writeDeferred() throws {
    guard deferredPuts.withLock({ !$0.isEmpty }), !database.isInTransaction else { return }
    try writeDeferredPuts()
  }

  /// Makes way for a write: what was put before it is written first.
  func prepareWrite() throws {
    try database.refuseWhileMigrating()
    try writeDeferred()
  }

  /// Writes in one transaction, or in a savepoint of the thread's transaction.
  func transaction<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    try prepareWrite()
    return try outbox.write(in: database, body)
  }

  /// Reads one snapshot of the store; inside a transaction of the same thread, including its writes.
  func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try writeDeferred()
    return try snapshot(body)
  }

  /// Reads as `read` does, without the deferred puts.
  func snapshot<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try flush()
    return try database.read(body)
  }

  /// Reads as `read` does; a long one can be stopped, but not the deferred writes before it.
  func query<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try writeDeferred()
    try flush()
    return try database.query(body)
  }

  /// Writes what the thread's transaction keeps in memory, so that reads see it.
  private func flush() throws {
    if database.isInTransaction { try database.join { try current($0)?.flush() } }
  }

  /// Returns the work of the transaction that writes on a connection.
  private func writing(on connection: Connection) -> RecordWork? {
    work.withLock { $0?.connection === connection ? $0 : nil }
  }

  private func current(_ transaction: Transaction) -> RecordWork? {
    work.withLock { $0?.transaction === transaction ? $0 : nil }
  }

  /// Ends the work of a transaction that is about to commit; the next transaction may reuse its collections.
  func keep(
    _ collections: [Int64: CollectionState], _ over: RecordWork, in transaction: Transaction
  ) {
    known.withLock {
      $0 = Known(
        transaction: transaction.number, collections: collections, hasAssets: over.hasAssets,
        hasSearches: over.hasSearches)
    }
    work.withLock { if $0 === over { $0 = nil } }
  }

  /// Ends the work of a transaction that failed, and discards everything that may stem from it.
  func forgetAll() {
    known.withLock { $0 = Known() }
    let released = work.withLock { work -> RecordWork? in
      defer { work = nil }
      return work
    }
    _ = released  // Deinitialized here, outside of the lock.
    for index in allKeys { index.forget() }
  }

  /// Returns the work of a transaction on records.
  func work(in transaction: Transaction) -> RecordWork {
    if let work = current(transaction) {
      work.enterScope()
      return work
    }
    let known = known.withLock { $0.transaction == transaction.predecessor ? $0 : Known() }
    let newWork = RecordWork(
      self, transaction, collections: known.collections, hasAssets: known.hasAssets,
      hasSearches: known.hasSearches)
    hasWritten.withLock { $0 = true }
    work.withLock { $0 = newWork }
    transaction.beforeCommit(once: "records") { [weak newWork] _ in try newWork?.finish() }
    newWork.enterScope()
    return newWork
  }
}
