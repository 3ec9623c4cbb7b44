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
  /// Warnings of the migration that opening the collection has run.
  let migrationWarnings: [String]
  /// Warnings of queries whose paths no record had.
  let queryWarnings = Locked<[String]>([])
  /// The members of documents that the app's type has; nil where documents are written as a whole.
  let known: KnownMembers?
  let mirroring = Locked<RecordMirror?>(nil)

  init(
    _ store: RecordStore, id: Int64, version: Int, _ generation: Int64, declaration: CollectionDeclaration,
    hasSensitive: Bool, migrationWarnings: [String] = []
  ) {
    self.store = store
    self.id = id
    name = declaration.name
    self.version = version
    self.generation = generation
    migrations = declaration.migrations
    self.hasSensitive = hasSensitive
    self.migrationWarnings = migrationWarnings
    known = nil
  }

  init(_ other: RecordCollection, known: KnownMembers) {
    (store, id, name, version) = (other.store, other.id, other.name, other.version)
    (generation, migrations, hasSensitive) = (other.generation, other.migrations, other.hasSensitive)
    migrationWarnings = other.migrationWarnings
    self.known = known
  }

  deinit {
    store.dropMirror(of: id, owner: ObjectIdentifier(self))
    if store.isReleased.withLock({ $0 }) { try? store.writeDeferred() }
    if let mirror = mirroring.withLock({ $0 }) { store.unfollow(mirror, completing: true) }
  }

  var database: Database { store.database }

  // MARK: Transactions

  /// Writes to the collection in one transaction, or in a savepoint of the thread's transaction.
  func transaction<Result>(_ body: (RecordWork, CollectionState) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.transaction { transaction in
        let work = store.work(in: transaction)
        return try body(work, state(in: work))
      }
    }
  }

  /// Returns the collection in a transaction that writes.
  ///
  /// - Throws: `.newer`, `.invalid`, `.conflict` for a handle that cannot write it any more
  func state(in work: RecordWork) throws -> CollectionState {
    let state = try work.collection(id)
    try checkVersion(state)
    try checkGeneration(state.rules)
    try work.deleteLongExpired(from: state)
    return state
  }

  /// Reads one snapshot of the collection.
  func read<Result>(_ body: (Connection, CollectionState) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.read { connection in try body(connection, state(connection)) }
    }
  }

  /// Reads as `read` does; a long one can be stopped.
  func readInterruptibly<Result>(_ body: (Connection, CollectionState) throws -> Result) throws -> Result {
    try locating(.collection(name)) {
      try store.query { connection in try body(connection, state(connection)) }
    }
  }

  /// Returns the collection in one snapshot of the store.
  func state(_ connection: Connection) throws -> CollectionState {
    guard let state = try store.state(of: id, connection) else {
      throw SatchelError(
        .notFound, "\(name): not in the store: the collection was dropped, or its creation was rolled back")
    }
    try checkVersion(state)
    return state
  }

  private func checkVersion(_ row: CollectionState) throws {
    guard row.version != Int64(version) else { return }
    throw SatchelError(
      row.version > version ? .newer : .invalid,
      "\(name): its records were migrated to version \(row.version) after it was opened with "
        + "version \(version); open it again"
    )
  }

  /// Throws `.conflict` for a handle whose declared indexes, relations or schema may not be enforced any
  /// more.
  func checkGeneration(_ rules: CollectionRules) throws {
    guard rules.generation != generation else { return }
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
    let warnings = try locating(.record(name, key)) { try checkDocument(document, key) }
    var receipt = try write(.put(key, document), ifRevision: expected)?.receipt ?? .spooled
    receipt.warnings = warnings
    return receipt
  }

  /// Carries a change out.
  ///
  /// - Returns: nil when it was spooled
  func write(_ change: RecordWrite.Change, ifRevision expected: Int64? = nil) throws -> RecordWrite.Outcome? {
    try RecordWrite(collection: name, version: version, change: change, expected: expected, known: known).run(
      by: self)
  }

  /// - Throws: `.invalid` for a document that is not a JSON object
  @discardableResult
  func checkDocument(
    _ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer
  ) throws -> [DocumentWarning] {
    let hasLargeString: Bool
    do {
      hasLargeString = try JSONScanner.checkForLargeStrings(document)
    } catch {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): \(error)", underlying: error)
    }
    guard document.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      throw SatchelError(
        .invalid, "\(name)/\(String(decoding: key, as: UTF8.self)): a document must be a JSON object")
    }
    return hasLargeString ? LargeStrings.warnings(in: document) : []
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
    return try write(.delete(key), ifRevision: expected).map { $0.count == 1 } ?? true
  }
}

extension RecordCollection {
  /// Returns a record; nil when it does not exist.
  public func get(_ id: String) throws -> Record? {
    try candidate(id) { try $0.record(withDocument: true) }
  }

  /// Calls `body` with a record's document as it was written; returns false when it does not exist. `body` must
  /// not use the store.
  @discardableResult
  package func withDocument(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    let found: Void? = try candidate(key) {
      try $0.plain(body)
    }
    return found != nil
  }

  /// Appends a record in the JSON form of the public interfaces; returns false when it does not exist.
  package func copyRecord(_ key: UnsafeRawBufferPointer, to bytes: inout [UInt8]) throws -> Bool {
    try candidate(key) { try $0.write(into: &bytes) } != nil
  }

  private func candidate<Result>(_ id: String, _ body: (borrowing Candidate) throws -> Result) throws
    -> Result?
  {
    var id = id
    return try id.withUTF8 { try candidate(UnsafeRawBufferPointer($0), body) }
  }

  private func candidate<Result>(
    _ key: UnsafeRawBufferPointer, _ body: (borrowing Candidate) throws -> Result
  ) throws -> Result? {
    try RecordID.check(key, in: name)
    return try locating(.record(name, key)) {
      try read { connection, row in
        let fetch = RecordFetch(connection, row, store: store)
        return try row.first(key, connection) { try fetch.one($0, of: key, body) }
      }
    }
  }
}
