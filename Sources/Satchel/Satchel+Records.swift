extension Satchel {
  /// Opens a collection of records, making it when there is none, and brings its records to the version that is
  /// declared: all pending steps in one transaction, after a backup beside the store.
  ///
  /// - Parameter declaration: adds indexes, relations and a schema to what the store has, and removes none, except
  ///   with `redeclare`; a mere name opens the collection as it is
  /// - Returns: a value of its own for each call
  /// - Throws: `SatchelError` `.invalid` for a declaration that is none, for an index, relation or schema that the
  ///   store has otherwise, for records that violate it, and for a migration that fails, naming the record: nothing is
  ///   changed then; `.newer`, `.notFound` and `.readOnly` in a store opened to read only, `.closed`, `.io`
  public func records(_ declaration: CollectionDeclaration) throws -> RecordCollection {
    try recordStore.open(declaration)
  }

  /// Opens a collection of records; see `records(_:)`.
  public func records(
    _ name: String, indexes: [RecordIndex]? = nil, relations: [String: RecordRelation]? = nil,
    schema: JSONValue? = nil, version: Int? = nil, migrations: [RecordMigration] = [],
    redeclare: Bool = false
  ) throws -> RecordCollection {
    try records(
      CollectionDeclaration(
        name, indexes: indexes, relations: relations, schema: schema, version: version,
        migrations: migrations,
        redeclare: redeclare))
  }

  /// The collections of the store.
  public func collections() throws -> [CollectionInfo] { try recordStore.collections() }

  /// Runs `body` as one transaction: what it writes to any collection becomes visible, and durable, as a whole, or
  /// not at all when it throws. Relations are checked at its end. Inside another batch it undoes only itself.
  ///
  /// It is bound to the thread that runs `body`: calls of other threads are no part of it, even when `body` has started
  /// them. Their writes wait until it ends, at most `busyTimeout`, and their reads see what is committed; in a store in
  /// memory, which has one connection, reads wait as well. `body` cannot suspend, so an `async` function runs it on one
  /// thread from beginning to end: read what has to be awaited before, then write it in one batch.
  ///
  /// - Throws: what `body` throws; `SatchelError` `.busy`, `.readOnly`, `.full`, `.io`
  public func batch<Result>(_ body: () throws -> Result) throws -> Result {
    try journal.write(in: database) { _ in try body() }
  }

  /// Begins a batch where a closure cannot be handed over: carried by the calling thread, and by those that enter it.
  package func begin() throws {
    try journal.takeInSpilled(database)
    try database.begin()
  }

  package func commit() throws { try database.commit() }
  package func rollback() throws { try database.rollback() }
  package var carriedBatch: Int64? { get throws { try database.carriedBatch } }
  package func enter(_ batch: Int64) throws { try database.enter(batch) }
  package func leave() { database.leave() }
}
