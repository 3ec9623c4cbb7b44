import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// The decision about one entry. Everything is read before anything is written, so that an entry that waits
/// has changed nothing.
struct StateSyncMerge {
  /// The reason why an entry has to wait: its document, or the rows of state, are invalid or of a newer
  /// version.
  private struct Unreadable: Error {}

  private let client: StateSyncClient
  private let entry: SyncUndecided
  private let id: StateID
  private let transaction: Transaction
  private let tables: StateTables
  /// Whether rows of the value, list, set or scores were changed.
  private(set) var hasChanged = false
  /// The error of waiting sensitive content.
  private(set) var reason: SatchelError?

  init(client: StateSyncClient, entry: SyncUndecided, id: StateID, transaction: Transaction) {
    self.client = client
    self.entry = entry
    self.id = id
    self.transaction = transaction
    tables = StateTables(connection: transaction.connection, keyring: client.state.keyring)
  }

  mutating func decide() throws -> SyncDecision {
    do {
      let synced = try reading { try tables.synced(id) }
      if let synced, !synced.mark.isSynced { return .waiting }
      // A deletion elsewhere does not delete content that was never synchronized here.
      if synced == nil, entry.remote?.content.isDeleted ?? true { return .match }
      switch id.kind {
      case .value: return try decideValue(synced)
      case .list: return try decide(StateSyncList.self, synced)
      case .set: return try decide(StateSyncSet.self, synced)
      case .scores: return try decide(StateSyncScores.self, synced)
      }
    } catch is Unreadable {
      return .waiting
    }
  }

