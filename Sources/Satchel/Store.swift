@_exported import SatchelAssets
@_exported import SatchelCatalogue
@_exported import SatchelCore
@_exported import SatchelDocuments
@_exported import SatchelJSON
@_exported import SatchelPhotos
@_exported import SatchelRecords
@_exported import SatchelRemote
@_exported import SatchelState
@_exported import SatchelStorage
@_exported import SatchelStories
@_exported import SatchelSync
@_exported import SatchelTwee

/// An open store: one SQLite file, and the subjects that live in it.
///
/// Safe to use from any number of threads; several processes may open the same file.
public final class Store: Sendable {
  /// The library's version, "major.minor.patch".
  public static let version = "0.1.0"

  /// The version of the library and that of SQLite, as `satchel --version` prints them.
  public static var versionDetails: String {
    let sqlite = SQLiteVersion.current
    let bug = sqlite.hasWALResetBug ? "its WAL-reset bug is prevented" : "without the WAL-reset bug"
    return "\(version) (SQLite \(sqlite), \(bug))"
  }

  package let database: Database
  let outbox: Outbox
  private let lazyCatalogue = Lazy<Catalogue>()
  private let lazyAssets = Lazy<AssetStore>()
  private let lazyState = Lazy<StateStore>()
  private let lazyRecords = Lazy<RecordStore>()
  /// The photo catalogues that are in use; `close()` releases their leases.
  private let photoCatalogues = Locked<[WeakCatalogue]>([])
  /// Keeps the store in sync, unless it has ended.
  let continuousSync = Locked<ContinuousSync?>(nil)

  private struct WeakCatalogue {
    weak var photos: PhotoCatalogue?
  }

  /// Opens a store and creates the file if it does not exist.
  ///
  /// - Parameter path: the file, or ":memory:"
  /// - Throws: `SatchelError` `.foreign`, `.damaged`, `.newer`, `.notFound`, `.readOnly`, `.io`; the file is
  ///   not changed then
  public init(path: String, options: StoreOptions = StoreOptions()) throws {
    database = try Database.open(
      path: path, options: options, migrations: Self.migrations, subjects: Self.subjects,
      rules: Self.rules)
    outbox = Outbox(path: database.realPath)
    outbox.completeRegistrations { [weak self] in self?.useAll() ?? false }
    database.keyring.completeRegistrations { [weak self] in _ = self?.useAll() }
    database.keyring.whenSet { [weak self] in
      guard let self, !database.options.isReadOnly, !database.isInTransaction else { return }
      // The next sync decides about entries that cannot be decided now.
      try? syncLog.keyWasSet { try RecordSyncClient(recordStore).waitingForKey($0) }
    }
    if database.options.isReadOnly { return }
    // Before the outbox is drained, which could hold writes of the user who signed out.
    if database.subjectsWhenOpened.contains("sync") { try? syncLog.finishSigningOut() }
    // Writes that failed earlier are spooled in the outbox file; those that fail again stay there.
    if outbox.isSpooled { _ = try? outbox.drain(in: database) }
  }

  deinit {
    continuousSync.withLock { $0 }?.stop()
    lazyRecords.known?.release()
  }

  // MARK: The subjects, made when they are first used

  /// The content that is scoped to places.
  public var catalogue: Catalogue {
    lazyCatalogue.value {
      // Not the store: the catalogue may outlive it.
      let (lazyAssets, database) = (lazyAssets, database)
      return Catalogue(database: database) { Self.assets(lazyAssets, database) }
    }
  }

  /// The bytes that documents refer to: pictures, sounds, files.
  public var assets: AssetStore { Self.assets(lazyAssets, database) }

  private static func assets(_ lazyAssets: Lazy<AssetStore>, _ database: Database) -> AssetStore {
    lazyAssets.value {
      let assets = AssetStore(database, pinned: Catalogue.pinnedAssets)
      assets.saveReadsWhenClosing()
      AssetStore.registerSealed(in: database)
      return assets
    }
  }

  /// The app's small, frequently changed values.
  public var state: StateStore { lazyState.value { StateStore(recordStore) } }

  var recordStore: RecordStore {
    lazyRecords.value {
      let records = RecordStore(database: database, outbox: outbox)
      records.onDeclaration { [weak self] in
        try self?.syncLog.reconcile()
        try self?.syncLog.decideAll()
      }
      return records
    }
  }

  var syncLog: SyncLogTables {
    SyncLogTables(database, client: StoreSyncClient(recordStore, assets) { self.state })
  }

