import SatchelRemote
import SatchelStorage

extension RecordCollection {
  /// Brings the collection and its master copy into agreement: an object a record, "records/{user}/{collection}/{id}.json".
  /// Blocks; syncs of one collection take turns, while everything else goes on. A record that fails stays pending, is
  /// tried again later and later, and does not stop the others: see `failed`.
  ///
  /// - Parameters:
  ///   - store: where the master is
  ///   - user: whose records
  ///   - progress: hears how far it has come, never twice at once, and cancels by false
  /// - Throws: `SatchelError`: `invalid` for a store that ignores conditions, and in a batch, `foreign` when the collection agrees with
  ///   another user's records, `cancelled`, `busy` when the store does not answer
  public func sync(
    with store: any ObjectStore, user: UserID, options: RecordSyncOptions = RecordSyncOptions(),
    progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil
  ) throws -> RecordSyncReport {
    let database = self.store.database
    try database.refuseNetworkWork("a collection cannot be synchronised in a batch")
    let turn = SyncTurns.Subject(database: database, name: "records " + name)
    let prefix = try ObjectPrefix("records/\(user)/")
    return try SyncTurns.shared.take(turn, options.cancellation) {
      try RecordSyncRun.perform(
        on: self, of: name, with: store, user: user, options: options, progress: progress,
        now: { database.clock.now() },
        probe: { asked, cancellation in
          try ProbedStores(database).check(
            store, asking: asked, under: prefix, retry: options.retry, cancellation: cancellation)
        })
    }
  }
}