  private func reading<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SatchelError where error.code == .damaged {
      throw Unreadable()
    }
  }

  /// Returns the document of an envelope; nil for a deletion.
  private static func document(_ envelope: SyncEnvelope) throws -> JSONValue? {
    guard let bytes = envelope.content.document else { return nil }
    guard envelope.version == StateSyncClient.version, let document = try? JSONValue(parsing: bytes) else {
      throw Unreadable()
    }
    return document
  }

  /// The time for rows that are written.
  private var time: Int64 { entry.remote?.content.modified ?? transaction.now }

  private func setMark(_ mark: StateMark, _ synced: StateTables.Synced?) throws {
    if synced?.mark != mark { try tables.set(mark, of: id) }
  }

  // MARK: Lists, sets and scores

  private mutating func decide<Content: StateSyncContent>(
    _: Content.Type, _ synced: StateTables.Synced?
  ) throws -> SyncDecision {
    let remote: Content = try entry.remote.map { try Self.content($0) } ?? Content()
    // An unreadable base counts as unknown.
    let base: Content? = entry.base.flatMap { try? Self.content($0) }
    do {
      return try merge(base, remote, synced)
    } catch let error as SatchelError where error.code == .unauthorized {
      // Sensitive content cannot be opened or sealed: the key of the store is not set. Nothing was changed.
      reason = SatchelError(
        .unauthorized, "\(id.location): is sensitive, and is applied when the encryption key is set",
        underlying: error)
      return .waiting
    } catch let error as SatchelError where error.code == .invalid {
      reason = error
      return .waiting
    }
  }

  private mutating func merge<Content: StateSyncContent>(
    _ base: Content?, _ remote: Content, _ synced: StateTables.Synced?
  ) throws -> SyncDecision {
    let wasSensitive = try tables.isSensitive(id)
    // Changes that still wait for the key belong to the rows.
    if try tables.hasWaiting(id) {
      throw SatchelError(.unauthorized, "\(id.location): has changes that wait for the encryption key")
    }
    var local = try reading { try Content(id.name, bounds: synced?.mark.bounds, in: tables) }
    local.isSensitive = wasSensitive
    let isBaseLost = entry.isFork || base == nil && entry.base != nil
    let merged = Content.merged(
      base: base, local: local, remote: remote, newer: isBaseLost ? try newer(Content.self) : nil)
    if merged.isSensitive, !merged.isEmpty {
      // Throws before anything is changed.
      _ = try client.state.keyring.sealingKey(transaction.connection) { id.location }
    }
    if merged.isSensitive != wasSensitive {
      try tables.setSensitive(id, merged.isSensitive)
      client.state.sensitive.note(id, merged.isSensitive)
    }
    if !merged.hasSameElements(as: local) {
      try merged.replace(local, id.name, time: time, in: tables)
      hasChanged = true
    }
    try setMark(StateMark(isSynced: true, bounds: merged.bounds), synced)
    if merged.isSame(as: remote) { return local.isSame(as: remote) ? .match : .apply }
    return merged.isSame(as: local) ? .keep : .merged
  }

  private static func content<Content: StateSyncContent>(_ envelope: SyncEnvelope) throws -> Content {
    guard let document = try document(envelope) else { return Content() }
    let sensitive = document["sensitive"] ?? false
    guard var content = Content(document: document), let isSensitive = sensitive.boolValue else {
      throw Unreadable()
    }
    content.isSensitive = isSensitive
    if let received = envelope.received { content.setReceived(received) }
    return content
  }

  private func newer<Content: StateSyncContent>(_: Content.Type) throws -> StateSyncNewer {
    let local = try reading { try Content.newestTime(id.name, in: tables) }
    let remote = entry.remote?.content.modified ?? 0
    return local == remote ? .neither : local > remote ? .local : .remote
  }

  // MARK: Values

  private mutating func decideValue(_ synced: StateTables.Synced?) throws -> SyncDecision {
    let remote = try remoteValue()
    let stored = try reading { try tables.timedValue(id.name) }
    // A local change is sent as one that is not older than the base.
    let local = StateSyncValue(
      content: stored.flatMap { content(of: $0.bytes, isSealed: $0.isSealed) },
      time: max(stored?.time ?? synced?.removedAt ?? 0, entry.base?.content.modified ?? 0))
    let isEqual =
      stored == nil ? remote.content == nil : remote.content != nil && local.content == remote.content
    let isChanged = entry.isChanged || stored != nil && (synced == nil || entry.base == nil)
    let isKept = isChanged && (entry.remote == nil ? stored != nil : local.wins(over: remote))
    if !isEqual, !isKept {
      do {
        try write(remote)
      } catch let refused as Refused {
        reason = refused.error
        return .waiting
      }
      hasChanged = true
    }
    try setMark(StateMark(isSynced: true), synced)
    return isEqual ? .match : isKept ? .keep : .apply
  }

  private func remoteValue() throws -> StateSyncValue {
    guard let envelope = entry.remote, let document = try Self.document(envelope) else {
      return StateSyncValue(content: nil, time: time)
    }
    guard let value = StateSyncValue(document: document, time: time) else { throw Unreadable() }
    return value
  }

  /// Returns the content of a stored value; nil when it is sealed and cannot be opened.
  private func content(of bytes: [UInt8], isSealed: Bool) -> StateSyncValue.Content? {
    guard isSealed else { return StateSyncValue.Content(bytes: bytes, isSensitive: false) }
    let opened = try? SealedValue.open(bytes, by: client.state.keyring.keys, at: id.location)
    return opened.map { StateSyncValue.Content(bytes: $0, isSensitive: true) }
  }

  /// A sensitive value cannot be sealed, because the encryption key of the store is not set.
  private struct Refused: Error {
    let error: SatchelError
  }

  /// Writes a value.
  ///
  /// - Throws: `Refused`
  private func write(_ value: StateSyncValue) throws {
    let target = StateTarget.value(id.name)
    guard let content = value.content else {
      try tables.delete(target)
      return try tables.setRemoval(of: id.name, at: value.time)
    }
    guard content.isSensitive else {
      try tables.putValue(id.name, content.bytes, isSealed: false, time: value.time)
      return try tables.setRemoval(of: id.name, at: nil)
    }
    let keyring = client.state.keyring
    // While values are resealed, the resealing thread may wait for this transaction.
    guard keyring.rotating.lock(milliseconds: 0) else {
      throw SatchelError(.busy, "\(id.location): the encryption key is being changed; try again")
    }
    defer { keyring.rotating.unlock() }
    guard let key = keyring.current else {
      throw Refused(
        error: SatchelError(
          .unauthorized, "\(id.location): is sensitive, and is applied when the encryption key is set"))
    }
    if let other = try tables.sealed(notBy: key.name).first {
      throw Refused(
        error: SatchelError(
          .unauthorized,
          "\(id.location): is sensitive, and the key is not the store's: “\(other)” is sealed with another key"
        ))
    }
    let sealed = SealedValue.seal(content.bytes, by: key, at: id.location)
    try tables.putValue(id.name, sealed, isSealed: true, time: value.time)
    try tables.setRemoval(of: id.name, at: nil)
  }
}
