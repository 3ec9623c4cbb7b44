import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelPhotos
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Options of `Store.sync`.
public struct StoreSyncOptions: TransferOptions {
  /// Whether to report what would be transferred, without writing to either side. The store is copied to a
  /// temporary file in its directory for that.
  public var isDryRun = false
  /// Whether to continue although a part of the remote is lost that no device has: other devices then send
  /// their entries again. Records whose assets no device has are sent: these are missing on all devices until one gets the
  /// bytes. With a key, also whether to replace a sync log that has lost its encryption.
  public var acceptLoss = false
  /// The key of an encrypted sync log, 32 bytes: entries, including their ids, are encrypted (AES-256-GCM)
  /// before they leave the device. Nil for a log that is not encrypted. Photos are not encrypted, because
  /// other programs read them.
  public var key: [UInt8]?
  /// Whether to read every object of the sync log, and to write those again that are missing or damaged.
  public var verify = false
  /// Whether to remove the bytes of replaced and deleted documents from the remote. Otherwise they are
  /// removed when their object is next rewritten.
  public var purge = false
  /// The choice for content that the store has before its first sync: nil adds that of a guest, or of the same user, to
  /// the user's, and refuses that of another user or remote. Without effect once the store is bound.
  public var first: FirstSync?
  /// Whether to send everything again to a remote that was synchronized before and has no object of the user.
  public var recreate = false
  /// The assets that are downloaded. Without a download a document is there at once, and `fetchAssets` gets what it
  /// refers to when it is needed.
  public var assets = AssetDownloads.lazy
  /// Whether assets are uploaded; otherwise the records that refer to new ones wait, such as on a metered line.
  public var uploadsAssets = true
  /// The number of objects that are transferred at the same time: 1 to 16; clamped.
  public var parallel = 4
  /// How requests are retried.
  public var retry = Retry()
  /// Polled regularly; the sync throws `cancelled` soon after it is set.
  public var cancellation = Cancellation.never
  /// Whether the sync must not be the one that binds the store.
  var mustBeBound = false

  public init() {}
}

