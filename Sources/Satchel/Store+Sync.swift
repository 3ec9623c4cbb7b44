import SatchelCore
import SatchelPhotos
import SatchelRecords
import SatchelRemote
import SatchelStorage

/// Options of `Store.sync`.
public struct StoreSyncOptions: Sendable {
  /// Whether to report what would be transferred, without writing to either side. The store is copied to a
  /// temporary file beside it for that.
  public var isDryRun = false
  /// Whether to go on where a part of the remote was lost that no device has: other devices then send what they
  /// have again.
  public var acceptLoss = false
  /// The key of an encrypted sync log, 32 bytes: what is sent is encrypted (AES-256-GCM) before it leaves the device, ids
  /// included. Nil for a log that is not encrypted. Photos are not encrypted, because other programs read them.
  public var key: [UInt8]?
  /// Whether to read every object of the sync log, and to write those again that are missing or damaged.
  public var verify = false
  /// Whether to remove the bytes of replaced and deleted documents from the remote. Without it they leave when their
  /// object is next rewritten.
  public var purge = false
  /// How many objects are transferred at once: 1 to 16; clamped.
  public var parallel = 4
  /// How requests are retried.
  public var retry = Retry()
  /// Polled regularly; the sync throws `cancelled` soon after it is set.
  public var cancellation = Cancellation.never

  public init() {}
}

