extension Store {
  /// Opens a collection of records, creates it if it does not exist, and migrates its records to the declared
  /// version: all pending migrations in one transaction, after a backup next to the store.
  ///
  /// - Parameter declaration: adds indexes, relations and a schema to those in the store, and removes none,
  ///   except with `redeclare`; a name alone opens the collection as it is
  /// - Returns: a new object for each call
  /// - Throws: `SatchelError` `.invalid` for an invalid declaration, for an index, relation or schema that
  ///   differs from the store's, for records that violate it, and for a migration that fails, naming the
  ///   record: nothing is changed then; `.newer`, `.notFound` and `.readOnly` in a store opened read-only,
  ///   `.closed`, `.io`
  public func records(_ declaration: CollectionDeclaration) throws -> RecordCollection {
    try recordStore.open(declaration)
  }

  /// Opens a collection of records; see `records(_:)`.
  public func records(
    _ name: String, indexes: [RecordIndex]? = nil, types: [String: RecordType]? = nil,
    relations: [String: RecordRelation]? = nil,
    sensitive: [String]? = nil, search: [String]? = nil, positions: [String]? = nil,
    schema: JSONValue? = nil, version: Int? = nil, migrations: [RecordMigration] = [],
    onConflict: ConflictPolicy? = nil, synced: Bool? = nil, ttl: RecordLifetime? = nil,
    redeclare: Bool = false
  ) throws -> RecordCollection {
    try records(
      CollectionDeclaration(
        name, indexes: indexes, types: types, relations: relations, sensitive: sensitive, search: search,
        positions: positions, schema: schema, version: version, migrations: migrations,
        onConflict: onConflict, synced: synced, ttl: ttl, redeclare: redeclare))
  }

  /// Removes a collection: its records, indexes and declaration. That is local: what was synchronized stays in the
  /// remote, and returns when the collection is declared again. To delete the records for all devices, use
  /// `RecordCollection.clear` and synchronize.
  ///
  /// - Parameters:
  ///   - name: of the collection; its objects then throw `.notFound`
  ///   - discardingUnsent: whether changes that were never sent may be lost
  /// - Throws: `SatchelError` `.notFound`; `.constraint` while a relation of another collection refers to it;
  ///   `.conflict` for changes that were never sent; `.readOnly`, `.closed`, `.io`
  public func dropCollection(_ name: String, discardingUnsent: Bool = false) throws {
    try recordStore.drop(name, discardsUnsent: discardingUnsent)
  }

  /// Returns the store's collections.
  public func collections() throws -> [CollectionInfo] { try recordStore.collections() }

  /// Runs `body` in one transaction: all of its writes to any collection are committed together, or none when
  /// it throws. Relations are checked at commit. A batch inside another batch is a savepoint: it rolls back
  /// only its own writes.
  ///
  /// A batch belongs to the thread that runs `body`: calls on other threads are not part of it, even when
  /// `body` started those threads. Their writes wait until the batch ends, at most `busyTimeout`, and their
  /// reads see the last committed state; in an in-memory store, which has one connection, reads wait as well.
  /// `body` cannot suspend, so an `async` function runs it on one thread from beginning to end: await all
  /// input first, then write it in one batch.
  ///
  /// - Throws: the error of `body`; `SatchelError` `.busy`, `.readOnly`, `.full`, `.io`
  public func batch<Result>(_ body: () throws -> Result) throws -> Result {
    try recordStore.writeDeferred()
    return try outbox.write(in: database) { _ in try body() }
  }

  /// Begins a batch without a closure. It belongs to the calling thread and to threads that `enter` it.
  package func begin() throws {
    try recordStore.writeDeferred()
    try outbox.drainSpooled(database)
    try database.begin()
  }

  package func commit() throws { try database.commit() }
  package func rollback() throws { try database.rollback() }
  package var carriedBatch: Int64? { get throws { try database.carriedBatch } }
  package func enter(_ batch: Int64) throws { try database.enter(batch) }
  package func leave() { database.leave() }
}