extension Store {
  /// Synchronizes the store with a user's data in an object store: the records of all declared collections, the
  /// state that is marked for it, and the photo catalogue whose first sync bound it to the same remote and user.
  ///
  /// Blocks; syncs of one store run one after the other, and other calls do not wait for them. The first sync binds
  /// the store to the remote and the user. Entries that cannot be sent or applied do not stop the others:
  /// `failed` lists them, and `RecordCollection.conflicts` the waiting versions. Of changes that are made during
  /// the sync, those that two further uploads find are sent, and the others by the next sync.
  ///
  /// - Parameters:
  ///   - remote: an object store with conditional writes and with an identity
  ///   - user: the user; the devices of one user share their data
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError`: `invalid` for a remote without conditional writes or without an identity, and in a
  ///   batch; `foreign` when the content belongs to another remote or user, and when the account was closed; `damaged` when a part of the
  ///   remote is lost, naming it: then other devices can repair it; `newer` when a newer version of the library wrote
  ///   to the remote; `unauthorized` for a remote that refuses the credentials, and for a sync log with
  ///   another key, or when only one of the log and this call has a key: nothing is changed then;
  ///   `unavailable`, `busy`, `cancelled`, `readOnly`
  @discardableResult
  public func sync(
    with remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> StoreSyncReport {
    let session = try SyncSession(database, with: remote, user: user, options: options, progress: progress)
    return try session.withTurn(syncTurn) {
      // It may have been cancelled by what had the turn before: the end of the user's session.
      try session.cancellation.check()
      let identity = try identity(of: remote)
      let opening = try opening(in: session, identity, options)
      _ = try saveChanges()
      if !options.isDryRun, options.first == .discard {
        try discardForFirstSync(with: identity, as: session.user)
      }
      var report =
        options.isDryRun
        ? try preview(in: session, identity, options)
        : try syncLog(in: session, with: identity, options, opening: opening) { try $0.run() }
      try syncPhotos(in: session, of: identity, options, adding: &report)
      return report
    }
  }

  /// Synchronizes, and encrypts the records and the state in the remote with another key. From then on,
  /// `sync` throws `unauthorized` on devices without the new key. A call that was interrupted can be
  /// repeated.
  ///
  /// - Parameters:
  ///   - options: its `key` is the current one; `isDryRun` has no effect
  ///   - key: 32 bytes; nil to store the data unencrypted
  /// - Throws: as `sync`
  @discardableResult
  public func rekey(
    _ remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(), to key: [UInt8]?
  ) throws -> StoreSyncReport {
    let key = try key.map { try EncryptionKey($0) }
    let session = try SyncSession(database, with: remote, user: user, options: options)
    return try session.withTurn(syncTurn) {
      let identity = try identity(of: remote)
      let opening = try syncLog.opening(session, remote: identity, first: options.first)
      _ = try saveChanges()
      return try syncLog(in: session, with: identity, options, opening: opening) { try $0.rekey(to: key) }
    }
  }

  /// Returns the synchronization status of records and state; uses no network, and does not wait for a sync
  /// in progress.
  ///
  /// - Throws: `SatchelError` `.closed`, `.damaged`, `.io`
  public func syncStatus() throws -> StoreSyncStatus { try StoreSyncStatus(database) }

  var syncTurn: SyncTurns.Subject { SyncTurns.Subject(database: database, name: "sync") }

  /// The identity of a remote that the store can be synchronized with.
  func identity(of remote: any ObjectStore) throws -> String {
    guard let identity = remote.identity else {
      throw SatchelError(
        .invalid, "remote: has no identity, by which a store recognises the remote it is synchronized with")
    }
    guard !isReadOnly else { throw SatchelError(.readOnly, "\(path): opened read-only") }
    return identity
  }

  // MARK: Parts

  /// Reads what a sync has to know, and completes the end of the last user's session.
  private func opening(
    in session: SyncSession, _ identity: String, _ options: StoreSyncOptions
  ) throws -> SyncLogTables.Opening {
    let opening = try syncLog.opening(session, remote: identity, first: options.first)
    if opening.isSigningOut { try? syncLog.finishSigningOut() }
    if options.mustBeBound, !opening.isBound {
      throw SatchelError(.foreign, "\(path): was signed out or detached since the last sync")
    }
    if opening.isBound {
      try SyncLogTables.check(session.remote, known: opening.remoteID, recreates: options.recreate)
    }
    return opening
  }

  /// Synchronizes records and state, the content of the sync log.
  private func syncLog(
    in session: SyncSession, with identity: String, _ options: StoreSyncOptions,
    opening: SyncLogTables.Opening, _ body: (inout SyncLogRun) throws -> SyncLogReport
  ) throws -> StoreSyncReport {
    let logOptions = try SyncLogOptions(options, in: session)
    if !opening.isBound || opening.isCopy {
      try syncLog.bind(remote: identity, user: session.user, first: options.first)
    }
    let before = session.traffic
    let prefix = try ObjectPrefix("records/\(session.user)/")
    var tables = syncLog
    tables.binding = SyncOwner(remote: identity, user: session.user.text)
    var run = try SyncLogRun(tables, with: session.store, user: session.user, options: logOptions) {
      try session.checkConditions(under: prefix)
    }
    var report = StoreSyncReport(try body(&run))
    if opening.isFirst { report.firstUpload = report.records.uploaded + report.state.uploaded }
    try syncLog.noteSync(with: session.remote)
    report.add(session.traffic - before)
    return report
  }

  /// Runs the sync of records and state in a copy of the store, and reports its actions.
  private func preview(
    in session: SyncSession, _ identity: String, _ options: StoreSyncOptions
  ) throws -> StoreSyncReport {
    try syncLog.checkBinding(remote: identity, user: session.user, first: options.first)
    let name = database.isMemory ? "/tmp/satchel" : database.realPath
    let path = "\(name).preview-\(UInt64.random(in: .min ... .max))"
    defer { DatabaseFileNames(path).remove() }
    try database.backup(to: path)
    let copy = try Store(path: path)
    defer { try? copy.close() }
    copy.recordStore.keepMigrations(of: recordStore)
    copy.database.keyring.copy(database.keyring)
    try copy.syncLog.forgetUpload()
    if options.first == .discard { try copy.discardForFirstSync(with: identity, as: session.user) }
    // The copy is in a file of its own, and is bound again.
    var report = try copy.syncLog(in: session, with: identity, options, opening: SyncLogTables.Opening()) {
      try $0.preview()
    }
    report.isDryRun = true
    return report
  }

  /// Synchronizes the photo catalogue that is bound to the same remote and user, by the policy that is declared with it,
  /// and names those that are not, and have something to send.
  private func syncPhotos(
    in session: SyncSession, of identity: String, _ options: StoreSyncOptions,
    adding report: inout StoreSyncReport
  ) throws {
    guard try database.has(.photos) else { return }
    let bound = try PhotoCatalogue.directory(boundTo: identity, user: session.user, in: database)
    report.unsentPhotos = try PhotoCatalogue.unsentDirectories(in: database).filter { $0 != bound }
    guard let bound else { return }
    var photoOptions = SyncOptions()
    photoOptions.isDryRun = options.isDryRun
    photoOptions.recreate = options.recreate
    photoOptions.first = options.first == .upload ? .upload : nil
    let photos = try photos(in: bound)
    defer { try? photos.close() }
    let photoReport = try photos.sync(in: session, photoOptions)
    report.add(photoReport)
    report.photos = photoReport
  }
}

extension SyncLogOptions {
  fileprivate init(_ options: StoreSyncOptions, in session: SyncSession) throws {
    self.init()
    retry = session.retry
    cancellation = session.cancellation
    parallel = session.parallel
    acceptsLoss = options.acceptLoss
    key = try options.key.map { try EncryptionKey($0) }
    verifies = options.verify
    purges = options.purge
    reopens = options.first == .upload
    recreates = options.recreate
    assets = options.assets
    uploadsAssets = options.uploadsAssets
    self.progress = { progress in
      try session.report {
        switch progress {
        case .look: $0.begin(.download)
        case .pull(let done, let total): $0.begin(.download, done: done, of: total)
        case .decide: $0.begin(.apply)
        case .send(let count): $0.begin(.upload, done: count)
        }
      }
    }
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension Store {
    /// Synchronizes on a thread of its own, like the blocking form; cancelling the task cancels the sync.
    @discardableResult
    public func sync(
      with remote: any ObjectStore, user: UserID, options: StoreSyncOptions = StoreSyncOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> StoreSyncReport {
      try await options.onOwnThread { options in
        try self.sync(with: remote, user: user, options: options, progress: progress)
      }
    }
  }
#endif

/// The result of `Store.sync`; of a dry run, the expected result.
public struct StoreSyncReport: Sendable, TrafficReport, JSONConvertible {
  public var records = SyncCounts()
  public var state = SyncCounts()
  /// The bytes that records and state refer to.
  public var assets = SyncAssetCounts()
  /// The sync of the photo catalogue that is bound to the same remote and user, by its first sync; nil without one.
  public var photos: SyncReport?
  /// The directories of photo catalogues that have changes which this sync did not send, because their own sync bound
  /// them to no remote yet, or to another remote or user.
  public var unsentPhotos: [String] = []
  /// Of the first sync as a user, the number of records and parts of the state that were sent; 0 for every other one.
  public var firstUpload = 0
  /// A change that could not be sent.
  public var failed: [SyncFailure] = []
  /// Parts of the remote that were missing or damaged, and were written again.
  public var repaired = 0
  public var losses: [SyncLoss] = []
  /// Whether a batch was sent in parts, because it is too large for one request.
  public var isBatchCut = false
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of bodies.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0
  public var isDryRun = false
  /// Of a dry run, what a sync would do; empty otherwise.
  public var planned: [SyncPlanned] = []

  public init() {}

  /// Whether nothing had to be transferred.
  public var isUnchanged: Bool {
    records == SyncCounts() && state == SyncCounts() && assets == SyncAssetCounts() && repaired == 0
      && failed.isEmpty && planned.isEmpty
      && photos?.isUnchanged ?? true
  }

  public var json: JSONValue {
    [
      "records": records.json, "state": state.json, "assets": assets.json, "photos": photos?.json ?? .null,
      "unsent_photos": .array(unsentPhotos.map { .string($0) }),
      "failed": .array(failed.map(\.json)), "repaired": .int(Int64(repaired)),
      "losses": .array(losses.map(\.json)), "batch_cut": .bool(isBatchCut), "requests": .int(requests),
      "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown), "unchanged": .bool(isUnchanged),
      "dry_run": .bool(isDryRun), "first_upload": .int(Int64(firstUpload)),
      "planned": .array(planned.map(\.json)),
    ]
  }
}

extension StoreSyncReport {
  init(_ report: SyncLogReport) {
    (records, state, failed, planned) = (report.records, report.state, report.failed, report.planned)
    (repaired, losses, isBatchCut) = (report.repaired, report.losses, report.isCut)
    assets = report.assets
  }
}
