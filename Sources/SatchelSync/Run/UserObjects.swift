import SatchelCore
import SatchelRemote

/// All objects of one user in an object store.
package struct UserObjects: Sendable {
  /// The first components of keys, before the user.
  private static let subjects = ["records", "catalogs", "photos", "assets", "photo-index"]

  /// The error of a device that meets a closed account.
  package static var closed: SatchelError {
    SatchelError(
      .foreign,
      "account closed: the user's data was deleted with delete_account; sign_out removes the local copy, and "
        + "first=\"upload\" opens the account again")
  }

  private let store: any ObjectStore
  private let user: UserID
  private let requests: RetryingRequests
  private let cancellation: Cancellation

  package init(_ session: SyncSession) {
    self.init(session.store, user: session.user, retry: session.retry, cancellation: session.cancellation)
  }

  init(_ store: any ObjectStore, user: UserID, retry: Retry, cancellation: Cancellation) {
    self.store = store
    self.user = user
    self.cancellation = cancellation
    requests = RetryingRequests(retry: retry, cancellation: cancellation)
  }

  private var prefixes: [ObjectPrefix] {
    get throws {
      try Self.subjects.map { subject throws(ObjectStoreError) in try ObjectPrefix("\(subject)/\(user)/") }
    }
  }

  /// Refuses a remote that was synchronized with before and has no object of the user at all: it is likelier another
  /// place, or one that is not mounted, than one whose data everybody has lost.
  ///
  /// - Throws: `SatchelError` `.unavailable`; `ObjectStoreError`
  package func refuseEmpty() throws {
    for prefix in try prefixes {
      let page = try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, from: nil, limit: 1, cancellation: cancellation)
      }
      if !page.entries.isEmpty || page.next != nil { return }
    }
    throw SatchelError(
      .unavailable,
      "the remote is empty: it has no object of \"\(user)\", although this device has synchronized with it before; if "
        + "it really lost everything, recreate sends everything again")
  }

  /// Lists all objects except those with the keys.
  package func list(except kept: Set<String>) throws -> [ObjectKey] {
    try prefixes.flatMap { prefix in
      try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, cancellation: cancellation)
      }.map(\.key)
    }.filter { !kept.contains($0.text) }
  }

  /// Deletes objects; those that are missing already are not counted.
  ///
  /// - Returns: the number of deleted objects
  package func delete(_ keys: [ObjectKey]) throws -> Int {
    try keys.reduce(0) { count, key in
      try cancellation.check()
      let isThere: Void? = try requests.ifPresent { () throws(ObjectStoreError) in
        try store.delete(key, ifMatch: nil, cancellation: cancellation)
      }
      return isThere == nil ? count : count + 1
    }
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
    let position = try SyncTracker.isBound(tables.database) ? tables.state().position : nil
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
