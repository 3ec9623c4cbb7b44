import SatchelCore
import SatchelJSON
import SatchelStorage

/// A record that is written later.
struct DeferredPut {
  let collection: String
  let version: Int
  let key: [UInt8]
  let document: [UInt8]
  let known: KnownMembers?
  /// Whether the document has fields that must not be kept in the clear.
  let isSensitive: Bool

  init(
    _ key: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer, by handle: RecordCollection,
    isSensitive: Bool
  ) {
    (collection, version, known) = (handle.name, handle.version, handle.known)
    (self.key, self.document, self.isSensitive) = (Array(key), Array(document), isSensitive)
  }

  /// Calls `body` with the write.
  func with(_ body: (RecordWrite) throws -> Void) throws {
    try key.withUnsafeBytes { key in
      try document.withUnsafeBytes { document in
        try body(
          RecordWrite(collection: collection, version: version, change: .put(key, document), known: known))
      }
    }
  }
}

extension RecordCollection {
  /// Writes a record later: with the tenth deferred put of the store, within five seconds, by
  /// `Store.flush()`, or when the store is closed. When this returns, nothing is durable: a kill of the process
  /// loses the record. Deferred puts are written in order, in one transaction.
  ///
  /// Every other call on records of the same `Store`, including reads, first writes the deferred puts, and
  /// may wait for a batch of another thread for that. In a batch this is an ordinary `put`.
  ///
  /// A deferred put that the store cannot accept is spooled to the outbox file. One that violates a unique
  /// index or a relation is kept among the outbox's rejected entries, and observers are notified of
  /// "@rejected".
  ///
  /// - Throws: `SatchelError` `.invalid` for an invalid id or document; `.constraint` for a document that violates
  ///   the schema; `.conflict` when the declaration was replaced; `.readOnly`, `.closed`. The tenth: `.busy`,
  ///   `.full` and others when neither the store nor the outbox file can be written; the puts stay deferred.
  public func putDeferred(_ id: String, _ document: UnsafeRawBufferPointer) throws {
    var id = id
    try id.withUTF8 { try putDeferred(UnsafeRawBufferPointer($0), document) }
  }

  /// Writes a record given as a JSON value later; see `putDeferred(_:_:)`.
  public func putDeferred(_ id: String, _ document: JSONValue) throws {
    let bytes = try naming("\(name)/\(id)") { try document.serialized() }
    try bytes.withUnsafeBytes { try putDeferred(id, $0) }
  }

  package func putDeferred(_ key: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer) throws {
    try RecordID.check(key, in: name)
    try checkDocument(document, key)
    if database.isInTransaction {
      _ = try put(key, document, ifRevision: nil)
      return
    }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only; open it writable to change it")
    }
    let rules = try database.read { try state($0).rules }
    try checkGeneration(rules)
    try rules.schema?.check(document, "\(name)/\(String(decoding: key, as: UTF8.self))")
    try store.deferPut(DeferredPut(key, document, by: self, isSensitive: rules.isSensitive))
  }
}

extension RecordStore {
  /// The maximum number of deferred puts, and of bytes of their documents.
  private static let maxDeferred = 10
  private static let maxDeferredBytes = 4 << 20
  /// The maximum time that a put is deferred, and the delay after a failure, in milliseconds.
  private static let delay: Int64 = 5000

  func deferPut(_ put: DeferredPut) throws {
    try database.refuseWhileMigrating()
    let isFull = deferredPuts.withLock { puts in
      puts.append(put)
      return puts.count >= Self.maxDeferred
        || puts.reduce(0) { $0 + $1.document.count } >= Self.maxDeferredBytes
    }
    if isFull { return try writeDeferred() }
    try delayedWork.request(deferredJob())
  }

  private func deferredJob() -> DelayedWork.Job {
    job.withLock { known in
      if let known { return known }
      let made = DelayedWork.Job(on: database.scheduler.prompt, quiet: Self.delay, limit: Self.delay) {
        [weak self] in
        guard let self else { return nil }
        do {
          try writeDeferred()
        } catch let error as SatchelError where error.code == .closed {
        } catch {
          database.notify(.unsaved, of: .records)
          return Self.delay
        }
        return nil
      }
      known = made
      return made
    }
  }

  /// Does the work of `writeDeferred`.
  func writeDeferredPuts() throws {
    try HostWork.deferringNotifications {
      try writingDeferred.withLock {
        // The puts stay in the queue until they are written, so that other calls wait for them.
        let puts = deferredPuts.withLock { $0 }
        guard !puts.isEmpty else { return }
        do {
          try writeTogether(puts)
          deferredPuts.withLock { $0.removeFirst(puts.count) }
        } catch let error as SatchelError where error.isBlockedByBatch || error.code == .closed {
          throw error
        } catch {
          try writeOneByOne(puts)
        }
        if deferredPuts.withLock({ $0.isEmpty }) { delayedWork.cancel(deferredJob()) }
      }
    }
  }

  private func writeTogether(_ puts: [DeferredPut]) throws {
    try database.prepare(OutboxSchema.subject)
    try outbox.write(in: database) { transaction in
      for put in puts {
        do {
          try database.write { try run(put, in: $0) }
        } catch let error as SatchelError where error.isRejection {
          try outbox.reject(try entry(of: put), because: error.message, in: transaction)
        }
      }
    }
  }

  /// Writes each put in a transaction of its own, or spools it.
  private func writeOneByOne(_ puts: [DeferredPut]) throws {
    for put in puts {
      do {
        _ = try outbox.perform(in: database, entry: { try entry(of: put) }) { try run(put, in: $0) }
      } catch let error as SatchelError where error.isRejection {
        try database.prepare(OutboxSchema.subject)
        let entry = try entry(of: put)
        try database.write { try outbox.reject(entry, because: error.message, in: $0) }
      }
      _ = deferredPuts.withLock { $0.removeFirst() }
    }
  }

  private func run(_ put: DeferredPut, in transaction: Transaction) throws {
    try put.with { try $0.run(in: transaction, of: self) }
  }

  /// The entry for the outbox file.
  private func entry(of put: DeferredPut) throws -> JSONValue {
    var entry = JSONValue.null
    try put.with { entry = try keepable($0.entry, of: put.collection, isSensitive: put.isSensitive) }
    return entry
  }

  /// Writes the deferred puts; puts that are deferred from now on are written when the collection's object is
  /// released. The store was released.
  package func release() {
    isReleased.withLock { $0 = true }
    try? writeDeferred()
  }
}
