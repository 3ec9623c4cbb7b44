import SatchelCore
import SatchelRemote
import SatchelSync

extension Store {
  /// Keeps the store in sync on a thread of the library, as `sync` does with each call: at once, soon after commits of
  /// any handle or process that have something to send, and at an interval, by which the changes of other devices come.
  /// After a failure it tries again after 5 seconds, then after 10, and so on up to an hour, half of it at random.
  ///
  /// It goes on until `ContinuousSync.stop`, until the store closes, and until `signOut`, `detach` or `deleteAccount`
  /// ends the binding to the user: it does not bind the store again.
  ///
  /// - Parameters:
  ///   - remote: as of `sync`
  ///   - user: as of `sync`
  ///   - options: as of `sync`, for each sync; `first` is for the one that binds the store. `isDryRun`, `verify`,
  ///     `purge`, `acceptLoss` and `recreate` are for single calls
  ///   - seconds: from the end of a sync to the next one: 1 to 31,536,000, and up to a tenth more at random; nil for
  ///     syncs after commits and on request only
  ///   - network: returns the network, before each sync: without one it is asked again every 5 seconds; on a metered one
  ///     no assets are transferred. Called on the library's thread
  ///   - observer: called with each new state, on the library's thread, in order. It must not close the store
  /// - Throws: `SatchelError` `.invalid` for such options and for another interval, `.busy` when the store is kept in
  ///   sync already, `.readOnly`, `.closed`, `.noMemory`
  public func runSync(
    with remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
    every seconds: Int64? = 60, network: @escaping @Sendable () -> Network = { .free },
    observer: @escaping @Sendable (ContinuousSync.Status) -> Void = { _ in }
  ) throws -> ContinuousSync {
    _ = try identity(of: remote)
    let single = [
      ("dry run", options.isDryRun), ("verify", options.verify), ("purge", options.purge),
      ("accept loss", options.acceptLoss), ("recreate", options.recreate),
    ]
    if let (name, _) = single.first(where: \.1) {
      throw SatchelError(.invalid, "\(name): is for a single sync, and not for keeping a store in sync")
    }
    if let seconds, !(1...31_536_000).contains(seconds) {
      throw SatchelError(.invalid, "every: \(seconds) seconds are not between 1 and 31,536,000")
    }
    let new = try ContinuousSync(
      self, remote, user, options, interval: seconds.map { $0 * 1000 }, network: network, observer: observer)
    try continuousSync.withLock { known in
      if let known, known.status.state != .ended {
        throw SatchelError(.busy, "\(path): the store is kept in sync already; stop that first")
      }
      known = new
    }
    do {
      try new.start(self)
    } catch {
      new.stop()
      throw error
    }
    return new
  }

  func forget(_ sync: ContinuousSync) { continuousSync.withLock { if $0 === sync { $0 = nil } } }

  /// Ends keeping the store in sync, because it no longer belongs to the user.
  func endContinuousSync(_ reason: StaticString) {
    continuousSync.withLock { $0 }?.end(reporting: SatchelError(.foreign, "\(path): \(reason)"))
  }
}
