import SatchelCore
import SatchelSync
import SatchelStorage

/// The work of one transaction on the records of all collections. Used by the writing thread only.
final class RecordWork {
  /// A reference whose target did not exist when it was written.
  struct Unresolved {
    var relation: CollectionRelation
    var source: Int64
    var target: [UInt8]
  }

  private(set) weak var transaction: Transaction?
  let connection: Connection
  let now: Int64
  let store: RecordStore
  private var collections: [Int64: CollectionState]
  var unresolved: [Unresolved] = []
  private var scope = -1
  /// The changed keys of collections that were discarded, for observers.
  private var changeKeys: [String] = []
  private var knownTracker: SyncTracker?
  /// Whether entries of the sync log may wait for a change of a record; nil before it was determined.
  var hasWaiting: Bool?
  /// The unique values that other records had when they were written; see `checkContested`.
  var contested: [ContestedValue] = []
  /// Whether a unique value that another record has is rejected when it is written. Otherwise that is decided at the end
  /// of the transaction, so that records can exchange their values.
  var checksUniqueAtOnce = false
  /// Rows whose unique values other records may have already, because they are written or deleted next.
  var released: Set<Int64> = []
  /// Whether the store has tables of assets; nil before it was determined.
  var hasAssets: Bool?
  /// Whether a collection of the store was searched; nil before it was determined.
  var hasSearches: Bool?
  /// Whether the index of texts was changed.
  var changesTexts = false
  /// The collections whose expired records were looked for.
  var cleaned: Set<Int64> = []
  /// A buffer for index keys, reused for each record.
  var keyBuffer: [UInt8] = []

  /// - Parameter collections: as the previous transaction left them, when no other process has written since
  init(
    _ store: RecordStore, _ transaction: Transaction, collections: [Int64: CollectionState],
    hasAssets: Bool?, hasSearches: Bool?
  ) {
    self.store = store
    self.hasAssets = hasAssets
    self.hasSearches = hasSearches
    self.transaction = transaction
    self.collections = collections
    for collection in collections.values { collection.resetChanges() }
    connection = transaction.connection
    now = transaction.now
  }

  /// Returns the transaction, which lives as long as anything is written.
  func live() throws -> Transaction {
    guard let transaction else { throw SatchelError(.internal, "records: the transaction is over") }
    return transaction
  }

  /// Returns the tracker of changes to send; nil when the store is not bound to a sync log.
  func tracker() throws -> SyncTracker? {
    if let knownTracker { return knownTracker }
    knownTracker = try SyncTracker(
      live(), store.database.keyring, documents: RecordSyncClient(store).document)
    return knownTracker
  }

  /// Returns a collection as this transaction sees it.
  func collection(_ id: Int64) throws -> CollectionState {
    if let known = collections[id] { return known }
    guard let collection = try CollectionState.read(id, connection, of: store) else {
      throw SatchelError(
        .notFound, "not in the store: the collection was dropped, or its creation was rolled back")
    }
    collections[id] = collection
    if hasAssets == nil { hasAssets = collection.hasAssets }
    return collection
  }

  /// Returns a collection that this transaction has used.
  func known(_ id: Int64) -> CollectionState? { collections[id] }

  /// Returns a collection of the app that this transaction has used.
  func known(named name: String) -> CollectionState? {
    collections.values.first { $0.name == name && !$0.isReserved }
  }

  /// Discards a collection that was declared again; it must have been flushed.
  func forget(_ id: Int64) {
    if let removed = collections.removeValue(forKey: id) { changeKeys += removed.changeKeys }
  }

  // MARK: Failure

  /// Saves the numbers of all collections when the transaction has entered another savepoint, to restore them
  /// on failure.
  func enterScope() {
    guard let transaction, transaction.savepointID != scope else { return }
    scope = transaction.savepointID
    if scope == 0 { return transaction.onFailure { [store] in store.forgetAll() } }
    let before = collections.mapValues(\.numbers)
    transaction.onFailure { [weak self, store] in
      // Released when the work was finished, and the commit itself failed.
      if let self { restore(before) } else { store.forgetAll() }
    }
  }

  private func restore(_ before: [Int64: CollectionState.Numbers]) {
    (knownTracker, hasWaiting, hasAssets, hasSearches) = (nil, nil, nil, nil)
    for (id, collection) in collections {
      collection.keys.forget()
      if let numbers = before[id] {
        collection.numbers = numbers
        // The row may hold older numbers than these.
        collection.numbers.isDirty = true
      } else {
        collections[id] = nil
      }
    }
    scope = -1
  }

  /// Runs a write that changes rows; an error makes the whole transaction fail.
  func changing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      transaction?.mustFail(error)
      throw error
    }
  }

  // MARK: Finishing

  /// Writes the numbers of all collections, so that reads in the transaction see them.
  func flush() throws {
    for collection in collections.values {
      if collection.numbers.next - collection.numbers.counted >= CollectionState.maxUncounted {
        try collection.countAll(connection)
      }
      if collection.numbers.isDirty { try flush(collection) }
    }
  }

  func flush(_ collection: CollectionState) throws {
    try connection.run(
      "UPDATE record_collection SET count = ?, next = ?, revised = ? WHERE id = ?",
      .integer(collection.numbers.count), .integer(collection.numbers.counted),
      .integer(collection.numbers.revised), .integer(collection.id))
    collection.numbers.isDirty = false
  }

  /// Merges the index of ids when it is large enough.
  func mergeIfNeeded(_ collection: CollectionState) throws {
    guard collection.keys.needsMerge else { return }
    try collection.countAll(connection)
    try flush(collection)
    try collection.keys.merge(in: live())
    collection.numbers.indexedThrough = collection.numbers.next - 1
  }

  /// Runs before the commit: checks unresolved references, and notifies observers.
  func finish() throws {
    if !unresolved.isEmpty { try checkUnresolved() }
    if !contested.isEmpty { try checkContested() }
    if changesTexts { try RecordTextIndex.complete(connection) }
    try flush()
    var changed = collections.values.filter { !$0.changeKeys.isEmpty }
    if changed.count > 1 { changed.sort { $0.id < $1.id } }
    var keys = changeKeys
    for collection in changed { keys += collection.changeKeys }
    if keys.count > CollectionState.maxNamedChanges {
      keys = Set(keys.map { String($0.prefix { $0 != "/" }) }).ordered()
    }
    for collection in changed { try writeMirror(of: collection) }
    if !keys.isEmpty { try live().note(subject: .records, keys: keys) }
    try store.keep(collections, self, in: live())
  }

  /// Writes the mirror of a collection before the commit when its mode is `.fileFirst`.
  private func writeMirror(of collection: CollectionState) throws {
    guard let mirror = store.mirror(of: collection.id), mirror.mode == .fileFirst else { return }
    do {
      try store.writeMirror(mirror, in: connection, isCommitting: true)
    } catch let edited as EditedMirror {
      throw edited.error
    }
  }
}
