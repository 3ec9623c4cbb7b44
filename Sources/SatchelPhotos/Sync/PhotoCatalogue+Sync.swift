import SatchelCore
import SatchelRemote
import SatchelStorage

extension PhotoCatalogue {
  /// Synchronizes the catalogue with its remote. Blocks; syncs of one catalogue run one after the other, and
  /// other calls do not wait for them. A shard that fails stays pending and does not stop the others: see
  /// `failed`.
  ///
  /// - Parameters:
  ///   - store: the object store of the remote
  ///   - user: the owner of the catalogue in the store
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError`: `invalid` for a store that ignores conditions, and in a batch, `foreign` when
  ///   the remote is another catalogue than at the last sync, `cancelled`, `busy` when the store does not
  ///   answer
  public func sync(
    with store: any ObjectStore, user: UserID, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> SyncReport {
    try options.onConflict?.checkForPhotos()
    try database.refuseNetworkWork("photos cannot be synchronized in a batch")
    let turn = SyncTurns.Subject(database: database, name: "photos " + directory)
    return try SyncTurns.shared.withTurn(turn, options.cancellation) {
      let clock = database.clock
      let options = try resolve(options)
      let report = try SyncRun.perform(
        on: self, with: store, user: user, options: options, probed: ConditionProbeCache(database),
        progress: progress, now: { clock.now() })
      if !options.isDryRun { try bind(to: store.identity, user: user) }
      return report
    }
  }

  /// Binds the catalogue to the object store and the user of its first sync, whatever that found: a sync of the whole
  /// store with both includes it.
  private func bind(to remote: String?, user: UserID) throws {
    let isBound = try read(otherwise: false) { connection, id in
      try connection.number(
        "SELECT user IS NOT NULL AND (remote IS NOT NULL OR ?) FROM photo_catalogue WHERE id = ?",
        .integer(remote == nil ? 1 : 0), .integer(id)) > 0
    }
    if isBound || database.options.isReadOnly { return }
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection).bind(id, to: remote, user: user.text)
    }
  }

  /// Puts the declared policy in where the options name none.
  func resolve(_ options: SyncOptions) throws -> SyncOptions {
    var options = options
    options.onConflict = try options.onConflict ?? onConflict()
    return options
  }

  /// The directory of the catalogue that was first synchronized with an object store as a user; nil when there is none.
  package static func directory(
    boundTo remote: String, user: UserID, in database: Database
  ) throws -> String? {
    guard try database.has(PhotoSchema.subject) else { return nil }
    return try database.read { connection in
      try connection.first(
        "SELECT directory FROM photo_catalogue WHERE remote = ? AND user = ? ORDER BY id LIMIT 1",
        .text(remote),
        .text(user.text)
      ) { $0.text(0) }
    }
  }
}

extension SyncRun {
  /// Runs a sync, and counts its requests.
  static func perform(
    on ledger: any SyncLedger, with store: any ObjectStore, user: UserID, options: SyncOptions,
    probed: ConditionProbeCache, progress: (@Sendable (SyncProgress) -> Bool)? = nil,
    now: @escaping @Sendable () -> Int64
  ) throws -> SyncReport {
    let (report, traffic) = try run(
      on: ledger, with: store, user: user, options: options, probed: probed, progress: progress, now: now
    ) { try $0.run() }
    return report.counting(traffic)
  }

  /// Makes a run, and passes it to `body`.
  ///
  /// - Parameter only: the shards to which the run is limited; nil for all
  static func run<Result>(
    on ledger: any SyncLedger, with store: any ObjectStore, user: UserID, options: SyncOptions,
    only: Set<Shard.Index>? = nil, probed: ConditionProbeCache,
    progress: (@Sendable (SyncProgress) -> Bool)? = nil,
    now: @escaping @Sendable () -> Int64, _ body: (SyncRun) throws -> Result
  ) throws -> (Result, Traffic) {
    let meter = MeteredStore(store)
    let reporter = ProgressReporter(SyncProgress(), meter, progress)
    let cancellation = Cancellation { reporter.isCancelled || options.cancellation.isCancelled() }
    let accepts = options.allowUnsafeRemote
    do {
      let remote = try SyncRemote(store: meter, user: user, retry: options.retry, cancellation: cancellation)
      let run = SyncRun(
        ledger: ledger, remote: remote, user: user, options: options, only: only, progress: reporter, now: now
      ) {
        if accepts { return }
        try probed.check(
          store, through: meter, under: remote.prefix, retry: options.retry, cancellation: cancellation)
      }
      let result = try body(run)
      return (result, meter.traffic)
    } catch {
      throw SyncRun.satchelError(error)
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
      // The sync would read again what the dry run has read.
      report.bytesDown += traffic.bytesDown
    }
    return report
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension PhotoCatalogue {
    /// Synchronizes on a thread of its own, like the blocking form; cancelling the task cancels the sync.
    public func sync(
      with store: any ObjectStore, user: UserID, options: SyncOptions = SyncOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> SyncReport {
      try await options.cancellation.onOwnThread { cancellation in
        var options = options
        options.cancellation = cancellation
        return try self.sync(with: store, user: user, options: options, progress: progress)
      }
    }
  }
#endif
