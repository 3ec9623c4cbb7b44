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
    // A damaged document is not sent; `check` names it.
    try ReservedReader.each(
      connection, states { if $1.mark?.isSynced == true { ids.append(StateName(sound: $0.text)) } })
    if case .id(let id) = position {
      let last = StateName(sound: id)
      ids.removeAll { $0 <= last }
    }
    let part = ids.ordered().prefix(limit).map(\.text)
    return SyncIDs(part, end: part.last.map { .id($0) })
  }

  /// Returns the content of an entry as it is saved; a deletion, or nil, for one without content.
  ///
  /// - Parameter isEncrypted: whether sensitive content is sent, as plain members of its document
  /// - Throws: `SatchelError` `.notFound` for unmarked state, `.unauthorized` for sensitive content unless it
  ///   is sent and its encryption key is set, `.damaged`
  package func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    // Not nil: that would delete the entry on all other devices.
    guard let id = StateID(key.id), try ReservedReader.exist(connection),
      let document = try ReservedReader(connection, documents).state(id, nil)?.document,
      let mark = document.mark, mark.isSynced
    else { throw SatchelError(.notFound, "\(key): is not marked for synchronizing, and is not sent") }
    guard document.hasContent else {
      return document.isRemoved ? Self.outgoing(nil, document.modified) : nil
    }
    let isSensitive = document.isSensitive || document.isSealed
    if isSensitive, !isEncrypted {
      throw SatchelError(
        .unauthorized, "\(id.location): is sensitive, and is sent only with an encryption key of the sync log"
      )
    }
    let content = try document.opened(documents.database.keyring.keys)
    let shared = SharedState(content: content, bounds: mark.bounds, isSensitive: isSensitive)
    return Self.outgoing(
      try naming(id.location) { try shared.document(of: id.kind).serialized() }, document.newestTime(content),
      isSensitive: isSensitive)
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
  /// - Throws: `SatchelError` `.full`, `.io` and others
  package func decide(_ entries: [SyncUndecided], in transaction: Transaction) throws -> SyncDecisions {
    let context = state().context
    try context.prepare()
    var work = StateWork(context, transaction)
    var failures: [SyncFailure] = []
    let decisions = try entries.map { entry in
      guard let id = StateID(entry.key.id) else { return SyncDecision.waiting }
      let merge = StateMerge(entry: entry, id: id, keyring: context.keyring, now: transaction.now)
      do {
        return try merge.decide(&work)
      } catch let waiting as StateMerge.Waiting {
        if let reason = waiting.reason { failures.append(SyncFailure(entry.key, reason)) }
        return .waiting
      }
    }
    try work.finish()
    return SyncDecisions(decisions: decisions, failures: failures)
  }
}

/// A value, a list, a set or scores as devices exchange them: `{"value": …}`, `{"items": …, "limit": …, "max_age": …,
/// "unique": …}`, the newest first, `{"members": …}`, in the order of their JSON texts with the keys of objects sorted, or
/// `{"scores": {key: number, …}, "minimum": …, "maximum": …}`, in byte order of the keys; with `"sensitive": true` for
/// what is stored sealed, and sent in an encrypted log only.
struct SharedState: Sendable {
  var content: StateContent
  /// Nil for a value, a set, and for a deleted entry.
  var bounds: StateBounds?
  /// Unknown for a deletion.
  var isSensitive = false

  /// Reads a document; nil for an invalid one.
  init?(_ document: JSONValue, of kind: StateID.Kind) {
    guard let json = document[StateContent.member(kind)], let content = StateContent(kind, json),
      let isSensitive = (document["sensitive"] ?? false).boolValue
    else { return nil }
    let bounds = StateBounds(document, of: kind)
    guard bounds != nil || kind == .value || kind == .set else { return nil }
    self.init(content: content, bounds: bounds, isSensitive: isSensitive)
  }

  init(content: StateContent, bounds: StateBounds? = nil, isSensitive: Bool = false) {
    (self.content, self.bounds, self.isSensitive) = (content, bounds, isSensitive)
  }

