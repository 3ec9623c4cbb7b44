import SatchelJSON
import SatchelStorage

/// The app's own documents: JSON objects under ids, in one collection.
///
/// Every write is durable when its call returns. Safe to use from any number of threads, and beside other processes.
public final class RecordCollection: Sendable {
  public let name: String
  let store: RecordStore
  let id: Int64
  /// The version of the documents that this handle reads and writes.
  public let version: Int
  /// Of the declaration that it was opened with; see `StoredDeclaration`.
  private let generation: Int64
  /// As they were declared, for documents of older versions that arrive later.
  let migrations: [RecordMigration]
  let keys: DeferredIndex<RecordIDs>
  /// Of the read transactions under way, one for each connection that reads.
  private let snapshots = Guarded<[CollectionSnapshot]>([])
  let mirroring = Guarded<RecordMirror?>(nil)
  /// Keeps a mirror up to date.
  let observation = Guarded<ChangeFeed.Subscription?>(nil)

  init(
    _ store: RecordStore, id: Int64, version: Int, _ generation: Int64, _ declaration: CollectionDeclaration
  ) {
    self.store = store
    self.id = id
    keys = store.keys(of: id)
    name = declaration.name
    self.version = version
    self.generation = generation
    migrations = declaration.migrations
  }

  deinit { store.dropMirror(of: id, owner: ObjectIdentifier(self)) }

  var database: Database { store.database }

  // MARK: Transactions

  /// Writes to the collection, as a part of the transaction that the thread is in, if any.
  func write<Result>(_ body: (RecordWork, WorkingCollection) throws -> Result) throws -> Result {
    try store.write { work in
      let collection = try work.collection(id)
      try checkVersion(collection.row)
      try checkGeneration(collection.shape)
      return try body(work, collection)
    }
  }

  /// Reads one state of the collection.
  func read<Result>(_ body: (Connection, CollectionRow) throws -> Result) throws -> Result {
    try store.read { connection in try body(connection, row(connection)) }
  }

  /// Read once for all reads that share a transaction.
  private func row(_ connection: Connection) throws -> CollectionRow {
    let number = connection.snapshot
    if number != 0, let known = snapshots.withLock({ $0.first { $0.number == number } }) { return known.row }
    guard let row = try CollectionRow.read(id, connection) else {
      throw SatchelError(
        .notFound, "\(name): the collection is not in the store; its making was rolled back")
    }
    try checkVersion(row)
    if number != 0 {
      let made = CollectionSnapshot(number: number, row: row)
      snapshots.withLock { snapshots in
        if snapshots.count >= CollectionSnapshot.most { snapshots.removeLast() }
        snapshots.insert(made, at: 0)
      }
    }
    return row
  }

  private func checkVersion(_ row: CollectionRow) throws {
    guard row.version != Int64(version) else { return }
    throw SatchelError(
      row.version > version ? .newer : .invalid,
      "\(name): its records were brought to version \(row.version) after it was opened with version \(version)"
    )
  }

  /// What its part of the app relies on may not be enforced any more.
  private func checkGeneration(_ shape: CollectionShape) throws {
    guard shape.generation != generation else { return }
    throw SatchelError(
      .invalid,
      "\(name): indexes, relations or the schema that this handle was opened with were dropped since "
        + "(redeclare=True): it can only read; declare the collection again to write")
  }

  // MARK: Writing

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - id: 1 to 255 bytes, no control characters
  ///   - document: a JSON object in UTF-8, kept byte for byte
  ///   - expected: the revision that the record must have, 0 when there must be none; nil for whatever is there
  /// - Throws: `SatchelError` `.invalid`, naming collection, id and JSON Pointer, for what violates the schema, a
  ///   unique index or a relation, and for another revision
  @discardableResult
  public func put(
    _ id: String, _ document: UnsafeRawBufferPointer, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    var id = id
    return try id.withUTF8 { try put(UnsafeRawBufferPointer($0), document, ifRevision: expected) }
  }

  /// As `put(_:_:ifRevision:)`, of a value.
  @discardableResult
  public func put(_ id: String, _ document: JSONValue, ifRevision expected: Int64? = nil) throws
    -> RecordReceipt
  {
    let bytes = try naming("\(name)/\(id)") { try document.serialized() }
    return try bytes.withUnsafeBytes { try put(id, $0, ifRevision: expected) }
  }

  package func put(
    _ key: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer, ifRevision expected: Int64?
  ) throws -> RecordReceipt {
    try RecordID.check(key, in: name)
    try checkDocument(document, key)
    return try journaled(spilled(key, document, expected)) { work, collection in
      try work.put(key, document, in: collection, ifRevision: expected)
    } ?? RecordReceipt(revision: 0, isNew: false, isSpilled: true)
  }

  /// - Throws: `.invalid` for what is no JSON object
  func checkDocument(_ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws {
    do {
      try JSONScanner.check(document)
    } catch {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): \(error)", underlying: error)
    }
    guard document.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): a document must be an object")
    }
  }

  /// Deletes a record, and what its relations say.
  ///
  /// - Parameter expected: the revision that the record must have
  /// - Returns: whether there was one; true when that is not known, because the deletion was spilled
  /// - Throws: `SatchelError` `.invalid` when a record that names it restricts that, and for another revision
  @discardableResult
  public func delete(_ id: String, ifRevision expected: Int64? = nil) throws -> Bool {
    var id = id
    return try id.withUTF8 { try delete(UnsafeRawBufferPointer($0), ifRevision: expected) }
  }

  package func delete(_ key: UnsafeRawBufferPointer, ifRevision expected: Int64?) throws -> Bool {
    try RecordID.check(key, in: name)
    return try journaled(Self.deleteEntry(name, version, key, expected)) { work, collection in
      try work.delete(key, from: collection, ifRevision: expected)
    } ?? true
  }
}
