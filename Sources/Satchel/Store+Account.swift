import SatchelCore
import SatchelPhotos
import SatchelDocuments
import SatchelRemote
import SatchelSync
import SatchelState
import SatchelStorage

/// The end of a user's session.
extension Store {
  /// Ends the session of the user whom the content belongs to: unbinds the store, and removes what is the user's.
  ///
  /// That is: all records with their conflicts, the state that is marked for synchronizing, the reader's
  /// progress and purchases of stories, sensitive state, the rows of photo catalogues that were synchronized, the outbox file, and the encryption
  /// keys of this handle; their bytes leave the file and its WAL. What is the device's or the app's stays: the
  /// catalogue, other state, photo catalogues that were never synchronized, and declarations. Files of mirrors are
  /// written empty. Nothing of it is synchronized as a deletion. Handles stay usable, and live queries are notified.
  ///
  /// The content is removed in one transaction; what is left to do is completed by any later call, of any process, or
  /// when the store is opened. Blocks; waits for a sync in progress.
  ///
  /// - Parameters:
  ///   - remote: is synchronized with first, as the owner; nil synchronizes nothing
  ///   - options: of that sync; `isDryRun` and `first` have no effect
  ///   - unsent: what happens to changes that were never sent; without a sync, all since the last one
  /// - Returns: the report of the sync; nil without one
  /// - Throws: as `sync`; `conflict` with the number of changes that were never sent, which changes nothing; `busy`
  ///   when the user is signed out, and bytes are left because another handle reads or writes: the next call goes on;
  ///   `invalid` in a batch
  @discardableResult
  public func signOut(
    syncingWith remote: (any ObjectStore)? = nil, options: StoreSyncOptions = StoreSyncOptions(),
    unsent: UnsentChanges = .refuse, progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> StoreSyncReport? {
    try database.refuseNetworkWork("a store cannot be signed out in a batch")
    guard !isReadOnly else { throw SatchelError(.readOnly, "\(path): opened read-only") }
    try database.prepare(SyncLogSchema.subject)
    if try syncLog.isSigningOut() { try syncLog.finishSigningOut() }
    let report = try remote.flatMap { try syncForOwner(with: $0, options: options, progress: progress) }
    try SyncTurns.shared.withTurn(of: syncTurn, options.cancellation) {
      let owned = try database.read { try PhotoCatalogue.owned($0, of: database) }
      try PhotoCatalogue.withTurns(of: owned[...], in: database, options.cancellation) { try empty(unsent) }
      endContinuousSync("the user was signed out")
    }
    return report
  }

  /// Synchronizes as the owner, and the photo catalogues that belong to other users of the same remote.
  private func syncForOwner(
    with remote: any ObjectStore, options: StoreSyncOptions,
    progress: (@Sendable (SyncProgress) -> Bool)?
  ) throws -> StoreSyncReport? {
    var options = options
    (options.isDryRun, options.first) = (false, nil)
    let report = try syncLog.owner().map {
      try sync(with: remote, user: UserID($0.user), options: options, progress: progress)
    }
    for photos in try database.read({ try PhotoCatalogue.owned($0, of: database) })
    where photos.isBound && photos.unsent > 0 && photos.owner.remote == remote.identity {
      var photoOptions = SyncOptions()
      (photoOptions.retry, photoOptions.cancellation) = (options.retry, options.cancellation)
      let catalogue = try self.photos(in: photos.directory)
      defer { try? catalogue.close() }
      try catalogue.sync(with: remote, user: UserID(photos.owner.user), options: photoOptions)
    }
    return report
  }

  /// Removes what is the user's.
  ///
  /// - Throws: `SatchelError` `.conflict` for changes that were never sent, unless they are discarded
  private func empty(_ unsent: UnsentChanges) throws {
    if unsent == .refuse {
      _ = try saveChanges()
      try syncLog.finishBinding()
    } else {
      _ = try? saveChanges()
    }
    try database.write { transaction in
      if unsent == .refuse { try refuseUnsent(transaction.connection) }
      try recordStore.signOut(in: transaction)
      try state.signOut(in: transaction)
      try PhotoCatalogue.signOut(in: transaction, of: database)
      try SyncLogTables.signOut(in: transaction)
      try AssetStore.signOut(in: transaction, of: database)
      try ConditionProbeCache.forgetAll(transaction.connection, of: database)
      try ChangeLog.forget(transaction.connection)
      // Last: of all this, a failed commit brings only the file not back.
      try outbox.signOut(in: transaction, of: database)
    }
    database.keyring.forgetAll()
    let mirrors = Result { try recordStore.didSignOut() }
    try syncLog.finishSigningOut()
    if try database.has(AssetSchema.subject), try assets.collect() > 0 {
      throw SatchelError(
        .busy,
        "\(path): the user is signed out, but files of assets are in use; sign out again to delete them")
    }
    try mirrors.get()
  }

  private func refuseUnsent(_ connection: Connection) throws {
    guard !outbox.isSpooled else {
      throw SatchelError(
        .conflict,
        "the outbox file has changes that the store cannot accept; flush them, or discard what is unsent")
    }
    let content =
      try SyncLogTables.unsent(connection)
      ?? recordStore.countForSync(connection) + state.countForSync(connection)
    let photos = try PhotoCatalogue.owned(connection, of: database).reduce(0) { $0 + $1.unsent }
    if content + photos > 0 {
      throw SatchelError(
        .conflict, "\(content + photos) changes were never sent; synchronize, or discard what is unsent")
    }
  }

  /// Removes what the store has before its first sync as a user.
  func discardForFirstSync(with remote: String, as user: UserID) throws {
    guard try !syncLog.checkBinding(remote: remote, user: user, first: .discard) else { return }
    try database.prepare(SyncLogSchema.subject)
    try empty(.discard)
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Store {
    /// Ends the session on a thread of its own, like the blocking form; cancelling the task cancels its sync.
    @discardableResult
    public func signOut(
      syncingWith remote: (any ObjectStore)? = nil, options: StoreSyncOptions = StoreSyncOptions(),
      unsent: UnsentChanges = .refuse, progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> StoreSyncReport? {
      try await options.onOwnThread { options in
        try self.signOut(syncingWith: remote, options: options, unsent: unsent, progress: progress)
      }
    }

    /// Deletes an account on a thread of its own, like the blocking form; cancelling the task cancels it.
    @discardableResult
    public func deleteAccount(
      from remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> AccountDeletionReport {
      try await options.onOwnThread { options in
        try self.deleteAccount(from: remote, user: user, options: options, progress: progress)
      }
    }
  }
#endif