  func document(of kind: StateID.Kind) throws -> JSONValue {
    var object: JSONObject = [StateContent.member(kind): try content.sentJSON()]
    bounds?.write(into: &object)
    if isSensitive { object["sensitive"] = true }
    return .object(object)
  }

  /// Replaces times of a clock that was ahead by the time when the document was received or sent.
  mutating func setReceived(_ received: Int64) {
    guard case .list(var items) = content else { return }
    // As stored times are stamped: they stay in order.
    let time = max(received, items.first { !StoreClock.isAhead($0.time, of: received) }?.time ?? 0)
    items.limitTimes(to: time) { StoreClock.isAhead($0, of: received) }
    content = .list(items)
  }

  /// Whether both are sent as the same entry. A deletion has no bounds.
  func isSame(as other: SharedState) -> Bool {
    content.hasSameElements(as: other.content)
      && (content.isEmpty || bounds == other.bounds && isSensitive == other.isSensitive)
  }

  /// Returns the content that results from the changes of two devices to a list, a set or scores.
  static func merged(
    base: SharedState?, local: SharedState, remote: SharedState, newer: StateContent.Newer? = nil
  ) -> SharedState {
    let bounds = StateBounds.merged(base: base?.bounds, local: local.bounds, remote: remote.bounds)
    var merged: SharedState
    if base?.isSame(as: local) ?? local.isSame(as: remote) {
      merged = remote
    } else if let base, base.isSame(as: remote) {
      merged = local
    } else {
      merged = SharedState(
        content: .combined(
          base: base?.content, local: local.content, remote: remote.content, bounds: bounds, newer: newer),
        bounds: bounds)
    }
    // Other devices do not know the bounds of content that is sent as a deletion.
    if merged.content.isEmpty || merged.bounds == nil { merged.bounds = bounds }
    merged.isSensitive = isSensitive(base: base, local: local, remote: remote)
    return merged
  }

  /// Whether the resulting content is sensitive: the value of the device that changed it; true when unknown.
  private static func isSensitive(base: SharedState?, local: SharedState, remote: SharedState) -> Bool {
    if remote.content.isEmpty || local.isSensitive == remote.isSensitive { return local.isSensitive }
    if local.content.isEmpty, !local.isSensitive { return remote.isSensitive }
    guard let base, !base.content.isEmpty else { return true }
    return !base.isSensitive
  }

  /// Whether this value, changed at `time`, is kept when both were changed: the newer one or, at the same time, the one
  /// with the greater bytes.
  func wins(at time: Int64, over other: SharedState, at otherTime: Int64) -> Bool {
    if time != otherTime { return time > otherTime }
    guard case .value(let value?) = content, case .value(let found?) = other.content else {
      return !content.isEmpty
    }
    return value.hasSameText(as: found) ? isSensitive : found.precedes(value)
  }
}

/// The decision about one entry. Everything is read before anything is written, so that an entry that waits
/// has changed nothing.
private struct StateMerge {
  /// The entry has to wait.
  struct Waiting: Error {
    /// The error of sensitive content; nil where the entry or the rows of state are invalid or of a newer version.
    var reason: SatchelError?
  }

  let entry: SyncUndecided
  let id: StateID
  let keyring: Keyring
  let now: Int64

  func decide(_ work: inout StateWork) throws -> SyncDecision {
    do {
      try work.applyWaiting(of: id)
      let document = try work.document(id)
      if let mark = document.mark, !mark.isSynced { return .waiting }
      // A deletion elsewhere does not delete content that was never synchronized here.
      if document.mark == nil, entry.remote?.content.isDeleted ?? true { return .match }
      let remote = try entry.remote.map(shared)
      return id.kind == .value
        ? try replace(document, by: remote, &work) : try merge(remote, into: document, &work)
    } catch let error as SatchelError where error.code == .damaged {
      throw Waiting()
    } catch let error as SatchelError where error.code == .unauthorized {
      // Sensitive content cannot be opened or sealed: the key of the store is not set. Nothing was changed.
      throw Waiting(
        reason: SatchelError(
          .unauthorized, "\(id.location): is sensitive, and is applied when the encryption key is set",
          underlying: error))
    } catch let error as SatchelError where error.code == .invalid {
      throw Waiting(reason: error)
    }
  }

