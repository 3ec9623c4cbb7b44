import SatchelCore

/// A log whose account was closed, and a remote that lost everything.
extension SyncLogRun {
  static var closed: SatchelError { UserObjects.closed }

  /// Ends the sync at a closed head, or begins a new log over it.
  mutating func meetClosed(_ head: SyncHead, _ etag: ETag, _ failures: Int) throws -> SatchelError? {
    let position = try ledger.state().position
    guard options.reopens else {
      // A stale response may be from before the account was opened again.
      if let position, head.isOlder(than: position), failures < 3 {
        return SatchelError(.unavailable, "the remote returned an older version than before; try again")
      }
      throw Self.closed
    }
    try finishPhase()
    try create(after: Self.position(after: head.position, position), base: etag)
    return SatchelError(.unavailable, "the account was closed and is being opened again; try again")
  }

  /// - Throws: `SatchelError` `.unavailable` for a remote without any object of the user
  func refuseEmptyRemote() throws {
    if options.recreates { return }
    try UserObjects(
      remote.store, user: remote.user, retry: options.retry, cancellation: options.cancellation
    ).refuseEmpty()
  }
}

/// Closes the sync log of a user whose account is deleted.
package struct SyncLogClosing {
  private let session: SyncSession

  package init(_ session: SyncSession) { self.session = session }

  /// Replaces the head by a closed one, whatever it is and whatever it is encrypted with.
  ///
  /// - Parameter tables: of a store that may know a later position than the remote
  /// - Throws: `SatchelError` `.newer` for a log of a newer format, `.busy`; `ObjectStoreError`
  package func close(knownTo tables: SyncLogTables) throws {
    let remote = try SyncLogRemote(
      session.store, user: session.user, keys: nil, retry: session.retry, cancellation: session.cancellation)
    let known = try SyncTracking.isBound(tables.database) ? tables.state().position : nil
    let start = Clock.monotonic.now()
    var failures = 0
    while true {
      let (position, base) = try Self.head(of: remote)
      guard let position else { return }
      var head = SyncHead(beginning: SyncLogRun.position(after: position, known))
      head.isClosed = true
      if try remote.replaceHead(head.serialized(), base: base) != nil { return }
      failures += 1
      try remote.pause(afterFailures: failures, since: start, SyncLogRun.raced)
    }
  }

  /// - Returns: the position and the ETag to replace; nil for a log that is closed already
  private static func head(of remote: SyncLogRemote) throws -> (SyncHead.Position?, ETag?) {
    switch try remote.look(unless: nil, isExpected: true) {
    case .head(let head, _) where head.isClosed: return (nil, nil)
    case .head(let head, let etag): return (head.position, etag)
    case .damaged(let etag, _, _), .invalid(let etag, _): return (SyncLogRun.unknownPosition, etag)
    case .absent, .unchanged: return (SyncHead.Position(epoch: 0, log: "", number: 0), nil)
    }
  }
}
