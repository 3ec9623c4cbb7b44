import SatchelCore
import SatchelRemote

/// The objects of one user's sync log: "records/{user}/head" and "records/{user}/p/{name}".
struct SyncLogRemote: Sendable {
  /// The result of reading the head.
  enum Reading: Sendable {
    /// It is unchanged.
    case unchanged
    case absent
    case head(SyncHead, ETag)
    /// Its checksum does not match.
    case damaged(ETag, SatchelError, SyncHeadChecksum.Owner)
    /// Its checksum matches, but it is not a valid head, or its signature is wrong; or it is too large, and was not read:
    /// then its ETag is not known.
    case invalid(ETag?, SatchelError)
  }

  /// The number of reads that have to agree that an object is missing or damaged.
  static let attempts = 4

  let store: any ObjectStore
  let user: UserID
  let head: ObjectKey
  let packs: ObjectPrefix
  let retry: Retry
  let cancellation: Cancellation
  /// The keys of the log; nil when it is not encrypted.
  var keys: SyncLogKey?

  init(
    _ store: any ObjectStore, user: UserID, keys: SyncLogKey?, retry: Retry, cancellation: Cancellation
  ) throws {
    self.store = store
    self.user = user
    self.keys = keys
    head = try ObjectKey("records/\(user)/head")
    packs = try ObjectPrefix("records/\(user)/p/")
    self.retry = retry
    self.cancellation = cancellation
  }

  /// The remote's time, Unix milliseconds, in its latest response; nil when it sends none.
  var date: Int64? { (store as? any DatedObjectStore)?.date }