  /// Returns the content of an envelope.
  private func shared(_ envelope: SyncEnvelope) throws -> SharedState {
    guard let bytes = envelope.content.document else { return SharedState(content: StateContent(id.kind)) }
    guard envelope.version == StateSyncClient.version, let document = try? JSONValue(parsing: bytes),
      var shared = SharedState(document, of: id.kind)
    else { throw Waiting() }
    if let received = envelope.received { shared.setReceived(received) }
    return shared
  }

  /// The time of content that is written.
  private var time: Int64 { entry.remote?.content.modified ?? now }

  /// Merges a list, a set or scores.
  private func merge(_ sent: SharedState?, into document: StateDocument, _ work: inout StateWork) throws
    -> SyncDecision
  {
    let remote = sent ?? SharedState(content: StateContent(id.kind))
    // An unreadable base counts as unknown.
    let base = entry.base.flatMap { try? shared($0) }
    // Changes that still wait for the key belong to the content.
    guard document.waiting.isEmpty else {
      throw SatchelError(.unauthorized, "\(id.location): has changes that wait for the encryption key")
    }
    let local = SharedState(
      content: try document.opened(keyring.keys), bounds: document.mark?.bounds,
      isSensitive: document.isSensitive)
    let isBaseLost = entry.isFork || base == nil && entry.base != nil
    let merged = SharedState.merged(
      base: base, local: local, remote: remote, newer: isBaseLost ? newer(document, local.content) : nil)
    // Throws before anything is changed.
    if merged.isSensitive, !merged.content.isEmpty { _ = try work.key(for: document) }
    var result = document
    let (hasChanged, isRemote) = (
      !merged.content.hasSameElements(as: local.content), merged.isSame(as: remote)
    )
    if hasChanged || merged.isSensitive != local.isSensitive {
      result.set(merged.content, at: isRemote ? time : max(document.modified, time))
      result.isSensitive = merged.isSensitive
    }
    result.mark = StateMark(isSynced: true, bounds: merged.bounds)
    try work.merge(result, hasChanged: hasChanged)
    if isRemote { return local.isSame(as: remote) ? .match : .apply }
    return merged.isSame(as: local) ? .keep : .merged
  }

  private func newer(_ document: StateDocument, _ content: StateContent) -> StateContent.Newer {
    let (local, remote) = (document.newestTime(content), entry.remote?.content.modified ?? 0)
    return local == remote ? .neither : local > remote ? .local : .remote
  }

  private func replace(_ document: StateDocument, by sent: SharedState?, _ work: inout StateWork) throws
    -> SyncDecision
  {
    let remote = sent ?? SharedState(content: .value(nil))
    let hasValue = document.hasContent
    // Nothing where it is sealed and cannot be opened.
    let local = SharedState(
      content: (try? document.opened(keyring.keys)) ?? .value(nil), isSensitive: document.isSealed)
    // A local change is sent as one that is not older than the base.
    let localTime = max(
      hasValue || document.isRemoved ? document.modified : 0, entry.base?.content.modified ?? 0)
    let isEqual = hasValue == !remote.content.isEmpty && local.isSame(as: remote)
    let isChanged = entry.isChanged || hasValue && (document.mark == nil || entry.base == nil)
    let isKept = isChanged && (sent == nil ? hasValue : local.wins(at: localTime, over: remote, at: time))
    var result = document
    result.mark = StateMark(isSynced: true)
    let isWritten = !isEqual && !isKept
    if isWritten {
      result.set(remote.content, at: time)
      result.isRemoved = remote.content.isEmpty
      if remote.isSensitive, !remote.content.isEmpty {
        result.content = .sealed(
          try StateDocument.sealed(remote.content, of: id, by: work.key(for: StateDocument(id))))
      }
    }
    try work.merge(result, hasChanged: isWritten)
    return isEqual ? .match : isKept ? .keep : .apply
  }
}
