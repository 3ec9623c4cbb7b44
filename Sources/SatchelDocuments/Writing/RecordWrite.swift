import SatchelCore
import SatchelJSON
import SatchelStorage

/// One write to a collection: a change, and how it reaches the store. It joins the transaction of the thread, or runs in
/// its own; where the store cannot accept it, it is kept in the outbox file, from which the same value is read again.
///
/// The memory of ids and documents is the caller's.
struct RecordWrite {
  enum Change {
    case put(_ key: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer)
    /// Writes a document that is made of the stored one, nil for none.
    case make(_ key: UnsafeRawBufferPointer, _ document: (_ stored: [UInt8]?) throws -> [UInt8])
    case update(_ key: UnsafeRawBufferPointer, patch: JSONValue)
    case delete(_ key: UnsafeRawBufferPointer)
    case putMany(_ documents: UnsafeRawBufferPointer, JSONTape)
    case deleteMany(_ keys: [[UInt8]])
  }

  /// The result of a write.
  struct Outcome {
    /// The number of records that were written or deleted.
    var count: Int
    /// Of the record that was written; of many, with the warnings of all.
    var receipt = RecordReceipt(revision: 0, isNew: false)
  }

  let collection: String
  let version: Int
  let change: Change
  /// The revision that the record must have, 0 for none; nil for any.
  var expected: Int64?
  var known: KnownMembers?

  private var key: UnsafeRawBufferPointer? {
    switch change {
    case .put(let key, _), .make(let key, _), .update(let key, _), .delete(let key): key
    case .putMany, .deleteMany: nil
    }
  }

  // MARK: Carrying out

  /// Carries the write out for the handle of an app.
  ///
  /// - Returns: nil when it was spooled
  func run(by handle: RecordCollection) throws -> Outcome? {
    let (store, database) = (handle.store, handle.database)
    return try locating(key.map { .record(collection, $0) } ?? .collection(collection)) {
      try store.prepareWrite()
      func write(_ transaction: Transaction) throws -> Outcome {
        let work = store.work(in: transaction)
        return try apply(work, to: handle.state(in: work))
      }
      // Part of the thread's transaction: only the whole transaction can be spooled.
      if database.isInTransaction || database.options.isReadOnly {
        // Of many, a savepoint makes the write atomic.
        if case .putMany = change { return try database.write(write) }
        return try database.join(write)
      }
      let outcome = try store.outbox.perform(in: database, entry: { try spooled(by: handle) }, write)
      return outcome.isSpooled ? nil : outcome.result
    }
  }

  /// Carries out a write that was kept, in a transaction.
  ///
  /// - Throws: `.notFound` without its collection; `.invalid` for one that has another version since
  func run(in transaction: Transaction, of store: RecordStore) throws {
    let work = store.work(in: transaction)
    let id = try CollectionState.id(of: collection, work.connection)
    guard let state = try id.map(work.collection), state.version > 0 else {
      throw SatchelError(.notFound, "there is no collection \(collection)")
    }
    guard state.version == version else {
      throw SatchelError(
        .invalid,
        "\(collection): the entry was written for version \(version); the collection has version \(state.version)"
      )
    }
    _ = try apply(work, to: state)
    // It was a transaction of its own, which the rest of this one must not make valid.
    try work.checkContested()
  }

  private func apply(_ work: RecordWork, to collection: CollectionState) throws -> Outcome {
    switch change {
    case .put(let key, let document):
      let receipt = try work.put(key, document, keeping: known, in: collection, ifRevision: expected)
      return Outcome(count: 1, receipt: receipt)
    case .make(let key, let document):
      let row = try work.findUnexpired(key, in: collection).row
      let stored = try row.flatMap { try work.document($0, key, in: collection) }
      let receipt = try document(stored).withUnsafeBytes {
        try work.put(key, $0, in: collection, ifRevision: expected)
      }
      return Outcome(count: 1, receipt: receipt)
    case .update(let key, let patch):
      let receipt = try work.update(key, patch, in: collection, ifRevision: expected)
      return Outcome(count: 1, receipt: receipt)
    case .delete(let key):
      return Outcome(count: try work.delete(key, from: collection, ifRevision: expected) ? 1 : 0)
    case .putMany(_, let tape):
      var outcome = Outcome(count: try work.putMany(tape, keeping: known, in: collection))
      outcome.receipt.warnings = LargeStrings.warnings(in: tape, at: tape.root)
      return outcome
    case .deleteMany(let keys):
      return Outcome(count: try work.deleteMany(keys, from: collection))
    }
  }

  // MARK: The outbox

  /// The kinds of entries of the outbox file.
  enum Kind: String, CaseIterable {
    case put, update, delete
    case putMany = "put_many"
    case deleteMany = "delete_many"
  }

