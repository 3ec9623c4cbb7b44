import SatchelCore
import SatchelJSON
import SatchelStorage

/// A collection of the app's own documents: JSON objects with ids.
///
/// Every write is durable when its call returns. Safe to use from any number of threads, and alongside other
/// processes.
public final class RecordCollection: Sendable {
  public let name: String
  let store: RecordStore
  let id: Int64
  /// The version of the documents that this handle reads and writes.
  public let version: Int
  /// The generation of the declaration that the handle was opened with; see `StoredDeclaration`.
  private let generation: Int64
  /// Whether the collection had sensitive fields when it was opened.
  let hasSensitive: Bool
  /// The declared migrations, for documents of older versions that a sync downloads later.
  let migrations: [RecordMigration]
  let keys: DeferredIndex<RecordIDs>
  /// The members of documents that the app's type has; nil where documents are written as a whole.
  let known: KnownMembers?
  private let snapshots = CollectionSnapshots()
  let mirroring = Locked<RecordMirror?>(nil)

  init(
    _ store: RecordStore, id: Int64, version: Int, _ generation: Int64, declaration: CollectionDeclaration,
    hasSensitive: Bool
  ) {
    self.store = store
    self.id = id
    keys = store.keys(of: id)
    name = declaration.name
    self.version = version
    self.generation = generation
    migrations = declaration.migrations
    self.hasSensitive = hasSensitive
    known = nil
  }

  init(_ other: RecordCollection, known: KnownMembers) {
    (store, id, keys, name, version) = (other.store, other.id, other.keys, other.name, other.version)
    (generation, migrations, hasSensitive) = (other.generation, other.migrations, other.hasSensitive)
    self.known = known
  }

  deinit {
    store.dropMirror(of: id, owner: ObjectIdentifier(self))
    if store.isReleased.withLock({ $0 }) { try? store.writeDeferred() }
    if let mirror = mirroring.withLock({ $0 }) { store.unfollow(mirror, completing: true) }
  }

  var database: Database { store.database }

  // MARK: Transactions

  /// Writes to the collection, as part of the thread's transaction if there is one.
  func write<Result>(_ body: (RecordWork, WorkingCollection) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.write { work in
        let collection = try work.collection(id)
        try checkVersion(collection.row)
        try checkGeneration(collection.shape)
        return try body(work, collection)
      }
    }
  }

  /// Reads one snapshot of the collection.
  func read<Result>(_ body: (Connection, CollectionRow) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.read { connection in try body(connection, row(connection)) }
    }
  }

  /// Reads as `read` does; a long one can be stopped.
  func readInterruptibly<Result>(_ body: (Connection, CollectionRow) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.query { connection in try body(connection, row(connection)) }
    }
  }

  /// Returns the collection's row, read once for all reads that share a transaction.
  func row(_ connection: Connection) throws -> CollectionRow {
    try snapshots.row(of: connection) {
      guard let row = try CollectionRow.read(id, connection) else {
        throw SatchelError(
          .notFound, "\(name): not in the store: the collection was dropped, or its creation was rolled back")
      }
      try checkVersion(row)
      return row
    }
  }

  private func checkVersion(_ row: CollectionRow) throws {
    guard row.version != Int64(version) else { return }
    throw SatchelError(
      row.version > version ? .newer : .invalid,
      "\(name): its records were migrated to version \(row.version) after it was opened with "
        + "version \(version); open it again"
    )
  }

  /// Throws `.conflict` for a handle whose declared indexes, relations or schema may not be enforced any
  /// more.
  func checkGeneration(_ shape: CollectionShape) throws {
    guard shape.generation != generation else { return }
    throw SatchelError(
      .conflict,
      "\(name): indexes, relations or the schema that this handle was opened with were dropped since "
        + "(redeclare=True): it can only read; declare the collection again to write")
  }

  // MARK: Writing

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - id: 1 to 255 bytes, no control characters
  ///   - document: a JSON object in UTF-8, kept byte for byte
  ///   - expected: the revision that the record must have, 0 when there must be none; nil for any
  /// - Throws: `SatchelError` `.invalid` for an invalid id or document; `.constraint`, naming collection, id
  ///   and JSON Pointer, when the document violates the schema, a unique index or a relation; `.conflict` for
  ///   another revision, and when the declaration that the handle was opened with was replaced
  @discardableResult
  public func put(
    _ id: String, _ document: UnsafeRawBufferPointer, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    var id = id
    return try id.withUTF8 { try put(UnsafeRawBufferPointer($0), document, ifRevision: expected) }
  }

  /// Writes a record given as a JSON value; see `put(_:_:ifRevision:)`.
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
    return try locating(.record(name, key)) {
      try checkDocument(document, key)
      return try writingThroughOutbox(spooled(key, document, expected: expected)) { work, collection in
        try work.put(key, document, keeping: known, in: collection, ifRevision: expected)
      } ?? RecordReceipt(revision: 0, isNew: false, isSpooled: true)
    }
  }

  /// - Throws: `.invalid` for a document that is not a JSON object
  func checkDocument(_ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws {
    do {
      try JSONScanner.check(document)
    } catch {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): \(error)", underlying: error)
    }
    guard document.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): a document must be a JSON object")
    }
  }

  /// Deletes a record, and applies the `onDelete` actions of the relations that refer to it.
  ///
  /// - Parameter expected: the revision that the record must have
  /// - Returns: whether there was such a record; true when the deletion was spooled, because that is unknown
  /// - Throws: `SatchelError` `.constraint` when a record that refers to it restricts the deletion,
  ///   `.conflict` for another revision and when the declaration that the handle was opened with was replaced
  @discardableResult
  public func delete(_ id: String, ifRevision expected: Int64? = nil) throws -> Bool {
    var id = id
    return try id.withUTF8 { try delete(UnsafeRawBufferPointer($0), ifRevision: expected) }
  }

  package func delete(_ key: UnsafeRawBufferPointer, ifRevision expected: Int64?) throws -> Bool {
    try RecordID.check(key, in: name)
    return try locating(.record(name, key)) {
      try writingThroughOutbox(Self.deleteEntry(name, version, key: key, expected: expected)) {
        work, collection in
        try work.delete(key, from: collection, ifRevision: expected)
      } ?? true
    }
  }
}

/// The row of a collection in the current read transactions, read once for all reads that share one.
final class CollectionSnapshots: Sendable {
  /// The number of connections that read at once.
  private static let maxCount = 4

  /// A row, and the number of the transaction; see `Connection.snapshot`. An object, because an array of large
  /// values would be copied.
  private final class Snapshot: Sendable {
    let number: UInt64
    let row: CollectionRow

    init(number: UInt64, row: CollectionRow) { (self.number, self.row) = (number, row) }
  }

  private let known = Locked<[Snapshot]>([])

  func row(of connection: Connection, read: () throws -> CollectionRow) throws -> CollectionRow {
    let number = connection.snapshot
    if number != 0, let known = known.withLock({ $0.first { $0.number == number } }) { return known.row }
    let row = try read()
    if number != 0 {
      let snapshot = Snapshot(number: number, row: row)
      known.withLock { known in
        if known.count >= Self.maxCount { known.removeLast() }
        known.insert(snapshot, at: 0)
      }
    }
    return row
  }
}
