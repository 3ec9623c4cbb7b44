import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The decision about one entry. Everything is read before anything is written, so that an entry that waits
/// has changed nothing.
struct StateSyncMerge {
  /// The reason why an entry has to wait: its document, or the rows of state, are invalid or of a newer
  /// version.
  private struct Unreadable: Error {}

  private let entry: SyncUndecided
  private let id: StateID
  private let keyring: Keyring
  private let now: Int64
  /// The error of waiting sensitive content.
  private(set) var reason: SatchelError?

  init(entry: SyncUndecided, id: StateID, keyring: Keyring, now: Int64) {
    (self.entry, self.id, self.keyring, self.now) = (entry, id, keyring, now)
  }

  mutating func decide(_ work: inout StateWork) throws -> SyncDecision {
    do {
      try reading { try work.applyWaiting(of: id) }
      let document = try reading { try work.document(id) }
      if let mark = document.mark, !mark.isSynced { return .waiting }
      // A deletion elsewhere does not delete content that was never synchronized here.
      if document.mark == nil, entry.remote?.content.isDeleted ?? true { return .match }
      switch id.kind {
      case .value: return try decideValue(document, &work)
      case .list: return try decide(StateSyncList.self, document, &work)
      case .set: return try decide(StateSyncSet.self, document, &work)
      case .scores: return try decide(StateSyncScores.self, document, &work)
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

  /// The time of content that is written.
  private var time: Int64 { entry.remote?.content.modified ?? now }

  // MARK: Lists, sets and scores

  private mutating func decide<Content: StateSyncContent>(
    _: Content.Type, _ document: StateDocument, _ work: inout StateWork
  ) throws -> SyncDecision {
    let remote: Content = try entry.remote.map { try Self.content($0) } ?? Content()
    // An unreadable base counts as unknown.
    let base: Content? = entry.base.flatMap { try? Self.content($0) }
    do {
      return try merge(base, remote, document: document, work: &work)
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

  private func merge<Content: StateSyncContent>(
    _ base: Content?, _ remote: Content, document: StateDocument, work: inout StateWork
  ) throws -> SyncDecision {
    // Changes that still wait for the key belong to the content.
    guard document.waiting.isEmpty else {
      throw SatchelError(.unauthorized, "\(id.location): has changes that wait for the encryption key")
    }
    let opened = try reading { try document.opened(keyring.keys) }
    guard var local = Content(opened) else { throw Unreadable() }
    (local.bounds, local.isSensitive) = (document.mark?.bounds, document.isSensitive)
    let isBaseLost = entry.isFork || base == nil && entry.base != nil
    let merged = Content.merged(
      base: base, local: local, remote: remote, newer: isBaseLost ? newer(document, opened) : nil)
    // Throws before anything is changed.
    if merged.isSensitive, !merged.isEmpty { try work.requireKey(for: id) }
    var result = document
    if !merged.hasSameElements(as: local) || merged.isSensitive != local.isSensitive {
      let isRemote = merged.isSame(as: remote)
      result.set(merged.content, at: isRemote ? time : max(document.modified, time))
      result.isSensitive = merged.isSensitive
    }
    result.mark = StateMark(isSynced: true, bounds: merged.bounds)
    work.merge(result, hasChanged: !merged.hasSameElements(as: local))
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

  private func newer(_ document: StateDocument, _ content: StateContent) -> StateSyncNewer {
    let (local, remote) = (document.newestTime(content), entry.remote?.content.modified ?? 0)
    return local == remote ? .neither : local > remote ? .local : .remote
  }

  // MARK: Values

  private mutating func decideValue(
    _ document: StateDocument, _ work: inout StateWork
  ) throws -> SyncDecision {
    let remote = try remoteValue()
    let hasValue = document.hasContent
    // A local change is sent as one that is not older than the base.
    let local = StateSyncValue(
      content: content(of: document),
      time: max(hasValue || document.isRemoved ? document.modified : 0, entry.base?.content.modified ?? 0))
    let isEqual = !hasValue ? remote.content == nil : remote.content != nil && local.content == remote.content
    let isChanged = entry.isChanged || hasValue && (document.mark == nil || entry.base == nil)
    let isKept = isChanged && (entry.remote == nil ? hasValue : local.wins(over: remote))
    var result = document
    result.mark = StateMark(isSynced: true)
    let isWritten = !isEqual && !isKept
    if isWritten {
      do {
        try write(remote, to: &result, &work)
      } catch let refused as Refused {
        reason = refused.error
        return .waiting
      }
    }
    work.merge(result, hasChanged: isWritten)
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
  private func content(of document: StateDocument) -> StateSyncValue.Content? {
    guard case .value(let value?)? = try? document.opened(keyring.keys),
      let bytes = StateContent.bytes(value)
    else { return nil }
    return StateSyncValue.Content(bytes: bytes, isSensitive: document.keyName != nil)
  }

  /// A sensitive value cannot be sealed, because the encryption key of the store is not set.
  private struct Refused: Error {
    let error: SatchelError
  }

  /// Writes a value into its document.
  ///
  /// - Throws: `Refused`
  private func write(_ value: StateSyncValue, to document: inout StateDocument, _ work: inout StateWork)
    throws
  {
    document.set(.value(nil), at: value.time)
    guard let content = value.content else {
      document.isRemoved = true
      return
    }
    document.isRemoved = false
    guard content.isSensitive else {
      return document.set(.value(try JSONValue(parsing: content.bytes)), at: value.time)
    }
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
    if let other = try work.sealed(notBy: key) {
      throw Refused(
        error: SatchelError(
          .unauthorized,
          "\(id.location): is sensitive, and the key is not the store's: “\(other)” is sealed with another key"
        ))
    }
    document.content = .sealed(SealedValue.seal(content.bytes, by: key, at: StateDocument.context(id)))
  }
}