  /// Makes the subjects that register what they do with the outbox and the keys.
  private func useAll() -> Bool {
    _ = (recordStore, state, assets)
    return true
  }

  /// The subjects whose tables are created on first use, by the names that their schemas have.
  static let subjects =
    (SQLiteVersion.hasRTree
      ? [
        SubjectSchema("position") { PositionIndex.subject },
        SubjectSchema("points") { RecordPositionIndex.subject },
      ] : []) + [
      SubjectSchema("search") { SearchIndex.subject }, SubjectSchema("refresh") { RefreshSchema.subject },
      SubjectSchema("regions") { RegionSchema.subject },
      SubjectSchema("stories") { StorySchema.subject },
      SubjectSchema("photos") { PhotoSchema.subject }, SubjectSchema("remotes") { RemoteSchema.subject },
      SubjectSchema("sync") { SyncLogSchema.subject }, SubjectSchema("records") { RecordSchema.subject },
      SubjectSchema("outbox") { OutboxSchema.subject }, SubjectSchema("mirrors") { MirrorSchema.subject },
      SubjectSchema("clock") { ClockSchema.subject },
      SubjectSchema("conflicts") { ConflictSchema.subject }, SubjectSchema("assets") { AssetSchema.subject },
      SubjectSchema("searched") { RecordSearchState.subject },
      SubjectSchema("texts") { RecordTextIndex.subject },
    ]

  /// The migrations of the store's schema, oldest first. A released migration is never changed. The other
  /// subjects create their tables on first use.
  static let migrations = [
    Migration(version: 1, sql: ChangeLog.schema + CatalogueSchema.version1)
  ]

  /// Closes the store; every acknowledged write is in the file. Releasing the last reference closes the
  /// store, too.
  ///
  /// - Throws: `.closed` when the store was closed before; `.busy` inside a callback of this store, which
  ///   leaves it open; the error of the final write, after which the store is closed nevertheless
  public func close() throws {
    try database.refuseClosingInCallback()
    continuousSync.withLock { $0 }?.stop()
    lazyCatalogue.known?.stopRefreshing()
    // Errors are ignored: a lease that cannot be released now is reclaimed once its owner is no longer alive.
    for catalogue in photoCatalogues.withLock({ $0 }) { try? catalogue.photos?.close() }
    try database.close()
  }

  /// The path that the store was opened with.
  public var path: String { database.path }
  public var isReadOnly: Bool { database.options.isReadOnly }
  /// The path that a file which could not be opened was renamed to; nil unless `StoreOptions.quarantine` was
  /// set and used.
  public var quarantinePath: String? { database.quarantinePath }

  /// Checks the whole file; the time grows with the file's size.
  ///
  /// - Returns: the findings; empty for a sound store
  /// - Throws: `SatchelError` `.io`, `.closed`; `.cancelled` and `.timedOut`: see `Interrupt`
  public func check() throws -> [StoreFinding] { try database.interruptible { try checkAll() } }

  private func checkAll() throws -> [StoreFinding] {
    do {
      var findings = try database.checkIntegrity()
      // The further checks need tables that SQLite can read.
      if findings.isEmpty { findings = try database.checkSchema(Self.migrations, Self.subjects) }
      if !findings.isEmpty { return findings }
      // Checked before the subjects, whose queries rely on valid values.
      findings = try database.checkValues(Self.rules, Self.subjects)
      return try findings + database.checkClock() + checkSubjects() + database.checkWAL()
    } catch let error as SatchelError where error.code == .damaged {
      // SQLite's integrity check itself failed.
      return [StoreFinding(code: "damaged", message: error.message)]
    }
  }

  /// Checks each subject's invariants between rows. A subject that cannot be read yields a finding; the other
  /// subjects are still checked.
  private func checkSubjects() -> [StoreFinding] {
    let subjects: [() throws -> [StoreFinding]] = [
      { try self.catalogue.check() }, { try PhotoCatalogue.check(self.database) },
      { try StoryLibrary.check(self.database) },
      { try SyncLogCheck.check(self.database, documents: self.syncLog.documents) },
      { try RecordCollection.check(self.database) },
      { try StateStore.check(self.database) },
      { try AssetStore.check(self.database) },
      { try self.outbox.check(self.database) },
    ]
    return subjects.flatMap { check in
      do {
        return try check()
      } catch {
        return [StoreFinding(code: "damaged", message: (error as? SatchelError)?.message ?? "\(error)")]
      }
    }
  }

