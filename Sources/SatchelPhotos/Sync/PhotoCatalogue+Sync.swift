import SatchelRemote
import SatchelStorage

extension PhotoCatalogue {
  /// Brings the catalogue and its master copy into agreement. Blocks; syncs of one catalogue take turns, while
  /// everything else goes on. A shard that fails stays pending and does not stop the others: see `failed`.
  ///
  /// - Parameters:
  ///   - store: where the master is
  ///   - user: whose catalogue
  ///   - progress: hears how far it has come, never twice at once, and cancels by false
  /// - Throws: `SatchelError`: `invalid` for a store that ignores conditions, and in a batch, `foreign` when the master is another
  ///   catalogue than the one agreed with, `cancelled`, `busy` when the store does not answer
  public func sync(
    with store: any ObjectStore, user: UserID, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> SyncReport {
    try database.refuseNetworkWork("photos cannot be synchronised in a batch")
    let turn = SyncTurns.Subject(database: database, name: "photos " + directory)
    return try SyncTurns.shared.take(turn, options.cancellation) {
      let clock = database.clock
      return try SyncRun.perform(
        on: self, with: store, user: user, options: options, probed: ProbedStores(database),
        progress: progress, now: { clock.now() })
    }
  }
}

extension SyncRun {
  /// Sets up a sync, carries it out, and counts its requests.
  static func perform(
    on ledger: any SyncLedger, with store: any ObjectStore, user: UserID, options: SyncOptions,
    probed: ProbedStores, rules: SyncRules = SyncRules(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil,
    now: @escaping @Sendable () -> Int64
  ) throws -> SyncReport {
    let (report, traffic) = try run(
      on: ledger, with: store, user: user, options: options, probed: probed, rules: rules, progress: progress,
      now: now
    ) { try $0.run() }
    return report.counting(traffic)
  }

  /// Sets up a run for whatever is to be done with it.
  ///
  /// - Parameter only: the only shards that it looks at; nil for all
  static func run<Result>(
    on ledger: any SyncLedger, with store: any ObjectStore, user: UserID, options: SyncOptions,
    only: Set<Shard.Index>? = nil, probed: ProbedStores, rules: SyncRules = SyncRules(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil,
    now: @escaping @Sendable () -> Int64, _ body: (SyncRun) throws -> Result
  ) throws -> (Result, Traffic) {
    let meter = MeteredStore(store)
    let teller = ProgressTeller(SyncProgress(), meter, progress)
    let cancellation = Cancellation { teller.isCancelled || options.cancellation.isCancelled() }
    let accepts = options.acceptsUnconditional
    do {
      let remote = try SyncRemote(store: meter, user: user, retry: options.retry, cancellation: cancellation)
      let run = SyncRun(
        ledger: ledger, remote: remote, user: user, options: options, rules: rules, only: only,
        progress: teller, now: now
      ) {
        if accepts { return }
        try probed.check(
          store, asking: meter, under: remote.prefix, retry: options.retry, cancellation: cancellation)
      }
      let result = try body(run)
      return (result, meter.traffic)
    } catch {
      throw SyncRun.told(error)
    }
  }
}

extension SyncReport {
  fileprivate func counting(_ traffic: Traffic) -> SyncReport {
    var report = self
    report.requests = traffic.requests
    if !isDryRun {
      report.bytesUp = traffic.bytesUp
      report.bytesDown = traffic.bytesDown
    } else {
      // What the dry run itself read would be read again.
      report.bytesDown += traffic.bytesDown
    }
    return report
  }
}
