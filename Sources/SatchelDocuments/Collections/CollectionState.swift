import SatchelCore
import SatchelStorage
import SatchelSync

/// A collection as one snapshot of the store, or the transaction that writes, knows it: its row, and the rules of its
/// declaration. A transaction changes the numbers in memory, and writes them once.
// Unchecked: a state that was read for a snapshot is not changed; that of a transaction is used by the thread that writes.
final class CollectionState: @unchecked Sendable {
  /// The numbers of a collection; those of a savepoint that fails are restored.
  struct Numbers {
    /// The number of records with numbers below `counted`.
    var count: Int64
    /// Records with lower numbers are counted; those from here on are few, see `maxUncounted`.
    var counted: Int64
    /// The number of the next record.
    var next: Int64
    /// The highest revision that a deleted record may have had: new records begin after it, because a new record under
    /// an old id must not have a revision that was given before.
    var revised: Int64
    /// Rows up to this number are in record_key.
    var indexedThrough: Int64
    /// The name of the key that seals sensitive fields; nil when none were sealed.
    var sealedBy: [UInt8]?
    /// The keys of changed records; at most `maxNamedChanges`.
    var changed: [String] = []
    /// Whether more records changed than are named.
    var hasTooManyChanges = false
    var isDirty = false
  }

  let id: Int64
  let name: String
  /// The version of the documents; 0 for a collection that was not declared, only referred to.
  let version: Int64
  /// Whether the store is bound to a sync log.
  let isBound: Bool
  /// Whether the store has tables of assets.
  let hasAssets: Bool
  /// The index of its records' ids.
  let keys: DeferredIndex<RecordIDs>
  private let knownRules: Result<CollectionRules, any Error>
  var numbers: Numbers

  private init(
    _ row: Row, keys: DeferredIndex<RecordIDs>, rules: Result<CollectionRules, any Error>
  ) {
    (id, name, version, isBound, numbers) = (row.id, row.name, row.version, row.isBound, row.numbers)
    hasAssets = row.hasAssets
    self.keys = keys
    knownRules = rules
  }

  /// - Throws: `.damaged` for a declaration that cannot be read
  var rules: CollectionRules { get throws { try knownRules.get() } }

  var isReserved: Bool { id == ReservedCollection.state.id }
  var base: Int64 { RecordRow.base(of: id) }
  /// Whether its changes are recorded, to be sent.
  var isSynchronized: Bool { get throws { try isBound && rules.isSynced } }
  /// Whether the document that a write replaces is needed.
  var needsOldDocument: Bool { get throws { try isBound || rules.needsOldDocument } }

  // MARK: Reading

  private struct Row {
    var id: Int64
    var name: String
    var version: Int64
    var shape: Int64
    var isBound: Bool
    var hasAssets: Bool
    var numbers: Numbers

    init(_ row: Statement) throws {
      id = try row.integer(0, in: RecordRow.collections)
      name = row.text(1)
      version = try row.integer(2, in: RecordRow.versions)
      shape = try row.integer(3, in: StoredRange.count)
      isBound = row.flag(7)
      hasAssets = row.flag(11)
      let counted = try row.integer(5, in: RecordRow.numbers)
      numbers = Numbers(
        count: try row.integer(4, in: RecordRow.numbers), counted: counted,
        next: max(counted, row.anyInteger(8) - RecordRow.base(of: id) + 1),
        revised: try row.integer(10, in: RecordRow.revisions),
        indexedThrough: try row.integer(6, in: RecordRow.numbers),
        sealedBy: row.isNull(9) ? nil : Array(row.bytes(9)))
    }
  }

  /// Reads the state of a collection; nil when no collection has the id.
  ///
  /// - Parameter store: knows the rules and the index of the collection; without it, they are read
  static func read(_ id: Int64, _ connection: Connection, of store: RecordStore? = nil) throws
    -> CollectionState?
  {
    let row = try connection.first(
      """
      SELECT id, name, version, shape, count, next, indexed_through, EXISTS(SELECT 1 FROM sync_log),
      (SELECT max(id) FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40), sealed_by, revised,
      EXISTS(SELECT 1 FROM sqlite_schema WHERE name = 'asset_reference')
      FROM record_collection WHERE id = ?1
      """, .integer(id), read: Row.init)
    guard let row else { return nil }
    let rules = Result {
      if let known = store?.rules(of: id, number: row.shape) { return known }
      let rules = try CollectionRules(of: id, named: row.name, number: row.shape, connection)
      store?.keep(rules)
      return rules
    }
    return CollectionState(
      row, keys: store?.keys(of: id) ?? DeferredIndex(RecordIDs(collection: id)), rules: rules)
  }

  /// Returns the id of a collection of the app; nil for a reserved one as well.
  static func id(of name: String, _ connection: Connection) throws -> Int64? {
    try connection.first("SELECT id FROM record_collection WHERE name = ? AND id > 0", .text(name)) {
      try $0.integer(0, in: RecordRow.collections)
    }
  }

