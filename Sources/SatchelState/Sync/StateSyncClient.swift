import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// State as a client of the sync log: the part of a `SyncLogClient` for the collection `@state`.
///
/// An entry is one value, list, set or table of scores, with the id `{kind}/{name}`. The newest value wins;
/// additions to and removals from lists, sets and scores by several devices are merged. So there are no
/// conflicts.
package struct StateSyncClient: Sendable {
  /// The version of the documents.
  static let version: Int64 = 1

  let state: StateStore

  package init(_ state: StateStore) { self.state = state }

  // MARK: Sending

  /// Returns the ids of the state that is marked for synchronizing, in byte order.
  package func ids(
    after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs {
    guard try StateTables.exist(connection) else { return SyncIDs([], end: nil) }
    var last: StateID?
    if case .id(let id) = position { last = StateID(id) }
    let ids = try StateTables(connection: connection).syncedIDs(after: last, limit: limit)
    return SyncIDs(ids, end: ids.last.map { .id($0) })
  }

  /// Returns the content of an entry as it is saved; a deletion, or nil, for one without content.
  ///
  /// - Parameter isEncrypted: whether sensitive content is sent, as plain members of its document
  /// - Throws: `SatchelError` `.notFound` for unmarked state, `.unauthorized` for sensitive content unless it
  ///   is sent and its encryption key is set, `.invalid` for too many levels, `.damaged`
  package func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    let tables = StateTables(connection: connection, keyring: state.keyring)
    // Not nil: that would delete the entry on all other devices.
    guard let id = StateID(key.id), try StateTables.exist(connection), let synced = try tables.synced(id),
      synced.mark.isSynced
    else { throw SatchelError(.notFound, "\(key): is not marked for synchronizing, and is not sent") }
    let bounds = synced.mark.bounds
    if id.kind == .value { return try value(id, removedAt: synced.removedAt, isEncrypted, tables) }
    // Read before its items, which cannot be read without their key.
    guard try tables.hasRows(id) else { return nil }
    if !isEncrypted, try tables.isSensitive(id) { throw Self.unencrypted(id) }
    switch id.kind {
    case .value: return nil
    case .list: return try outgoing(StateSyncList(id.name, bounds: bounds, in: tables), id, tables)
    case .set: return try outgoing(StateSyncSet(id.name, bounds: bounds, in: tables), id, tables)
    case .scores: return try outgoing(StateSyncScores(id.name, bounds: bounds, in: tables), id, tables)
    }
  }

  private func value(
    _ id: StateID, removedAt: Int64?, _ isEncrypted: Bool, _ tables: StateTables
  ) throws -> SyncOutgoing? {
    guard let stored = try tables.timedValue(id.name) else {
      return removedAt.map { Self.outgoing(nil, $0) }
    }
    if stored.isSealed, !isEncrypted { throw Self.unencrypted(id) }
    let bytes =
      stored.isSealed
      ? try SealedValue.open(stored.bytes, by: state.keyring.keys, at: id.location) : stored.bytes
    let content = StateSyncValue.Content(bytes: bytes, isSensitive: stored.isSealed)
    let value = StateSyncValue(content: content, time: stored.time)
    return Self.outgoing(
      try Self.bytes(value.document(at: id.location), id), stored.time, isSensitive: stored.isSealed)
  }

  private static func unencrypted(_ id: StateID) -> SatchelError {
    SatchelError(
      .unauthorized, "\(id.location): is sensitive, and is sent only with an encryption key of the sync log")
  }

  private func outgoing<Content: StateSyncContent>(
    _ content: Content, _ id: StateID, _ tables: StateTables
  ) throws -> SyncOutgoing? {
    if content.isEmpty { return nil }
    let isSensitive = try tables.isSensitive(id)
    var document = try content.document(at: id.location)
    if isSensitive, case .object(var members) = document {
      members["sensitive"] = true
      document = .object(members)
    }
    return Self.outgoing(
      try Self.bytes(document, id), try Content.newestTime(id.name, in: tables), isSensitive: isSensitive)
  }

  private static func bytes(_ document: JSONValue, _ id: StateID) throws -> [UInt8] {
    // The envelope is one more level.
    guard document.depth < JSONValue.maximumDepth else {
      throw SatchelError(.invalid, "\(id.location): has too many levels to be synchronized")
    }
    return try naming(id.location) { try document.serialized() }
  }

  private static func outgoing(
    _ document: [UInt8]?, _ time: Int64, isSensitive: Bool = false
  ) -> SyncOutgoing {
    let time = min(max(time, 0), StoreClock.latest)
    return SyncOutgoing(
      content: SyncContent(document: document, modified: time), version: version,
      isSensitive: isSensitive)
  }

  // MARK: Deciding

  /// Decides about entries, and changes the rows of state accordingly. An entry that no version like this one
  /// can have sent waits, without an error.
  ///
  /// - Throws: `SatchelError` `.busy` while the encryption key is being changed, `.full`, `.io` and others
  package func decide(_ entries: [SyncUndecided], in transaction: Transaction) throws -> SyncDecisions {
    try state.database.prepare(StateSchema.subject)
    let waited = try StateTables(connection: transaction.connection, keyring: state.keyring)
      .applyWaiting(at: transaction.now)
    var tracking = StateTracking()
    try tracking.note(waited, in: transaction, of: state.database)
    var (changed, failures) = ([StateID](), [SyncFailure]())
    let decisions = try entries.map { entry in
      guard let id = StateID(entry.key.id) else { return SyncDecision.waiting }
      var merge = StateSyncMerge(client: self, entry: entry, id: id, transaction: transaction)
      let decision = try merge.decide()
      if merge.hasChanged { changed.append(id) }
      if let reason = merge.reason { failures.append(SyncFailure(entry.key, reason)) }
      return decision
    }
    transaction.note(changed)
    return SyncDecisions(decisions: decisions, failures: failures)
  }
}