  /// The valid values in the tables that every store has.
  static let rules = ChangeLog.rules.merging(CatalogueSchema.rules)

  /// Returns the photo catalogue of a directory.
  ///
  /// - Parameters:
  ///   - directory: need not exist; different paths to one directory give the same catalogue
  ///   - onConflict: declares the policy for shards that were changed both here and remotely, `remoteWins` or `merge`;
  ///     nil keeps the declared one, at first `remoteWins`
  /// - Returns: a new object for each call
  /// - Throws: `SatchelError` `.invalid` for an invalid path, and for a policy that photos do not support; `.readOnly`
  ///   for another policy in a store that was opened read-only; `.newer`, `.io`, `.closed`
  public func photos(in directory: String, onConflict: ConflictPolicy? = nil) throws -> PhotoCatalogue {
    let photos = try PhotoCatalogue(database: database, directory: directory, onConflict: onConflict)
    photoCatalogues.withLock { catalogues in
      catalogues.removeAll { $0.photos == nil }
      catalogues.append(WeakCatalogue(photos: photos))
    }
    return photos
  }

  /// Returns the story library of a directory; the store keeps its index.
  ///
  /// - Parameter name: the name under which the state keeps the reader's progress and purchases, the same on all
  ///   devices: 1 to 128 bytes without a slash; nil for the last component of the directory's real path. Libraries with
  ///   the same name share them.
  /// - Returns: a new library for each call; the files are not read yet
  /// - Throws: `SatchelError` `.notFound` when the directory does not exist, `.invalid` when the path is not
  ///   a directory, and for an invalid name; `.io`, `.closed`
  public func stories(in directory: String, named name: String? = nil) throws -> StoryLibrary {
    try StoryLibrary(
      database: database, state: state, directory: directory, name: name, sources: [.json, .twee])
  }

  /// Returns the unused pages of the file to the file system, in steps, while other threads and processes read and
  /// write. Deleting leaves such pages in the file; without this call it keeps its size.
  ///
  /// - Parameter progress: called with the numbers of released and of all unused pages, on the calling thread; returns
  ///   false to cancel
  /// - Throws: `SatchelError` `.cancelled`, after which the next call continues; `.invalid` inside a transaction,
  ///   `.readOnly`, `.busy`, `.full`, `.io`, `.closed`
  @discardableResult
  public func compact(progress: BackupProgress = { _, _ in true }) throws -> CompactReport {
    try database.compact(progress: progress)
  }

  /// Returns properties of the store.
  public func info() throws -> StoreInfo {
    StoreInfo(
      path: path, isReadOnly: isReadOnly, schemaVersion: try database.schemaVersion,
      fileBytes: database.fileBytes, walBytes: database.walBytes, sqliteVersion: "\(SQLiteVersion.current)",
      hasWALResetBug: SQLiteVersion.current.hasWALResetBug, quarantined: quarantinePath,
      clockCorrection: try database.clockCorrection)
  }
}

extension Store {
  /// Writes pending changes (deferred puts of records, changes of state, and mirrors that are older than the
  /// last commit), and drains the outbox file. When it returns, earlier changes survive the end of the
  /// process.
  ///
  /// A failure of one part does not stop the others. Changes that cannot be written stay in memory, and are
  /// tried again.
  ///
  /// - Returns: whether the changes are in the store; false when they were spooled, because it cannot be written
  /// - Throws: `SatchelError` `.invalid` in a batch, which could still be rolled back, and for a mirror that
  ///   another program has changed, or that cannot hold a record; `.busy` during a batch that was begun on this
  ///   thread; `.full`, `.io` and others when neither the store nor the outbox file, or a mirror, can be written
  @discardableResult
  public func flush() throws -> Bool {
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "a store cannot be flushed in a batch; flush before or after it")
    }
    let saving = Result { try saveChanges() }
    try recordStore.completeMirrors()
    return try saving.get()
  }

  /// Writes deferred puts and changes of state.
  func saveChanges() throws -> Bool {
    let writing = Result { try recordStore.writeDeferred() }
    if database.isClosed { throw SatchelError(.closed, "\(path): the store is closed") }
    try database.refuseDuringOtherBatch()
    // State that was not used has no changes, except those in the outbox file.
    let isSaved = try lazyState.known != nil || outbox.isSpooled ? state.flush() : true
    try writing.get()
    return isSaved
  }
}
