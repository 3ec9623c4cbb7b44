import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

extension RecordWork {
  /// Returns the row of a record, and the hash of its id.
  func find(_ key: UnsafeRawBufferPointer, in collection: CollectionState) throws -> (
    row: Int64?, hash: Int64
  ) {
    try collection.find(key, connection) { try collection.keys.source.isRow($0, of: key, connection) }
  }

  /// Writes a record. Checks everything before it changes anything, on the document before its fields are sealed.
  ///
  /// - Parameters:
  ///   - body: a JSON object that has been scanned
  ///   - expected: the revision that the record must have, 0 for none
  ///   - remote: the metadata of remote content, which the record gets
  ///   - isChange: whether it is a change to send
  func put(
    _ key: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, in collection: CollectionState,
    ifRevision expected: Int64? = nil, from remote: SyncContent? = nil, isChange: Bool = true
  ) throws -> RecordReceipt {
    if remote == nil, isChange { try collection.checkSize(body, of: key) }
    let (row, hash) = try findUnexpired(key, in: collection)
    let table = RecordTable(connection: connection)
    let remote = remote?.credible(at: now)
    let old = try row.flatMap { try table.head($0, withBody: try collection.needsOldDocument) }
    try checkRevision(old?.revision ?? 0, expected, key: key, in: collection)
    try collection.rules.schema?.check(body, collection.location(key))
    if remote == nil, isChange { try collection.rules.expiry?.check(body, of: key, in: collection) }
    let record = IndexedRecord(
      key: key, created: remote?.created ?? old?.created ?? now, modified: remote?.modified ?? now,
      document: body)
    let entries = try indexEntries(old, record, key: key, row: row, in: collection)
    let rules = try collection.rules
    let references =
      rules.relations.isEmpty ? nil : try referenceChanges(old?.body, body, key: key, in: collection)
    let assets = try assetReferences(
      in: body, of: row, key, isStrict: remote == nil && isChange, in: collection)
    let sealed = rules.isSensitive ? try sealed(body, key, in: collection) : nil
    var write = RowWrite(key: key, hash: hash, row: row, old: old, isSealed: sealed != nil)
    write.revision = remote?.revision ?? 0
    write.created = remote?.created
    write.modified = remote?.modified ?? now
    if old == nil { write.revision = max(write.revision, try 1 + lastRevision(key, collection)) }
    return try changing {
      try keepForSync(old, key, in: collection)
      let (record, revision) =
        try sealed.map { sealed in try sealed.withUnsafeBytes { try self.write($0, write, in: collection) } }
        ?? self.write(body, write, in: collection)
      try apply(entries, record, in: collection)
      if let references { try apply(references, record, in: collection) }
      try setAssets(assets, of: record, isNew: old == nil)
      collection.noteChange(key)
      if try collection.isSynchronized, isChange { try tracker()?.notePut(key, in: collection.name) }
      if collection.isBound { try reconsiderWaiting(for: key, in: collection) }
      try mergeIfNeeded(collection)
      return RecordReceipt(revision: revision, isNew: old == nil)
    }
  }

  /// Writes a record as `put` does, with the members of the stored document that its type does not have.
  ///
  /// - Parameter type: the number of the document's type
  func put(
    _ key: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, keeping known: KnownMembers?,
    type: Int = 0,
    in collection: CollectionState, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    guard let known, let row = try findUnexpired(key, in: collection).row,
      let stored = try document(row, key, in: collection)
    else { return try put(key, body, in: collection, ifRevision: expected) }
    let kept = try naming(collection.location(key)) {
      try known.keeping(JSONValue(parsing: stored), in: JSONValue(parsing: body), type: type)?.serialized()
    }
    guard let kept else { return try put(key, body, in: collection, ifRevision: expected) }
    return try kept.withUnsafeBytes { try put(key, $0, in: collection, ifRevision: expected) }
  }

