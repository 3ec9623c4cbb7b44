import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Writes to the store, or spools the entry to the outbox file when the store cannot be written; returns
  /// nil then.
  func writingThroughOutbox<Result>(
    _ entry: @autoclosure () throws -> JSONValue, _ body: (RecordWork, WorkingCollection) throws -> Result
  ) throws -> Result? {
    try store.database.refuseWhileMigrating()
    try store.writeDeferred()
    // Part of the thread's transaction: only the whole transaction can be spooled.
    if store.database.isInTransaction || store.database.options.isReadOnly { return try write(body) }
    let outcome = try store.outbox.perform(in: store.database, entry: { try spoolable(entry()) }) { _ in
      try write(body)
    }
    return outcome.isSpooled ? nil : outcome.result
  }

  /// Returns an entry as it may be in the outbox file: sealed, if the collection has sensitive fields.
  private func spoolable(_ entry: JSONValue) throws -> JSONValue {
    // When the store cannot be read, the declaration from when the handle was opened is used.
    let shape = try? read { connection, row in try store.shape(of: row, connection) }
    let isSensitive = shape.map { !$0.sensitive.isEmpty } ?? hasSensitive
    return isSensitive ? try store.sealedEntry(entry, of: name) : entry
  }

  /// Returns the entry for the outbox file; a document that is known to violate the schema is not spooled.
  func spooled(
    _ key: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer, expected: Int64?
  ) throws -> JSONValue {
    // When the store cannot be read either, the check happens when the entry is drained.
    let shape = try? read { connection, row in try store.shape(of: row, connection) }
    try shape?.schema?.check(document, "\(name)/\(String(decoding: key, as: UTF8.self))")
    return try Self.putEntry(name, version, key: key, document: document, expected: expected, known: known)
  }

  static func putEntry(
    _ name: String, _ version: Int, key: UnsafeRawBufferPointer, document: UnsafeRawBufferPointer,
    expected: Int64?, known: KnownMembers?
  ) throws -> JSONValue {
    var entry = head(name, version, key: key, expected: expected)
    if let known { entry["known"] = known.json }
    // As a string, so that the bytes do not change.
    entry["document"] = .string(String(decoding: document, as: UTF8.self))
    return ["put": .object(entry)]
  }

  static func deleteEntry(
    _ name: String, _ version: Int, key: UnsafeRawBufferPointer, expected: Int64?
  ) -> JSONValue {
    ["delete": .object(head(name, version, key: key, expected: expected))]
  }

  private static func head(
    _ name: String, _ version: Int, key: UnsafeRawBufferPointer, expected: Int64?
  ) -> JSONObject {
    var entry: JSONObject = [
      "collection": .string(name), "version": .int(Int64(version)),
      "id": .string(String(decoding: key, as: UTF8.self)),
    ]
    if let expected { entry["if_revision"] = .int(expected) }
    return entry
  }
}

extension RecordStore {
  /// Registers the handlers that drain spooled writes.
  func registerEntries() {
    register(Self.sealedKind) { store, entry, transaction in
      try store.outbox.apply(store.openedEntry(entry), in: transaction, of: store.database)
    }
    register("put") { store, entry, _ in
      try store.apply(entry) { work, collection, key in
        guard let document = entry["document"]?.stringValue else {
          throw SatchelError(.invalid, "put: an entry must have \"document\"")
        }
        var text = document
        try text.withUTF8 { text in
          try JSONScanner.check(UnsafeRawBufferPointer(text))
          _ = try work.put(
            key, UnsafeRawBufferPointer(text), keeping: entry["known"].map { try KnownMembers(json: $0) },
            in: collection, ifRevision: entry["if_revision"]?.intValue)
        }
      }
    }
    register("delete") { store, entry, _ in
      try store.apply(entry) { work, collection, key in
        _ = try work.delete(key, from: collection, ifRevision: entry["if_revision"]?.intValue)
      }
    }
    register("update") { store, entry, _ in
      try store.apply(entry) { work, collection, key in
        _ = try work.update(
          key, entry["patch"] ?? .null, in: collection, ifRevision: entry["if_revision"]?.intValue)
      }
    }
    register("delete_many") { store, entry, _ in
      guard let name = entry["collection"]?.stringValue, let ids = entry["ids"]?.arrayValue else {
        throw SatchelError(.invalid, "delete_many: an entry must have \"collection\" and \"ids\"")
      }
      try store.collection(name, version: entry["version"]?.intValue) { work, collection in
        _ = try work.deleteMany(ids.compactMap(\.stringValue).map { Array($0.utf8) }, from: collection)
      }
    }
    register("put_many") { store, entry, _ in
      guard let name = entry["collection"]?.stringValue, let documents = entry["documents"]?.stringValue
      else {
        throw SatchelError(.invalid, "put_many: an entry must have \"collection\" and \"documents\"")
      }
      try store.collection(name, version: entry["version"]?.intValue) { work, collection in
        try Array(documents.utf8).withUnsafeBytes { bytes in
          let tape = try naming("documents") { try JSONTape(bytes) }
          _ = try work.putMany(
            tape, keeping: entry["known"].map { try KnownMembers(json: $0) }, in: collection)
        }
      }
    }
  }

  /// - Parameter apply: the handler; an entry whose store was released stays in the file
  private func register(
    _ kind: String, _ apply: @escaping @Sendable (RecordStore, JSONValue, Transaction) throws -> Void
  ) {
    outbox.register(kind, of: .records) { [weak self] entry, transaction, _ in
      guard let self else { throw SatchelError(.closed, "the store is closed") }
      try apply(self, entry, transaction)
    }
  }

  /// Drains the entries of a collection that were rejected because the collection did not exist.
  func drainRejected(of collection: String) throws {
    try outbox.retryRejected(in: database) { entry in
      entry.objectValue?.first?.value["collection"]?.stringValue == collection
    }
  }

  private func apply(
    _ entry: JSONValue, _ body: (RecordWork, WorkingCollection, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let name = entry["collection"]?.stringValue, var id = entry["id"]?.stringValue else {
      throw SatchelError(.invalid, "an entry must have \"collection\" and \"id\"")
    }
    try collection(name, version: entry["version"]?.intValue) { work, collection in
      try id.withUTF8 { key in
        try RecordID.check(UnsafeRawBufferPointer(key), in: name)
        try body(work, collection, UnsafeRawBufferPointer(key))
      }
    }
  }

  private func collection(
    _ name: String, version: Int64?, _ body: (RecordWork, WorkingCollection) throws -> Void
  ) throws {
    try database.prepare(RecordSchema.subject)
    try write { work in
      guard let id = try CollectionRow.id(of: name, work.connection) else {
        throw SatchelError(.notFound, "there is no collection \(name)")
      }
      let collection = try work.collection(id)
      guard collection.row.version == version else {
        throw SatchelError(
          .invalid,
          "\(name): the entry was written for version \(version ?? 0); the collection has "
            + "version \(collection.row.version)"
        )
      }
      try body(work, collection)
      // The entry was a transaction of its own, which the rest of this one must not make valid.
      try work.checkContested()
    }
  }
}
