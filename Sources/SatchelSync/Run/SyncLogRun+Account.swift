import SatchelCore
import SatchelRemote

/// A log whose account was closed, and a remote that lost everything.
extension SyncLogRun {
  static var closed: SatchelError { UserObjects.closed }

  /// Ends the sync at a closed head, or begins a new log over it.
  mutating func meetClosed(
    _ head: SyncHead, etag: ETag, failures: Int, _ state: inout SyncLogState
  ) throws -> SatchelError? {
    let position = state.position
    guard options.reopens else {
      // A stale response may be from before the account was opened again.
      if let position, head.isOlder(than: position), failures < 3 {
        return SatchelError(.unavailable, "the remote returned an older version than before; try again")
      }
      throw Self.closed
    }
    try finishPhase(&state)
    let known = position.flatMap { head.position.isImpossible(after: $0) ? $0 : nil } ?? head.position
    try create(after: known.next(after: position, isRenumbered: true), base: etag, state)
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
///
/// The objects to delete are listed between reading the head and replacing it: a listing after it could name the packs
/// of a log that another device has begun over the closed one.
package struct SyncLogClosing {
  /// A head that is to be replaced.
  package struct Known {
    fileprivate var position: SyncHead.Position
    /// Nil where the remote has no head.
    fileprivate var etag: ETag?
    package fileprivate(set) var isClosed = false
  }

  private let remote: SyncLogRemote

  package init(_ session: SyncSession) throws {
    remote = try SyncLogRemote(
      session.store, user: session.user, keys: nil, retry: session.retry, cancellation: session.cancellation)
  }

  /// Reads the head, whatever it is and whatever it is encrypted with.
  ///
  /// - Throws: `SatchelError` `.newer` for a log of a newer format; `ObjectStoreError`
  package func read() throws -> Known {
    switch try remote.look(unless: nil, isExpected: true) {
    case .head(let head, let etag): return Known(position: head.position, etag: etag, isClosed: head.isClosed)
    case .damaged(let etag, _, _): return Known(position: SyncLogRun.unknownPosition, etag: etag)
    case .invalid(let etag, _):
      return Known(position: SyncLogRun.unknownPosition, etag: try etag ?? remote.etagOfHead())
    case .absent, .unchanged: return Known(position: SyncHead.Position(epoch: 0, log: "", number: 0))
    }
  }

  /// Replaces a head by a closed one, if it is still there.
  ///
  /// - Parameter tables: of a store that may know a later position than the remote
  /// - Returns: whether it was
  package func close(_ known: Known, knownTo tables: SyncLogTables) throws -> Bool {
    let position = try SyncTracking.isBound(tables.database) ? tables.state().position : nil
    var head = SyncHead(beginning: known.position.next(after: position, isRenumbered: true))
    head.isClosed = true
    return try remote.replaceHead(remote.signed(&head), base: known.etag) != nil
  }

  /// Waits before another attempt.
  package func pause(afterFailures failures: Int, since start: Int64) throws {
    guard failures < SyncLogOptions().rounds else { throw SyncLogRun.raced }
    try remote.pause(afterFailures: failures, since: start, SyncLogRun.raced)
  }
}
