import SatchelCore
import SatchelRemote
import SatchelSync
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
  /// - Throws: `SatchelError`: `invalid` for a store without conditional writes, and in a batch, `foreign`
  ///   when the remote is another catalogue than at the last sync, or the rows belong to another user, `cancelled`, `busy` when the store does
  ///   not answer
  @discardableResult
  public func sync(
    with store: any ObjectStore, user: UserID, options: SyncOptions = SyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> SyncReport {
    try options.onConflict?.checkForPhotos()
    return try sync(
      in: SyncSession(database, with: store, user: user, options: options, progress: progress), options)
  }

  /// Synchronizes the catalogue, alone or as a part of the store.
  package func sync(in session: SyncSession, _ options: SyncOptions) throws -> SyncReport {
    try session.withTurn(syncTurn) {
      let before = session.traffic
      try checkOwner(session, options)
      try checkPlace(of: session.remote, recreates: options.recreate)
      var report = try run(in: session, options).run()
      report.add(session.traffic - before, isDryRun: options.isDryRun)
      if !options.isDryRun {
        try bind(to: session.store.identity, user: session.user)
        try notePlace(of: session.remote)
      }
      return report
    }
  }

  /// Serializes synchronizing and verifying the catalogue.
  var syncTurn: SyncTurns.Subject { SyncTurns.Subject(database: database, name: "photos " + directory) }

  /// Creates a run; with the declared policy when the options name none.
  ///
  /// - Parameter only: the shards to which the run is limited; nil for all
  func run(in session: SyncSession, _ options: SyncOptions, only: Set<Shard.Index>? = nil) throws -> SyncRun {
    var options = options
    options.onConflict = try options.onConflict ?? onConflict()
    let clock = database.clock
    return try SyncRun(self, in: session, options: options, only: only) { clock.now() }
  }

  /// Binds the catalogue to the object store and the user of its first sync, also when nothing was
  /// transferred: a sync of the whole store with both includes it.
  private func bind(to remote: String?, user: UserID) throws {
    let isBound = try read(otherwise: false) { connection, id in
      try connection.number(
        "SELECT user IS NOT NULL AND owner IS NOT NULL AND (remote IS NOT NULL OR ?) FROM photo_catalogue WHERE id = ?",
        .integer(remote == nil ? 1 : 0), .integer(id)) > 0
    }
    if isBound || database.options.isReadOnly { return }
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection).bind(id, to: remote, user: user.text)
    }
  }

  /// The directory of the catalogue that was first synchronized with an object store as a user; nil before that.
  /// The store must have the tables of photos.
  package static func directory(
    boundTo remote: String, user: UserID, in database: Database
  ) throws -> String? {
    try database.read { connection in
      try connection.first(
        "SELECT directory FROM photo_catalogue WHERE remote = ? AND user = ? ORDER BY id LIMIT 1",
        .text(remote),
        .text(user.text)
      ) { $0.text(0) }
    }
  }
}

extension SyncReport {
  fileprivate mutating func add(_ traffic: Traffic, isDryRun: Bool) {
    requests += traffic.requests
    // The sync would read the same objects again, and write the bytes that the dry run has counted.
    bytesUp = isDryRun ? bytesUp : traffic.bytesUp
    bytesDown += traffic.bytesDown
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension PhotoCatalogue {
    /// Synchronizes on a separate thread, like the blocking form; cancelling the task cancels the sync.
    @discardableResult
    public func sync(
      with store: any ObjectStore, user: UserID, options: SyncOptions = SyncOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> SyncReport {
      try await options.onOwnThread { options in
        try self.sync(with: store, user: user, options: options, progress: progress)
      }
    }
  }
#endif
