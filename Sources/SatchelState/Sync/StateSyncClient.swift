import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage
import SatchelSync

/// State as a client of the sync log: the part of a `SyncLogClient` for the collection `@state`.
///
/// An entry is one value, list, set or table of scores, with the id `{kind}/{name}`. The newest value wins;
/// additions to and removals from lists, sets and scores by several devices are merged. So there are no
/// conflicts.
package struct StateSyncClient: Sendable {
  /// The version of the documents.
  static let version: Int64 = 1

  private let documents: RecordStore
  /// Made when an entry is decided about: sending needs only what is saved.
  private let state: @Sendable () -> StateStore

  package init(_ documents: RecordStore, _ state: @escaping @Sendable () -> StateStore) {
    (self.documents, self.state) = (documents, state)
  }

  // MARK: Sending

  /// Returns the ids of the state that is marked for synchronizing, in byte order.
  package func ids(
    after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs {
    guard try ReservedReader.exist(connection) else { return SyncIDs([], end: nil) }
    var ids: [StateName] = []
    try ReservedReader.each(connection) { key, stored in
      // A damaged document is not sent; `check` names it.
      guard let id = StateID(key), let document = try? StateDocument(stored, of: id) else { return }
      if document.mark?.isSynced == true { ids.append(StateName(sound: key)) }
    }
    if case .id(let id) = position {
      let last = StateName(sound: id)
      ids.removeAll { $0 <= last }
    }
    let part = ids.sorted().prefix(limit).map(\.text)
    return SyncIDs(part, end: part.last.map { .id($0) })
  }

  /// Returns the content of an entry as it is saved; a deletion, or nil, for one without content.
  ///
  /// - Parameter isEncrypted: whether sensitive content is sent, as plain members of its document
  /// - Throws: `SatchelError` `.notFound` for unmarked state, `.unauthorized` for sensitive content unless it
  ///   is sent and its encryption key is set, `.damaged`
  package func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    let id = StateID(key.id)
    // Not nil: that would delete the entry on all other devices.
    guard let id, let document = try document(id, connection), let mark = document.mark, mark.isSynced else {
      throw SatchelError(.notFound, "\(key): is not marked for synchronizing, and is not sent")
    }
    guard document.hasContent else {
      return document.isRemoved ? Self.outgoing(nil, document.modified) : nil
    }
    let isSensitive = id.kind == .value ? document.keyName != nil : document.isSensitive
    if isSensitive, !isEncrypted { throw Self.unencrypted(id) }
    let content = try document.opened(documents.database.keyring.keys)
    switch id.kind {
    case .value:
      guard case .value(let found?) = content else { return nil }
      let sent = StateSyncValue.Content(bytes: try found.serialized(), isSensitive: isSensitive)
      let value = StateSyncValue(content: sent, time: document.modified)
      return Self.outgoing(
        try Self.bytes(value.document(at: id.location), id), value.time, isSensitive: isSensitive)
    case .list: return try outgoing(StateSyncList(content), mark, document: document)
    case .set: return try outgoing(StateSyncSet(content), mark, document: document)
    case .scores: return try outgoing(StateSyncScores(content), mark, document: document)
    }
  }

  private func document(_ id: StateID, _ connection: Connection) throws -> StateDocument? {
    guard try ReservedReader.exist(connection) else { return nil }
    return try ReservedReader(connection, documents).document(id.text).map {
      try StateDocument($0, of: id)
    }
  }

  private static func unencrypted(_ id: StateID) -> SatchelError {
    SatchelError(
      .unauthorized, "\(id.location): is sensitive, and is sent only with an encryption key of the sync log")
  }

  private func outgoing<Content: StateSyncContent>(
    _ content: Content?, _ mark: StateMark, document: StateDocument
  ) throws -> SyncOutgoing? {
    guard var content else { return nil }
    content.bounds = mark.bounds
    let id = document.id
    var sent = try content.document(at: id.location)
    if document.isSensitive, case .object(var members) = sent {
      members["sensitive"] = true
      sent = .object(members)
    }
    return Self.outgoing(
      try Self.bytes(sent, id), document.newestTime(content.content), isSensitive: document.isSensitive)
  }

  private static func bytes(_ document: JSONValue, _ id: StateID) throws -> [UInt8] {
    try naming(id.location) { try document.serialized() }
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
    let context = state().context
    try context.prepare()
    var work = StateWork(context, transaction)
    var failures: [SyncFailure] = []
    let decisions = try entries.map { entry in
      guard let id = StateID(entry.key.id) else { return SyncDecision.waiting }
      var merge = StateSyncMerge(entry: entry, id: id, keyring: context.keyring, now: transaction.now)
      let decision = try merge.decide(&work)
      if let reason = merge.reason { failures.append(SyncFailure(entry.key, reason)) }
      return decision
    }
    try work.finish()
    return SyncDecisions(decisions: decisions, failures: failures)
  }
}
