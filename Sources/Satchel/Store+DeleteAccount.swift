import SatchelCore
import SatchelJSON
import SatchelPhotos
import SatchelRemote
import SatchelSync
import SatchelStorage

/// The result of `Store.deleteAccount`.
public struct AccountDeletionReport: Sendable, Equatable, JSONConvertible {
  /// The number of objects that were deleted.
  public var objects = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0

  public var json: JSONValue { ["objects": .int(Int64(objects)), "requests": .int(requests)] }
}

extension Store {
  /// Deletes everything that a user has in a remote: closes the account, so that no device writes to it again, and
  /// then deletes all other objects of the user, photos included.
  ///
  /// Local content stays; `signOut` removes it. A device that meets the closed account changes nothing in the remote,
  /// and fails with `foreign`; only a sync with `first` `upload` opens it again. What other programs write to the
  /// photo catalogue afterwards stays. A call that was interrupted can be repeated, which deletes the rest.
  ///
  /// - Throws: `SatchelError`: `foreign` for another user than the owner of the local content; `invalid` in a batch,
  ///   and for a remote without conditional writes or without an identity; `newer` for a log of a newer version;
  ///   `unauthorized`, `unavailable`, `busy`, `cancelled`, `readOnly`
  @discardableResult
  public func deleteAccount(
    from remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> AccountDeletionReport {
    let session = try SyncSession(database, with: remote, user: user, options: options, progress: progress)
    return try session.withTurn(syncTurn) {
      try syncLog.checkBinding(remote: identity(of: remote), user: user)
      try session.report { $0.begin(.upload) }
      try session.checkConditions(under: ObjectPrefix("records/\(user)/"))
      var report = AccountDeletionReport()
      report.objects = try deleteAccount(in: session)
      endContinuousSync("the account was deleted")
      report.requests = session.traffic.requests
      return report
    }
  }

  /// Closes the account, and deletes its objects until none is left.
  ///
  /// - Returns: the number of deleted objects
  private func deleteAccount(in session: SyncSession) throws -> Int {
    let (closing, objects) = (try SyncLogClosing(session), UserObjects(session))
    let kept: Set = ["records/\(session.user)/head", "catalogs/\(session.user)/manifest.json"]
    let start = Clock.monotonic.now()
    var (count, failures) = (0, 0)
    while true {
      let head = try closing.read()
      let listed = try objects.list(except: kept)
      if head.isClosed, listed.isEmpty { return count }
      try PhotoCatalogue.close(session)
      if try closing.close(head, knownTo: syncLog) {
        count += try objects.delete(listed)
      } else {
        failures += 1
        try closing.pause(afterFailures: failures, since: start)
      }
    }
  }
}
