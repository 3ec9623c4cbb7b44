import SatchelCore
import SatchelSync
import SatchelStorage

extension RecordCollection {
  /// Deletes all records, in one transaction, and applies the `onDelete` actions of the relations that refer to them.
  /// The deletions are synchronized.
  ///
  /// - Returns: the number of records
  /// - Throws: `SatchelError` `.constraint` when a record of another collection restricts a deletion; nothing is
  ///   changed then
  @discardableResult
  public func clear() throws -> Int {
    try transaction { work, collection in
      var records: [Deletion.Item] = []
      try work.connection.each(
        "SELECT id, key FROM record WHERE id > ? AND id < ? ORDER BY id", .integer(collection.base),
        .integer(RecordRow.base(of: collection.id + 1))
      ) {
        records.append(
          Deletion.Item(row: $0.anyInteger(0), key: Array($0.bytes(1)), collection: collection))
      }
      var deletion = Deletion(work)
      try deletion.run(records) { _, _, _ in }
      return records.count
    }
  }
}

extension RecordStore {
  /// Removes a collection: its records, indexes and declaration. That is local: nothing of it is deleted in the remote.
  ///
  /// - Parameter discardsUnsent: whether changes that were never sent may be lost
  /// - Throws: `SatchelError` `.notFound`; `.constraint` while a relation of another collection refers to it;
  ///   `.conflict` for changes that were never sent
  package func drop(_ name: String, discardsUnsent: Bool) throws {
    guard try database.prepare(RecordSchema.subject) else {
      throw SatchelError(.notFound, "there is no collection \(name)")
    }
    let dropped = try transaction { transaction in
      let connection = transaction.connection
      guard let row = try state(named: name, connection) else {
        throw SatchelError(.notFound, "there is no collection \(name)")
      }
      let id = row.id
      if let relation = try CollectionRules.incoming(id, connection).values.first(where: { $0.source != id })
      {
        let source = try CollectionState.read(relation.source, connection)?.name ?? ""
        throw SatchelError(
          .constraint,
          "\(name): cannot be dropped while \(source) refers to it at \(relation.path.pointer)")
      }
      try keepForSync(row, connection)
      try SyncLogTables.drop(name, discardsUnsent: discardsUnsent, in: transaction)
      let work = work(in: transaction)
      try work.flush()
      work.forget(id)
      forgetRules(of: id)
      try work.assets()?.removeReferences(
        of: .record, rows: RecordRow.base(of: id)...RecordRow.base(of: id + 1), now: transaction.now)
      try removeRows(row, connection)
      transaction.note(subject: .records, keys: [name])
      return id
    }
    forgetMirror(of: dropped)
  }

  /// Keeps the documents of a collection, which the entries of the sync log have no other copy of.
  private func keepForSync(_ row: CollectionState, _ connection: Connection) throws {
    guard row.isBound else { return }
    try connection.each(
      "SELECT key, body FROM record WHERE id > ? AND id < ? AND is_sealed = 0",
      .integer(RecordRow.base(of: row.id)), .integer(RecordRow.base(of: row.id + 1))
    ) { try SyncTracker.keepDocument($0.bytes(1), of: $0.bytes(0), in: row.name, connection) }
  }

  private func removeRows(_ row: CollectionState, _ connection: Connection) throws {
    let (first, end) = (RecordRow.base(of: row.id), RecordRow.base(of: row.id + 1))
    try connection.run(
      """
      INSERT OR REPLACE INTO record_dropped(name, revised) VALUES(?1, min(?4, max(?5,
      (SELECT coalesce(max(revision), 0) FROM record WHERE id > ?2 AND id < ?3))))
      """, .text(row.name), .integer(first), .integer(end), .integer(RecordRow.maxStartingRevision),
      .integer(row.numbers.revised))
    let source = RecordIDs(collection: row.id)
    var keys: [(hash: Int64, row: Int64)] = []
    try source.scan(connection, from: first, through: first + row.numbers.indexedThrough) {
      keys.append(($0, $1))
    }
    for key in keys { try RecordIDs.keys.remove(key, connection) }
    for sql: StaticString in [
      "DELETE FROM record_value WHERE index_id IN (SELECT id FROM record_index WHERE collection = ?)",
      "DELETE FROM record_index WHERE collection = ?",
      "DELETE FROM record_reference WHERE relation IN (SELECT id FROM record_relation WHERE collection = ?)",
      "DELETE FROM record_relation WHERE collection = ?", "DELETE FROM record_migration WHERE collection = ?",
      "DELETE FROM record_collection WHERE id = ?",
    ] {
      try connection.run(sql, .integer(row.id))
    }
    try connection.run(
      "DELETE FROM record_kept WHERE record > ? AND record < ?", .integer(first), .integer(end))
    try connection.run("DELETE FROM record WHERE id > ? AND id < ?", .integer(first), .integer(end))
    try RecordSearches.clear(row.id, connection)
    try ConflictLog(connection).removeAll(of: ConflictLog.Owner(.records, row.id))
    try MirrorTable.forget(row.id, connection)
  }
}