  /// Creates the row of a collection that was not declared yet, so that relations can refer to it.
  static func make(_ name: String, _ connection: Connection) throws -> Int64 {
    try connection.run(
      """
      INSERT INTO record_collection(name, version, shape, count, next, revised, indexed_through, declaration)
      VALUES(?1, 0, 0, 0, 1, coalesce((SELECT revised FROM record_dropped WHERE name = ?1), 0), 0, '')
      """, .text(name))
    return connection.lastInsertedRow
  }

  // MARK: Rows

  /// Returns the hash of an id, and the first row that may have it and for which `isRecord` is true.
  func find(
    _ key: UnsafeRawBufferPointer, _ connection: Connection, where isRecord: (_ row: Int64) throws -> Bool
  ) throws -> (row: Int64?, hash: Int64) {
    let hash = keys.source.hash(key)
    let row = try keys.first(
      of: hash, connection, floor: base + numbers.indexedThrough, newest: base + numbers.next - 1
    ) { row in
      // A row of another collection does not match.
      try RecordRow.collection(of: row) == id && isRecord(row)
    }
    return (row, hash)
  }

  /// Returns what `read` finds in a row that an id may have: one statement can look it up and read it.
  func first<Found>(
    _ key: UnsafeRawBufferPointer, _ connection: Connection, read: (_ row: Int64) throws -> Found?
  ) throws -> Found? {
    var found: Found?
    _ = try find(key, connection) { row in
      found = try read(row)
      return found != nil
    }
    return found
  }

  /// Returns the number of records.
  func count(_ connection: Connection) throws -> Int64 {
    try numbers.count + uncounted(connection)
  }

  private func uncounted(_ connection: Connection) throws -> Int64 {
    guard numbers.counted < numbers.next else { return 0 }
    return try connection.number(
      "SELECT count(*) FROM record WHERE id >= ? AND id < ?", .integer(base + numbers.counted),
      .integer(base + numbers.next))
  }

  // MARK: Writing

  /// The maximum number of uncounted records: not counting each new record saves writing a page, and counting
  /// this many is cheap.
  static let maxUncounted: Int64 = 256

  /// Counts the uncounted records. Must be called before a record is deleted; otherwise its number could be
  /// assigned again.
  func countAll(_ connection: Connection) throws {
    guard numbers.counted < numbers.next else { return }
    numbers.count += try uncounted(connection)
    numbers.counted = numbers.next
    numbers.isDirty = true
  }

  /// Prepares the collection for the next transaction, when no other process has written since.
  func resetChanges() {
    numbers.changed = []
    numbers.hasTooManyChanges = false
  }

  /// The maximum number of records that a change names; beyond it, the change names only the collection.
  static let maxNamedChanges = 256

  func noteChange(_ key: UnsafeRawBufferPointer) {
    // The subject of a reserved collection notes its changes itself.
    guard !numbers.hasTooManyChanges, !isReserved else { return }
    guard numbers.changed.count < Self.maxNamedChanges else {
      numbers.hasTooManyChanges = true
      numbers.changed = []
      return
    }
    numbers.changed.append(location(key))
  }

  /// The keys that observers are notified of.
  var changeKeys: [String] { numbers.hasTooManyChanges ? [name] : numbers.changed }

  /// Names a record in messages and changes: "collection/id".
  func location(_ key: UnsafeRawBufferPointer) -> String { "\(name)/\(String(decoding: key, as: UTF8.self))" }

  /// - Throws: `SatchelError` (`invalid`) for a document that could never be sent. Where it is not certain that the
  ///   collection will be synchronized, the sync names it.
  func checkSize(_ body: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) throws {
    guard body.count > SyncEnvelope.maximumDocument, try isSynchronized || rules.isDeclaredSynced else {
      return
    }
    let id = String(decoding: key, as: UTF8.self)
    throw SatchelError(
      .invalid,
      "\(name)/\(id): has \(body.count) bytes, and a document that is synchronized has at most "
        + "\(SyncEnvelope.maximumDocument); put large content as assets, to which documents refer, or the document "
        + "into a collection that is declared with synced=false"
    ).at(subject: "records", collection: name, id: id, limit: SyncEnvelope.maximumDocument)
  }

  /// Returns an error about one record.
  func problem(
    _ key: UnsafeRawBufferPointer, _ pointer: String?, reason: String,
    code: SatchelError.Code = .constraint, underlying: (any Error)? = nil
  ) -> SatchelError {
    let id = String(decoding: key, as: UTF8.self)
    return SatchelError(
      code, "\(name)/\(id): " + (pointer.map { "\($0): " } ?? "") + reason, underlying: underlying
    ).at(.record(name, key, pointer: pointer))
  }
}

extension SatchelError {
  /// Whether it rejects one document, for its content or because the encryption key is missing: others can
  /// still be written.
  package var isRejectedDocument: Bool { code == .invalid || code == .constraint || code == .unauthorized }
}
