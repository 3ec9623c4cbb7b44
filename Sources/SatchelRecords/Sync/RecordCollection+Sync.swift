import SatchelCore
import SatchelRemote
import SatchelStorage

extension RecordCollection {
  /// Synchronizes the collection with its remote copy: one object for each record,
  /// "records/{user}/{collection}/{id}.json". Blocks; syncs of one collection run one after another, while
  /// everything else goes on. A record that fails stays pending, is retried with increasing delays, and does
  /// not stop the others: see `failed`.
  ///
  /// - Parameters:
  ///   - store: the object store of the remote copy
  ///   - user: the user whose records these are
  ///   - progress: is called with the progress, never concurrently; returning false cancels the sync
  /// - Throws: `SatchelError`: `invalid` for a store without conditional writes, and in a batch; `foreign`
  ///   when the collection is synchronized with another user's records; `cancelled`; `busy` when the store
  ///   does not answer
  public func sync(
    with store: any ObjectStore, user: UserID, options: RecordSyncOptions = RecordSyncOptions(),
    progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil
  ) throws -> RecordSyncReport {
    let database = self.store.database
    try database.refuseNetworkWork("a collection cannot be synchronized in a batch")
    let turn = SyncTurns.Subject(database: database, name: "records " + name)
    let prefix = try ObjectPrefix("records/\(user)/")
    return try SyncTurns.shared.withTurn(turn, options.cancellation) {
      try RecordSyncRun.perform(
        on: self, of: name, with: store, user: user, options: options, progress: progress,
        now: { database.clock.now() },
        probe: { asked, cancellation in
          try ConditionProbeCache(database).check(
            store, through: asked, under: prefix, retry: options.retry, cancellation: cancellation)
        })
    }
  }
}