  private var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }

  private func key(_ pack: String) throws(ObjectStoreError) -> ObjectKey { try ObjectKey(packs.text + pack) }

  /// The key of what a head no longer names: a pack, or an object of assets.
  private func key(dropped name: String) throws(ObjectStoreError) -> ObjectKey {
    guard let object = AssetObject(name) else { return try key(name) }
    return try object.key(user)
  }

  /// Waits before another round.
  func pause(afterFailures failures: Int, since start: Int64, _ error: SatchelError) throws {
    var retry = retry
    retry.attempts = max(retry.attempts, failures + 1)
    try RetryingRequests(retry: retry, cancellation: cancellation).pause(
      afterFailures: failures, since: start, error)
  }

  // MARK: Head

  /// Reads the head. It counts as damaged only after several reads.
  ///
  /// - Parameter isExpected: whether the device has read a head before: then it counts as missing only after
  ///   several reads. A device that has never read one loses nothing by one wrong response: it writes the
  ///   first head under If-None-Match
  func look(unless known: ETag?, isExpected: Bool) throws -> Reading {
    var (known, obstacle) = (known, Reading?.none)
    for _ in 0..<Self.attempts {
      let reading: ObjectReading?
      do throws(ObjectStoreError) {
        reading = try requests.ifPresent { () throws(ObjectStoreError) in
          try store.get(
            head, ifNoneMatch: known, limit: Int64(SyncHead.maximumSize), cancellation: cancellation)
        }
      } catch {
        guard error.reason == .tooLarge else { throw error }
        (known, obstacle) = (nil, .invalid(nil, SatchelError(.damaged, error.message)))
        continue
      }
      switch reading {
      case nil where !isExpected: return .absent
      case nil: (known, obstacle) = (nil, nil)
      case .notModified?: return .unchanged
      case .object(let object)?:
        switch try parse(object) {
        case .invalid(_, let error) where error.code == .newer: throw error
        case .head(let head, let etag): return .head(head, etag)
        case let other: obstacle = other
        }
      }
    }
    return obstacle ?? .absent
  }

  /// The ETag of the head; nil when there is none.
  func etagOfHead() throws -> ETag? {
    try requests.ifPresent { () throws(ObjectStoreError) in
      try store.head(head, cancellation: cancellation)
    }?.etag
  }

  private func parse(_ object: StoredObject) throws -> Reading {
    guard SyncHeadChecksum.isRight(object.body) else {
      return .damaged(
        object.etag, SatchelError(.damaged, "\(head): its checksum does not match its bytes"),
        SyncHeadChecksum.owner(of: object.body, key: keys?.name))
    }
    do {
      let head = try SyncHead(parsing: object.body)
      if has(keyOf: head) {
        if let keys, !SyncHead.isSigned(object.body, by: keys, user) {
          throw SatchelError(.damaged, "its signature is not that of the key")
        }
        _ = try entries(of: head)
      }
      return .head(head, object.etag)
    } catch let error as SatchelError {
      return .invalid(
        object.etag, SatchelError(error.code, "\(head): \(error.message)", underlying: error))
    }
  }

  /// Whether the log is encrypted with the key of this sync, or neither has a key.
  func has(keyOf head: SyncHead) -> Bool { head.key == keys?.name }

  /// - Throws: `SatchelError` (`unauthorized`) for a log that this sync has not the key of
  func authorize(_ head: SyncHead) throws {
    if has(keyOf: head) { return }
    throw SatchelError(
      .unauthorized,
      head.key == nil
        ? "the sync log is not encrypted, and this sync has a key: encrypt the log first"
        : keys == nil
          ? "the sync log is encrypted, and this sync has no key"
          : "the sync log is encrypted with another key")
  }

  /// - Parameters:
  ///   - owner: the key that a damaged head was written with
  ///   - known: the last head that was read
  /// - Throws: `SatchelError` (`unauthorized`) for a damaged log that this sync has not the key of, or may not have
  func authorize(_ owner: SyncHeadChecksum.Owner, _ known: SyncHead?) throws {
    switch owner {
    case .own: return
    case .unknown: if let known { try authorize(known) }
    case .other, .unencrypted:
      throw SatchelError(
        .unauthorized, "\(head): is damaged, and was not written with the key of this sync")
    }
  }

  func seal(of head: SyncHead) -> SyncSeal? { head.seal(keys, user) }

  func entries(of head: SyncHead) throws -> [SyncEntry] { try head.entries(seal(of: head)) }

  /// Signs a head with this sync's key, and returns its bytes. Afterwards it is what they say.
  ///
  /// - Throws: `SatchelError` (`full`) for a head that no device would read
  func signed(_ head: inout SyncHead) throws -> [UInt8] {
    guard head.packs.count <= SyncPack.maximumCount else {
      throw SatchelError(.full, "the sync log has reached its limit of \(SyncPack.maximumCount) packs")
    }
    head.sign(keys, user)
    let body = head.serialized()
    do {
      head = try SyncHead(parsing: body)
    } catch {
      throw SatchelError(.full, "the sync log has reached a limit of its format: \(error)", underlying: error)
    }
    return body
  }

  /// Replaces the head, if it still has the ETag; for nil, if no head exists.
  ///
  /// - Returns: nil when the outcome is unknown: another request has to determine it
  func replaceHead(_ body: [UInt8], base: ETag?) throws -> ETag? {
    do throws(ObjectStoreError) {
      return try requests.attempt { () throws(ObjectStoreError) in
        try store.put(
          head, body, condition: base.map { .ifMatch($0) } ?? .ifAbsent, metadata: .none,
          cancellation: cancellation)
      }
    } catch {
      switch error.reason {
      case .preconditionFailed, .notFound, .unknownOutcome, .transient: return nil
      default: throw error
      }
    }
  }

  // MARK: Packs

  /// Reads a pack; nil when it is missing or damaged.
  ///
  /// - Parameter attempts: the number of reads that have to agree on that
  func entries(
    of pack: SyncPack, _ seal: SyncSeal?, attempts: Int = Self.attempts
  ) throws -> [SyncEntry]? {
    let key = try key(pack.name)
    for _ in 0..<attempts {
      let object: StoredObject?
      do throws(ObjectStoreError) {
        object = try requests.ifPresent { () throws(ObjectStoreError) in
          try store.get(key, limit: pack.bytes, cancellation: cancellation)
        }
      } catch {
        guard error.reason == .tooLarge else { throw error }
        continue
      }
      guard let object else { continue }
      do {
        return try pack.parse(object.body, seal)
      } catch let error as SatchelError where error.code == .damaged {
        continue
      }
    }
    return nil
  }

  /// Writes a pack, which is durable when `makeDurable` has returned.
  ///
  /// - Returns: false when the outcome is unknown
  func upload(_ upload: SyncPackUpload) throws -> Bool {
    let key = try key(upload.pack.name)
    for _ in 0..<Self.attempts {
      do throws(ObjectStoreError) {
        try requests.attempt { () throws(ObjectStoreError) in
          guard let lazy = store as? any LazyObjectStore else {
            _ = try store.put(
              key, upload.body, condition: .ifAbsent, metadata: .none, cancellation: cancellation)
            return
          }
          try lazy.putLazily(key, upload.body, cancellation: cancellation)
        }
        return true
      } catch {
        switch error.reason {
        // No other writer has this name: an earlier attempt wrote it.
        case .preconditionFailed: return true
        case .unknownOutcome: continue
        case .transient: return false
        default: throw error
        }
      }
    }
    return false
  }

  /// Makes the packs that were written durable; a head that names them may be written then.
  func makeDurable() throws { try (store as? any LazyObjectStore)?.makeDurable(packs) }

  /// The names and sizes of all packs that exist.
  func names() throws -> [String: Int64] {
    let entries = try requests.attempt { () throws(ObjectStoreError) in
      try store.list(packs, cancellation: cancellation)
    }
    var names: [String: Int64] = [:]
    for entry in entries {
      let name = String(entry.key.text.dropFirst(packs.text.count))
      if HexadecimalName.isName(name, digits: 32) { names[name] = entry.size }
    }
    return names
  }

  /// Deletes packs and objects of assets; a later sweep finds those that cannot be deleted.
  ///
  /// - Parameter strictly: whether to retry, and to throw the first error after all others were deleted
  func delete(_ names: [String], strictly: Bool = false) throws {
    var failure: ObjectStoreError?
    for name in names {
      do throws(ObjectStoreError) {
        try delete(key(dropped: name), attempts: strictly ? Self.attempts : 1)
      } catch {
        if error.reason == .cancelled { throw error }
        failure = failure ?? error
      }
    }
    if strictly, let failure { throw failure }
  }

  private func delete(_ key: ObjectKey, attempts: Int) throws(ObjectStoreError) {
    do throws(ObjectStoreError) {
      try store.delete(key, ifMatch: nil, cancellation: cancellation)
    } catch {
      switch error.reason {
      case .notFound: return
      case .transient where attempts > 1, .unknownOutcome where attempts > 1:
        try delete(key, attempts: attempts - 1)
      default: throw error
      }
    }
  }
}
