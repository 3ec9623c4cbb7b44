import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The records of a store as a client of its sync log.
package struct RecordSyncClient: Sendable {
  let store: RecordStore

  package init(_ store: RecordStore) { self.store = store }

  /// The collections that are declared and synchronized, targets of relations before those that refer to them.
  package func collections(_ connection: Connection) throws -> [String] {
    Self.ordered(try rules(connection)).filter(\.isSynced).map(\.name)
  }

  /// The declarations of the collections, by their ids.
  private func rules(_ connection: Connection) throws -> [CollectionRules] {
    guard try store.database.has(.records) else { return [] }
    var ids: [Int64] = []
    try connection.each("SELECT id FROM record_collection WHERE version > 0 AND id > 0 ORDER BY id") {
      ids.append(try $0.integer(0, in: RecordRow.collections))
    }
    return try ids.compactMap { try store.state(of: $0, connection)?.rules }
  }

  /// Collections in an order in which the targets of relations come first; in a circle, the one with the lower id.
  private static func ordered(_ rules: [CollectionRules]) -> [CollectionRules] {
    var (rest, ordered, placed) = (rules, [CollectionRules](), Set<Int64>())
    let known = Set(rules.map(\.id))
    while !rest.isEmpty {
      let next =
        rest.firstIndex { rules in
          rules.relations.allSatisfy {
            $0.target == rules.id || !known.contains($0.target) || placed.contains($0.target)
          }
        } ?? 0
      let rules = rest.remove(at: next)
      placed.insert(rules.id)
      ordered.append(rules)
    }
    return ordered
  }

  /// The content of a record, to be sent; nil when there is none.
  ///
  /// - Throws: `.unauthorized` for one with sensitive fields unless the log is encrypted and their key is set
  package func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    guard let row = try store.state(named: key.collection, connection) else { return nil }
    let rules = try row.rules
    let isSensitive = rules.isSensitive
    let content = try first(key.id, of: row, connection) { record, id in
      try connection.first(
        "SELECT body, is_sealed, revision, created, modified FROM record WHERE id = ? AND key = ?",
        .integer(record), .textBytes(id)
      ) { found in
        guard isEncrypted || !isSensitive else { throw Self.unencrypted(row.name) }
        let body = found.bytes(0)
        try RecordRow.check(body, of: id)
        let document =
          found.flag(1) ? try rules.opened(body, id, by: store.database.keyring.keys) : Array(body)
        return SyncContent(
          document: document, revision: try found.integer(2, in: RecordRow.revisions),
          created: try found.integer(3), modified: try found.integer(4))
      }
    }
    return content.map { SyncOutgoing(content: $0, version: row.version, isSensitive: isSensitive) }
  }

  /// The document of a record; nil when there is none, or fields of it are sealed.
  package func document(of key: SyncKey, _ connection: Connection) throws -> [UInt8]? {
    guard let row = try store.state(named: key.collection, connection) else { return nil }
    return try first(key.id, of: row, connection) { record, id in
      try connection.first(
        "SELECT body, is_sealed FROM record WHERE id = ? AND key = ?", .integer(record), .textBytes(id)
      ) { row -> [UInt8]? in row.flag(1) ? nil : Array(row.bytes(0)) } ?? nil
    }
  }

  /// Returns what `read` finds in a row that the id may have.
  private func first<Found>(
    _ id: String, of row: CollectionState, _ connection: Connection,
    read: (_ record: Int64, _ id: UnsafeRawBufferPointer) throws -> Found?
  ) throws -> Found? {
    var id = id
    return try id.withUTF8 { id in
      let id = UnsafeRawBufferPointer(id)
      return try row.first(id, connection) { try read($0, id) }
    }
  }

  private static func unencrypted(_ collection: String) -> SatchelError {
    SatchelError(
      .unauthorized,
      "\(collection): has sensitive fields, and is sent only with an encryption key of the sync log")
  }

  /// The collections with sensitive fields.
  package func sensitiveCollections(_ connection: Connection) throws -> Set<String> {
    Set(try rules(connection).filter(\.isSensitive).map(\.name))
  }

  /// The ids of a collection's records, in the order of their rows.
  ///
  /// - Parameter position: the end of the previous part
  package func ids(
    of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs {
    guard let row = try store.state(named: collection, connection) else { return SyncIDs([], end: nil) }
    var last = RecordRow.base(of: row.id)
    if case .row(let end) = position { last = end }
    var ids: [String] = []
    try connection.each(
      "SELECT id, key FROM record WHERE id > ? AND id < ? ORDER BY id LIMIT ?", .integer(last),
      .integer(RecordRow.base(of: row.id + 1)), .integer(Int64(limit))
    ) { row in
      let id = row.anyInteger(0)
      try RowOrder.check(id, after: last, of: "record")
      ids.append(row.text(1))
      last = id
    }
    return SyncIDs(ids, end: ids.isEmpty ? nil : .row(last))
  }

  /// Decides about entries, and changes the records accordingly.
  package func decide(_ entries: [SyncUndecided], in transaction: Transaction) throws -> SyncDecisions {
    var application = try RecordApplication(store.work(in: transaction), entries)
    return try application.run()
  }

  /// Ends open and waiting conflicts of keys whose entry the remote has lost: its version may be here alone.
  package func keepLost(_ keys: [SyncKey], in transaction: Transaction) throws {
    if keys.isEmpty { return }
    guard try store.database.has(RecordSchema.subject) else { return }
    let (connection, conflicts) = (transaction.connection, ConflictLog(transaction.connection))
    guard try conflicts.hasUndecided() else { return }
    for key in keys {
      guard let id = try CollectionState.id(of: key.collection, connection) else { continue }
      try conflicts.endKeeping(key.id, in: id)
    }
  }

  /// The keys of entries that wait for any of these, directly or transitively.
  package func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey] {
    guard try store.database.has(RecordSchema.subject) else { return [] }
    let conflicts = ConflictLog(transaction.connection)
    guard try conflicts.hasWaiting() else { return [] }
    let work = store.work(in: transaction)
    var (known, queue, next) = (Set(keys), keys, 0)
    while next < queue.count {
      for waiting in try conflicts.waiting(for: queue[next].description) {
        let collection = try work.collection(waiting.collection)
        let key = try SyncKey(collection.name, waiting.key)
        if try collection.isSynchronized, known.insert(key).inserted { queue.append(key) }
      }
      next += 1
    }
    return Array(queue[keys.count...])
  }

  /// The records of collections with sensitive fields that wait for anything.
  package func waitingForKey(_ connection: Connection) throws -> [SyncKey] {
    let names = try sensitiveCollections(connection)
    let conflicts = ConflictLog(connection)
    guard !names.isEmpty, try conflicts.hasWaiting() else { return [] }
    return try names.ordered().flatMap { name in
      guard let id = try CollectionState.id(of: name, connection) else { return [SyncKey]() }
      return try conflicts.waiting(forCollection: name, id).filter { $0.collection == id }.compactMap {
        try? SyncKey(name, $0.key)
      }
    }
  }

  /// Ends open and waiting conflicts, because the store is no longer synchronized.
  package func detach(in transaction: Transaction) throws {
    guard try store.database.has(RecordSchema.subject) else { return }
    try ConflictLog(transaction.connection).endAll()
  }
}
