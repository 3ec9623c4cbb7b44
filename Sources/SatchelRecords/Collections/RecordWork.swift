import SatchelStorage

/// What one transaction does to records, all collections together. Used by the thread that writes.
final class RecordWork {
  /// A reference whose target was not there when it was written.
  struct Unresolved {
    var relation: CollectionShape.Relation
    var source: Int64
    var target: [UInt8]
  }

  private(set) weak var transaction: Transaction?
  let connection: Connection
  let now: Int64
  let store: RecordStore
  private var collections: [Int64: WorkingCollection]
  var unresolved: [Unresolved] = []
  private var scope = -1
  /// What observers will hear of collections that were forgotten.
  private var told: [String] = []
  /// Room for index keys, used again for each record.
  var keyRoom: [UInt8] = []

  /// - Parameter collections: as the transaction before left them, where nobody has written since
  init(_ store: RecordStore, _ transaction: Transaction, _ collections: [Int64: WorkingCollection]) {
    self.store = store
    self.transaction = transaction
    self.collections = collections
    for collection in collections.values { collection.beginAgain() }
    connection = transaction.connection
    now = transaction.now
  }

  /// The transaction; it lives as long as anything is written.
  func live() throws -> Transaction {
    guard let transaction else { throw SatchelError(.internal, "records: the transaction is over") }
    return transaction
  }

  /// A collection, as this transaction has it.
  func collection(_ id: Int64) throws -> WorkingCollection {
    if let known = collections[id] { return known }
    guard let row = try CollectionRow.read(id, connection) else {
      throw SatchelError(.notFound, "the collection is not in the store: its making was rolled back")
    }
    let shape = try store.shape(of: row, connection)
    var entries: [Int64] = []
    if !shape.indexes.isEmpty {
      try connection.each("SELECT entries FROM record_index WHERE collection = ? ORDER BY id", .integer(id)) {
        entries.append(try $0.integer(0, in: RecordRow.numbers))
      }
    }
    let made = WorkingCollection(row, shape, store.keys(of: id), entries: entries)
    collections[id] = made
    return made
  }

  /// Forgets a collection that is declared anew; it must have been flushed.
  func forget(_ id: Int64) {
    if let gone = collections.removeValue(forKey: id) { told += gone.told }
  }

  // MARK: Failure

  /// Remembers how things stand, when the transaction is inside of another savepoint than before.
  func enterScope() {
    guard let transaction, transaction.scope != scope else { return }
    scope = transaction.scope
    if scope == 0 { return transaction.onFailure { [store] in store.forgetAll() } }
    let before = collections.mapValues(\.numbers)
    transaction.onFailure { [weak self, store] in
      // Gone when all was done, and the commit itself has failed.
      if let self { restore(before) } else { store.forgetAll() }
    }
  }

  private func restore(_ before: [Int64: WorkingCollection.Numbers]) {
    for (id, collection) in collections {
      collection.keys.forget()
      if let numbers = before[id] {
        collection.numbers = numbers
        // The row may stand as it was before these numbers.
        collection.numbers.isDirty = true
      } else {
        collections[id] = nil
      }
    }
    scope = -1
  }

  /// A write that has begun to change rows either ends well, or spoils the transaction.
  func changing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      transaction?.mustFail(error)
      throw error
    }
  }

  // MARK: The end

  /// Writes the numbers, so that readers of the transaction see them.
  func flush() throws {
    for collection in collections.values {
      if collection.numbers.next - collection.numbers.counted >= WorkingCollection.mostUncounted {
        try collection.countAll(connection)
      }
      if collection.numbers.isDirty { try flush(collection) }
    }
  }

  func flush(_ collection: WorkingCollection) throws {
    try connection.run(
      "UPDATE record_collection SET count = ?, next = ?, sequence = ? WHERE id = ?",
      .integer(collection.numbers.count), .integer(collection.numbers.counted),
      .integer(collection.numbers.sequence), .integer(collection.id))
    for (index, entries) in zip(collection.shape.indexes, collection.numbers.entries) {
      try connection.run(
        "UPDATE record_index SET entries = ?1 WHERE id = ?2 AND entries <> ?1", .integer(entries),
        .integer(index.id))
    }
    collection.numbers.isDirty = false
  }

  /// Merges the index of ids when it is worth it.
  func mergeIfMuch(_ collection: WorkingCollection) throws {
    guard collection.keys.isMuch else { return }
    try collection.countAll(connection)
    try flush(collection)
    try collection.keys.merge(in: live())
    collection.numbers.indexedThrough = collection.numbers.next - 1
  }

  /// The last thing before the commit: what had to wait is checked, and observers will hear.
  func finish() throws {
    try checkUnresolved()
    try flush()
    var changed = collections.values.filter { !$0.told.isEmpty }
    if changed.count > 1 { changed.sort { $0.id < $1.id } }
    var keys = told
    for collection in changed { keys += collection.told }
    if keys.count > WorkingCollection.mostNamed {
      keys = Set(keys.map { String($0.prefix { $0 != "/" }) }).sorted()
    }
    for collection in changed { try writeMirror(of: collection) }
    if !keys.isEmpty { try live().note(subject: "records", keys: keys, place: nil) }
    try store.keep(collections, self, live())
  }

  /// With the file first, it is written before the commit.
  private func writeMirror(of collection: WorkingCollection) throws {
    guard let mirror = store.mirror(of: collection.id), mirror.mode == .fileFirst else { return }
    do {
      try store.writeMirror(mirror, of: collection.id, in: connection, isCommitting: true)
    } catch let edited as EditedMirror {
      throw edited.error
    }
  }
}