extension Store {
  /// Synchronizes the store with a user's data in an object store: the records of all declared collections, the
  /// state that is marked for it, and the photo catalogue whose first sync bound it to the same remote and user.
  ///
  /// Blocks; syncs of one store run one after the other, and other calls do not wait for them. The first sync binds
  /// the store to the remote and the user. What cannot be sent or applied does not stop the rest: see `failed`, and
  /// `RecordCollection.conflicts` for what waits. Changes that are made during the sync are sent by the next.
  ///
  /// - Parameters:
  ///   - remote: an object store with conditional writes and with an identity
  ///   - user: the user whose data it is; several devices of one user share them
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError`: `invalid` for a remote without conditional writes or without an identity, and in a
  ///   batch; `foreign` when the store is synchronized with another remote or user; `damaged` when a part of the
  ///   remote is lost, naming it: then other devices can repair it; `newer` when a newer version of the library wrote
  ///   to the remote; `unauthorized` for a remote that refuses the credentials, and for a sync log that is encrypted
  ///   with another key, or not as this call is: nothing is changed then; `unavailable`, `busy`, `cancelled`, `readOnly`
  public func sync(
    with remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
    progress: (@Sendable (StoreSyncProgress) -> Bool)? = nil
  ) throws -> StoreSyncReport {
    let identity = try identity(of: remote)
    return try SyncTurns.shared.withTurn(syncTurn, options.cancellation) {
      _ = try state.flush()
      if options.isDryRun { return try preview(remote, identity, user, options, progress) }
      let sync = try StoreSync(self, remote, user, options, progress)
      try syncLog.bind(remote: identity, user: user)
      var report = try sync.run { try $0.run() }
      try syncPhotos(remote, identity, user, options, progress, &report)
      return report
    }
  }

  /// Synchronizes, and encrypts what the remote has with another key. Devices with the new key go on; for the others
  /// `sync` throws `unauthorized` from then on. A call that was interrupted can be repeated.
  ///
  /// - Parameters:
  ///   - options: its `key` is the present one; `isDryRun` has no effect
  ///   - key: 32 bytes; nil to store the data unencrypted
  /// - Throws: as `sync`
  @discardableResult
  public func rekey(
    _ remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(), to key: [UInt8]?
  ) throws -> StoreSyncReport {
    let identity = try identity(of: remote)
    let key = try key.map { try EncryptionKey($0) }
    return try SyncTurns.shared.withTurn(syncTurn, options.cancellation) {
      _ = try state.flush()
      let sync = try StoreSync(self, remote, user, options, nil)
      try syncLog.bind(remote: identity, user: user)
      return try sync.run { try $0.rekey(to: key) }
    }
  }

  /// Checks that the store can be synchronized with a remote now, and returns the remote's identity.
  private func identity(of remote: any ObjectStore) throws -> String {
    try database.refuseNetworkWork("a store cannot be synchronized in a batch")
    guard let identity = remote.identity else {
      throw SatchelError(
        .invalid, "remote: has no identity, by which a store recognises the remote it is synchronized with")
    }
    guard !isReadOnly else { throw SatchelError(.readOnly, "\(path): opened read-only") }
    return identity
  }

  private var syncTurn: SyncTurns.Subject { SyncTurns.Subject(database: database, name: "sync") }

  /// Finds out in a copy of the store what a sync would do.
  private func preview(
    _ remote: any ObjectStore, _ identity: String, _ user: UserID, _ options: StoreSyncOptions,
    _ progress: (@Sendable (StoreSyncProgress) -> Bool)?
  ) throws -> StoreSyncReport {
    try syncLog.checkBinding(remote: identity, user: user)
    let name = database.isMemory ? "/tmp/satchel" : database.realPath
    let path = "\(name).preview-\(UInt64.random(in: .min ... .max))"
    defer { DatabaseFileNames(path).remove() }
    try database.backup(to: path)
    let store = try Store(path: path)
    defer { try? store.close() }
    store.recordStore.keepMigrations(of: recordStore)
    try store.syncLog.forgetUpload()
    try store.syncLog.bind(remote: identity, user: user)
    var report = try StoreSync(store, remote, user, options, progress).run { try $0.preview() }
    report.isDryRun = true
    try syncPhotos(remote, identity, user, options, progress, &report)
    return report
  }

  private func syncPhotos(
    _ remote: any ObjectStore, _ identity: String, _ user: UserID, _ options: StoreSyncOptions,
    _ progress: (@Sendable (StoreSyncProgress) -> Bool)?, _ report: inout StoreSyncReport
  ) throws {
    guard let directory = try PhotoCatalogue.directory(boundTo: identity, user: user, in: database) else {
      return
    }
    var photoOptions = SyncOptions()
    photoOptions.isDryRun = options.isDryRun
    photoOptions.parallel = options.parallel
    photoOptions.retry = options.retry
    photoOptions.cancellation = options.cancellation
    let (up, down) = (report.bytesUp, report.bytesDown)
    let photos = try self.photos(in: directory)
    defer { try? photos.close() }
    let photoReport = try photos.sync(with: remote, user: user, options: photoOptions) { photos in
      guard let progress else { return true }
      var told = StoreSyncProgress()
      told.phase = .photos
      (told.done, told.total) = (photos.shardsDone, photos.shardsTotal)
      (told.bytesUp, told.bytesDown) = (up + photos.bytesUp, down + photos.bytesDown)
      return progress(told)
    }
    report.requests += photoReport.requests
    report.bytesUp += photoReport.bytesUp
    report.bytesDown += photoReport.bytesDown
    report.photos = photoReport
  }

  /// Ends the store's binding to a remote and a user. Its data stay, on both sides; conflicts that are open or wait
  /// are forgotten. The next `sync` binds it again, and compares everything. Waits for a sync in progress.
  ///
  /// - Throws: `SatchelError` `.invalid` in a batch, `.readOnly`, `.closed`, `.io`
  public func detach() throws {
    try database.refuseNetworkWork("a store cannot be detached in a batch")
    try SyncTurns.shared.withTurn(syncTurn, .never) {
      try database.write { transaction in
        try syncLog.detach()
        try RecordSyncClient(recordStore).detach(in: transaction)
      }
    }
  }
}

/// One sync of a store's sync log, with its progress and its traffic.
private struct StoreSync {
  let meter: MeteredStore
  let reporter: ProgressReporter<StoreSyncProgress>
  let remote: any ObjectStore
  let store: Store
  let user: UserID
  var options = SyncLogOptions()

  init(
    _ store: Store, _ remote: any ObjectStore, _ user: UserID, _ options: StoreSyncOptions,
    _ progress: (@Sendable (StoreSyncProgress) -> Bool)?
  ) throws {
    meter = MeteredStore(remote)
    let reporter = ProgressReporter(StoreSyncProgress(), meter, progress)
    self.reporter = reporter
    self.remote = remote
    self.store = store
    self.user = user
    self.options.retry = options.retry
    self.options.parallel = min(max(options.parallel, 1), 16)
    self.options.acceptsLoss = options.acceptLoss
    self.options.key = try options.key.map { try EncryptionKey($0) }
    self.options.verifies = options.verify
    self.options.purges = options.purge
    self.options.cancellation = Cancellation { reporter.isCancelled || options.cancellation.isCancelled() }
    self.options.progress = { progress in try reporter.report { $0.set(progress) } }
  }

  func run(_ body: (inout SyncLogRun) throws -> SyncLogReport) throws -> StoreSyncReport {
    do {
      let prefix = try ObjectPrefix("records/\(user)/")
      var run = try SyncLogRun(store.syncLog, with: meter, user: user, options: options) {
        try ConditionProbeCache(store.database).check(
          remote, through: meter, under: prefix, retry: options.retry, cancellation: options.cancellation)
      }
      var report = StoreSyncReport(try body(&run))
      report.add(meter.traffic)
      return report
    } catch let error as ObjectStoreError {
      throw error.satchelError
    }
  }
}

extension StoreSyncProgress {
  fileprivate mutating func set(_ progress: SyncLogProgress) {
    switch progress {
    case .look: (phase, done, total) = (.download, 0, 0)
    case .pull(let done, let total): (phase, self.done, self.total) = (.download, done, total)
    case .decide: (phase, done, total) = (.apply, 0, 0)
    case .send(let count): (phase, done, total) = (.upload, count, 0)
    }
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Store {
    /// Synchronizes on a thread of its own, like the blocking form; cancelling the task cancels the sync.
    public func sync(
      with remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
      progress: (@Sendable (StoreSyncProgress) -> Bool)? = nil
    ) async throws -> StoreSyncReport {
      try await options.cancellation.onOwnThread { cancellation in
        var options = options
        options.cancellation = cancellation
        return try self.sync(with: remote, user: user, options: options, progress: progress)
      }
    }
  }
#endif