  /// Keeps a document that is about to be replaced or deleted, where the sync log needs it.
  private func keepForSync(
    _ old: RecordTable.Head?, _ key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws {
    guard let old, collection.isBound, !collection.isReserved else { return }
    try old.body.withUnsafeBytes {
      try SyncTracker.keepDocument($0, of: key, in: collection.name, connection)
    }
  }

  /// The row that a write inserts or replaces.
  struct RowWrite {
    var key: UnsafeRawBufferPointer
    /// The hash of the key, and the row that has it.
    var hash: Int64
    var row: Int64?
    var old: RecordTable.Head?
    var isSealed: Bool
    /// The revision that it has at least.
    var revision: Int64 = 0
    /// Of another copy; nil for a change of this one.
    var created: Int64?
    var modified: Int64 = 0
  }

  /// Inserts or replaces the row of a document.
  ///
  /// - Parameter body: the document as it is stored
  func write(
    _ body: UnsafeRawBufferPointer, _ write: RowWrite, in collection: CollectionState
  ) throws -> (record: Int64, revision: Int64) {
    let table = RecordTable(connection: connection)
    if let row = write.row, let old = write.old {
      released.remove(row)
      let revision = max(old.revision + 1, write.revision)
      try table.update(row, body, revision: revision, modified: write.modified, isSealed: write.isSealed)
      if let created = write.created {
        try table.setTimes(row, revision: revision, created: created, modified: write.modified)
      }
      try updateSearches(row, body, replacing: old.body, in: collection)
      return (row, revision)
    }
    let record = collection.base + collection.numbers.next
    let revision = max(1 + collection.numbers.revised, write.revision)
    try table.insert(
      record, write.key, body: body, revision: revision, created: write.created ?? now,
      modified: write.modified,
      isSealed: write.isSealed)
    collection.numbers.next += 1
    collection.keys.add(write.hash, row: record)
    try updateSearches(record, body, replacing: nil, in: collection)
    return (record, revision)
  }

  /// Sets a record's times to those of another copy, and its revision, where that is higher.
  func setTimes(
    _ key: UnsafeRawBufferPointer, revision: Int64, created: Int64, modified: Int64,
    in collection: CollectionState
  ) throws {
    guard let row = try find(key, in: collection).row else { return }
    try changing {
      let table = RecordTable(connection: connection)
      guard let written = try table.head(row, withBody: false) else { return }
      let (created, modified) = (
        StoreClock.credible(created, at: now), StoreClock.credible(modified, at: now)
      )
      try moveEntries(
        of: row, from: (written.created, written.modified), to: (created, modified), in: collection)
      try table.setTimes(
        row, revision: max(revision, written.revision), created: created, modified: modified)
    }
  }

  private func checkRevision(
    _ revision: Int64, _ expected: Int64?, key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws {
    guard let expected, expected != revision else { return }
    let found = revision == 0 ? "there is no such record" : "its revision is \(revision)"
    let wanted = expected == 0 ? "none was expected" : "revision \(expected) was expected"
    throw collection.problem(key, nil, reason: "\(found), \(wanted)", code: .conflict)
  }

  /// Returns the revision that a deleted record had according to the sync log; 0 when it is not known.
  private func lastRevision(_ key: UnsafeRawBufferPointer, _ collection: CollectionState) throws -> Int64 {
    guard try collection.isSynchronized else { return 0 }
    return try tracker()?.revisionOfDeleted(key, in: collection.name) ?? 0
  }

  /// Deletes a record without checking the references to it.
  func remove(_ row: Int64, _ key: UnsafeRawBufferPointer, from collection: CollectionState) throws {
    let table = RecordTable(connection: connection)
    guard let old = try table.head(row, withBody: try collection.needsOldDocument) else { return }
    let entries = try indexEntries(old, nil, key: key, row: row, in: collection)
    let references = try referenceChanges(old.body, nil, key: key, in: collection)
    try changing {
      try collection.countAll(connection)
      try keepForSync(old, key, in: collection)
      try table.delete(row)
      try removeFromSearches(row, in: collection)
      if row <= collection.base + collection.numbers.indexedThrough {
        try RecordIDs.keys.remove((collection.keys.source.hash(key), row), connection)
      }
      try connection.run("DELETE FROM record_kept WHERE record = ?", .integer(row))
      try removeAssets(of: row)
      collection.numbers.count -= 1
      collection.numbers.revised = max(
        collection.numbers.revised, min(old.revision, RecordRow.maxStartingRevision))
      collection.numbers.isDirty = true
      try apply(entries, row, in: collection)
      try apply(references, row, in: collection)
      collection.noteChange(key)
      if try collection.isSynchronized {
        let deletion = SyncContent(
          document: nil, revision: old.revision + 1, created: old.created, modified: now)
        try tracker()?.noteDeletion(key, in: collection.name, deletion)
      }
      if collection.isBound, !collection.isReserved {
        try reconsiderWaiting(for: key, in: collection)
      }
    }
  }

  /// Makes the entries of the sync log that wait for a record undecided: it has changed.
  private func reconsiderWaiting(
    for key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws {
    if hasWaiting == nil { hasWaiting = try ConflictLog(connection).hasWaiting() }
    guard hasWaiting == true, let tracker = try tracker() else { return }
    let name = collection.location(key)
    for waiting in try ConflictLog(connection).waiting(for: name) {
      var key = waiting.key
      let owner = try self.collection(waiting.collection)
      try key.withUTF8 { try tracker.reconsider(UnsafeRawBufferPointer($0), in: owner.name) }
    }
  }

  /// Deletes a record, and applies the `onDelete` actions of the relations that refer to it.
  ///
  /// - Parameter willCascade: called with each further record that is about to be deleted
  /// - Returns: whether there was such a record
  func delete(
    _ key: UnsafeRawBufferPointer, from collection: CollectionState, ifRevision expected: Int64? = nil,
    willCascade: (_ key: [UInt8], _ row: Int64, _ collection: CollectionState) throws -> Void = { _, _, _ in
    }
  ) throws -> Bool {
    let (row, _) = try findUnexpired(key, in: collection)
    if let expected {
      let head = try row.flatMap { try RecordTable(connection: connection).head($0, withBody: false) }
      try checkRevision(head?.revision ?? 0, expected, key: key, in: collection)
    }
    guard let row else { return false }
    var deletion = Deletion(self)
    try deletion.run(
      [Deletion.Item(row: row, key: Array(key), collection: collection)], willCascade: willCascade)
    return true
  }
}
