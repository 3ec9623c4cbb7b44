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
  private var collections: [Int64: WorkingCollection] = [:]
  var unresolved: [Unresolved] = []
  private var scope = -1
  /// What observers will hear of collections that were forgotten.
  private var told: [String] = []
  /// Room for index keys, used again for each record.
  var keyRoom: [UInt8] = []

  init(_ store: RecordStore, _ transaction: Transaction) {
    self.store = store
    self.transaction = transaction
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
        entries.append($0.integer(0))
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
    let before = collections.mapValues(\.numbers)
    let isOutermost = scope == 0
    transaction.onFailure { [weak self] in
      self?.restore(before)
      if isOutermost, let self { store.forget(self) }
    }
  }

  private func restore(_ before: [Int64: WorkingCollection.Numbers]) {
    for (id, collection) in collections {
      collection.keys.forget()
      collection.view = nil
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
    for collection in collections.values where collection.numbers.isDirty { try flush(collection) }
  }

  func flush(_ collection: WorkingCollection) throws {
    try connection.run(
      "UPDATE record_collection SET count = ?, next = ?, sequence = ? WHERE id = ?",
      .integer(collection.numbers.count), .integer(collection.numbers.next),
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
    try flush(collection)
    try collection.keys.merge(in: live())
    collection.numbers.indexedThrough = collection.numbers.next - 1
    collection.view = nil
  }

  /// The last thing before the commit: what had to wait is checked, and observers will hear.
  func finish() throws {
    try checkUnresolved()
    try flush()
    let changed = collections.values.sorted { $0.id < $1.id }.filter { !$0.told.isEmpty }
    var keys = told + changed.flatMap(\.told)
    if keys.count > WorkingCollection.mostNamed {
      keys = Set(keys.map { String($0.prefix { $0 != "/" }) }).sorted()
    }
    for collection in changed { try writeMirror(of: collection) }
    if !keys.isEmpty { try live().note(subject: "records", keys: keys, place: nil) }
    store.forget(self)
  }

  /// With the file first, it is written before the commit.
  private func writeMirror(of collection: WorkingCollection) throws {
    guard let mirror = store.mirror(of: collection.id), mirror.mode == .fileFirst,
      let row = try CollectionRow.read(collection.id, connection)
    else { return }
    let records = try store.mirrorRecords(connection, row)
    try MirrorFile(collection: collection.name, version: Int(row.version), records: records).write(
      to: mirror.path)
  }
}