  /// Returns the entry for the outbox file: sealed, if the collection has sensitive fields. A document that is known to
  /// violate the schema is not kept.
  private func spooled(by handle: RecordCollection) throws -> JSONValue {
    if case .make(let key, let document) = change {
      let stored = try? handle.get(String(decoding: key, as: UTF8.self))
      return try document(stored?.body).withUnsafeBytes {
        try RecordWrite(collection: collection, version: version, change: .put(key, $0), expected: expected)
          .spooled(by: handle)
      }
    }
    // When the store cannot be read either, the check happens when the entry is drained, and the declaration from when
    // the handle was opened says whether anything is sealed.
    let rules = try? handle.read { try $1.rules }
    if case .put(let key, let document) = change {
      try rules?.schema?.check(document, "\(collection)/\(String(decoding: key, as: UTF8.self))")
    }
    return try handle.store.keepable(
      entry, of: collection, isSensitive: rules.map(\.isSensitive) ?? handle.hasSensitive)
  }

  /// The entry for the outbox file.
  var entry: JSONValue {
    var members: JSONObject = ["collection": .string(collection), "version": .int(Int64(version))]
    if let key { members["id"] = .string(String(decoding: key, as: UTF8.self)) }
    if let expected { members["if_revision"] = .int(expected) }
    if let known { members["known"] = known.json }
    let kind: Kind
    switch change {
    // Documents are strings, so that their bytes do not change.
    case .put(_, let document):
      (kind, members["document"]) = (.put, .string(String(decoding: document, as: UTF8.self)))
    case .make: kind = .put
    case .update(_, let patch): (kind, members["patch"]) = (.update, patch)
    case .delete: kind = .delete
    case .putMany(let documents, _):
      (kind, members["documents"]) = (.putMany, .string(String(decoding: documents, as: UTF8.self)))
    case .deleteMany(let keys):
      kind = .deleteMany
      members["ids"] = .array(keys.map { .string(String(decoding: $0, as: UTF8.self)) })
    }
    return .object([kind.rawValue: .object(members)])
  }

  /// Calls `body` with the write of an entry, whose memory ends with the call.
  ///
  /// - Throws: `.invalid` for an entry that lacks a member
  static func with(_ kind: Kind, of entry: JSONValue, _ body: (RecordWrite) throws -> Void) throws {
    func member<Value>(_ name: String, _ value: (JSONValue) -> Value?) throws -> Value {
      if let found = entry[name].flatMap(value) { return found }
      throw SatchelError(.invalid, "\(kind.rawValue): an entry must have \"\(name)\"")
    }
    let name = try member("collection") { $0.stringValue }
    let version = Int(clamping: try member("version") { $0.intValue })
    let known = try entry["known"].map { try KnownMembers(json: $0) }
    func run(_ change: Change) throws {
      try body(
        RecordWrite(
          collection: name, version: version, change: change, expected: entry["if_revision"]?.intValue,
          known: known))
    }
    func withKey(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      var id = try member("id") { $0.stringValue }
      try id.withUTF8 { key in
        try RecordID.check(UnsafeRawBufferPointer(key), in: name)
        try body(UnsafeRawBufferPointer(key))
      }
    }
    switch kind {
    case .put:
      var document = try member("document") { $0.stringValue }
      try withKey { key in
        try document.withUTF8 { bytes in
          let bytes = UnsafeRawBufferPointer(bytes)
          try JSONScanner.check(bytes)
          try run(.put(key, bytes))
        }
      }
    case .update: try withKey { try run(.update($0, patch: entry["patch"] ?? .null)) }
    case .delete: try withKey { try run(.delete($0)) }
    case .putMany:
      var documents = try member("documents") { $0.stringValue }
      try documents.withUTF8 { bytes in
        let bytes = UnsafeRawBufferPointer(bytes)
        try run(.putMany(bytes, naming("documents") { try JSONTape(bytes) }))
      }
    case .deleteMany:
      let ids = try member("ids") { $0.arrayValue }
      try run(.deleteMany(ids.compactMap { $0.stringValue.map { Array($0.utf8) } }))
    }
  }
}

extension RecordStore {
  /// Registers the handlers that drain kept writes.
  func registerEntries() {
    outbox.register(Self.sealedKind, of: .records) { [weak self] entry, transaction, _ in
      guard let self else { throw Self.isReleasedError }
      try outbox.apply(openedEntry(entry), in: transaction, of: database)
    }
    for kind in RecordWrite.Kind.allCases {
      outbox.register(kind.rawValue, of: .records) { [weak self] entry, transaction, _ in
        // An entry whose store was released stays in the file.
        guard let self else { throw Self.isReleasedError }
        try database.prepare(RecordSchema.subject)
        try RecordWrite.with(kind, of: entry) { try $0.run(in: transaction, of: self) }
      }
    }
  }

  private static var isReleasedError: SatchelError { SatchelError(.closed, "the store is closed") }

  /// Drains the entries of a collection that were rejected because the collection did not exist.
  func drainRejected(of collection: String) throws {
    try outbox.retryRejected(in: database) { entry in
      entry.objectValue?.first?.value["collection"]?.stringValue == collection
    }
  }
}
