import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Uploads the files of the queued photos to `photos/{user}/{md5}`, several at once, and records the results.
  /// Blocks; runs of one catalogue in this process run one after the other, and several processes share the
  /// queue.
  ///
  /// A file is found by the paths of the last scan, else by its name in the directory, and uploaded only with
  /// the size and MD5 of its row; the object is written under a condition, and checked afterwards. A file that
  /// the remote has already is not sent again. Photos that a killed run was uploading return to the queue,
  /// and the next run continues with them. A photo whose file cannot be uploaded gets the status `error`, with the
  /// reason, and runs try it again: after a minute, and then after twice as long each time, up to a day. A photo
  /// whose file no scan of this device has found stays queued, and is counted as elsewhere. What concerns the remote
  /// or the whole directory ends the run, and is recorded for no photo.
  ///
  /// Files are streamed, and hashed on the way; one above 64 MiB is sent to S3 in parts, and the next run continues it.
  ///
  /// - Parameter progress: called with the progress, never concurrently; false ends the run, as cancelling
  ///   does: completed uploads are recorded, and the report has `isCancelled`
  /// - Throws: `SatchelError`: `notFound` when the directory does not exist, `foreign` when the catalogue is
  ///   synchronized as another user, `invalid` in a batch, `unauthorized`, `unavailable` (also for a directory that has
  ///   become empty), `full`, `readOnly`
  public func runBackup(
    with store: any ObjectStore, user: UserID, options: PhotoBackupOptions = PhotoBackupOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoBackupReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): is opened read-only; a backup writes to it")
    }
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    return try withBackups(session, recreates: options.recreate) { remote in
      if options.all { try starAll() }
      return try BackupRun(self, session: session, remote: remote, all: options.all).run()
    }
  }
}

/// A running backup.
private final class BackupRun: Sendable {
  /// The number of photos that are claimed, and recorded, in one transaction.
  private static let batch = 32
  /// The number of queued photos above which the index is also written before them.
  private static let indexedFirst = 1000
  /// The number of queued photos above which listing what the remote has takes fewer requests than asking for each.
  private static let listedFirst = 100
  /// The maximum number of files of the remote that are remembered.
  private static let maxListed = 100_000

  /// A film or a sidecar, and its content.
  private typealias Companion = (file: KnownFile, md5: MD5)

  private struct State {
    var report = PhotoBackupReport()
    /// The error that ended the run.
    var failure: (any Error)?
    /// The files that the remote had at the beginning; nil where it is asked for each.
    var listed: Set<MD5>?
    /// Uploaded, and not yet recorded.
    var finished: [MD5] = []
    var companions: [Companion] = []
    /// Photos without a file on this device, which return to the queue at the end.
    var elsewhere: [MD5] = []
  }

  private let catalogue: PhotoCatalogue
  private let session: SyncSession
  private let remote: BackupRemote
  private let files: BackupFiles
  private let isOfAll: Bool
  private let state = Locked(State())
  /// Claimed, and not yet begun, the next one at the end; and the position in the queue up to where.
  private let claimed = Locked((photos: [PhotoDetails](), position: Int64(-1)))

  init(_ catalogue: PhotoCatalogue, session: SyncSession, remote: BackupRemote, all: Bool) throws {
    self.catalogue = catalogue
    self.session = session
    self.remote = remote
    files = try BackupFiles(catalogue.directory)
    isOfAll = all
  }

  func run() throws -> PhotoBackupReport {
    try catalogue.requeueExpiredLeases()
    try catalogue.requeueFailures()
    let total = try catalogue.status().backups[.queued] ?? 0
    let index = try IndexWriter(catalogue, session)
    // So that a run that is killed leaves the names of what it has uploaded.
    if total > Self.indexedFirst { try index.write() }
    if total > Self.listedFirst {
      let listed = try remote.names(max: Self.maxListed)
      state.withLock { $0.listed = listed }
    }
    report { $0.begin(.files, of: Int(clamping: total)) }
    inParallel(Array(0..<session.parallel), limit: session.parallel) { [self] _ in
      while step() {}
    }
    ending { try record(state.withLock { $0.finished.taken() }) }
    let rest = claimed.withLock { $0.photos.map(\.md5) } + state.withLock { $0.elsewhere }
    for md5 in rest { ending { try catalogue.releaseBackup(md5) } }
    if state.withLock({ $0.failure }) == nil, !remote.cancellation.isCancelled() {
      ending { try uploadCompanions() }
    }
    if state.withLock({ $0.failure }) == nil, !remote.cancellation.isCancelled() { try index.write() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    var report = state.withLock { $0.report }
    report.isCancelled = remote.cancellation.isCancelled()
    report.queued = try catalogue.status().backups[.queued] ?? 0
    report.elsewhere = Int64(state.withLock { $0.elsewhere.count })
    report.add(session.traffic)
    return report
  }

  /// Calls `body`, whose error ends the run.
  private func ending(_ body: () throws -> Void) {
    do { try body() } catch { state.withLock { $0.failure = $0.failure ?? error } }
  }

  /// Uploads the next photo.
  ///
  /// - Returns: false after the last photo, and when the run has ended
  private func step() -> Bool {
    guard state.withLock({ $0.failure }) == nil, !remote.cancellation.isCancelled() else { return false }
    do {
      guard let photo = try next() else { return false }
      do {
        let outcome = try upload(photo)
        let batch = state.withLock { state -> [MD5] in
          switch outcome {
          case .sent: state.report.uploaded += 1
          case .found: state.report.found += 1
          case .elsewhere:
            state.elsewhere.append(photo.md5)
            return []
          }
          state.finished.append(photo.md5)
          return state.finished.count < Self.batch ? [] : state.finished.taken()
        }
        try record(batch)
      } catch {
        try recordFailure(photo.photo, error)
      }
      report { $0.done += 1 }
      return true
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      return false
    }
  }

  private func next() throws -> PhotoDetails? {
    try claimed.withLock { claimed in
      if claimed.photos.isEmpty {
        claimed.photos = try catalogue.claimBackups(limit: Self.batch, after: &claimed.position).reversed()
      }
      return claimed.photos.popLast()
    }
  }

  private enum Outcome {
    case sent
    /// The remote had the file already.
    case found
    /// No scan of this device has found the file.
    case elsewhere
  }

  private func upload(_ details: PhotoDetails) throws -> Outcome {
    let photo = details.photo
    // A queued photo with an error has an object that was found damaged.
    let isDamaged = details.error != nil
    if !isDamaged, try has(photo.md5, size: photo.size) { return .found }
    let known = try catalogue.read(otherwise: []) {
      try FileTable(connection: $0, catalogue: $1).files(of: photo.md5).filter { $0.md5 == photo.md5 }
    }
    let paths = known.filter { !$0.isMissing }.map(\.path)
    do {
      try files.withFile(of: photo, at: paths + [Array(photo.filename.utf8)]) {
        try remote.put(photo.md5, $0, overDamaged: isDamaged)
      }
      return .sent
    } catch let error as SatchelError where error.code == .notFound {
      if known.isEmpty { return .elsewhere }
      guard try files.root.isEmpty() else { throw error }
      throw EndOfRun(
        error: SatchelError(
          .unavailable, "\(catalogue.directory): is empty, and its photos were there: is its disk mounted?"))
    }
  }

  /// Uploads the films and sidecars of starred photos, or all of them.
  private func uploadCompanions() throws {
    let companions = try catalogue.read(otherwise: []) {
      try FileTable(connection: $0, catalogue: $1).companionsToBackUp(all: isOfAll)
    }
    if companions.isEmpty { return }
    report { $0.begin(.files, of: companions.count) }
    inParallel(companions, limit: session.parallel) { [self] file in
      guard state.withLock({ $0.failure }) == nil, !remote.cancellation.isCancelled() else { return }
      do {
        let (md5, isSent) = try upload(file)
        let batch = state.withLock { state -> [Companion] in
          if isSent { state.report.uploaded += 1 } else { state.report.found += 1 }
          state.companions.append((file, md5))
          return state.companions.count < Self.batch ? [] : state.companions.taken()
        }
        ending { try record(batch) }
      } catch {
        note(error, of: file)
      }
      report { $0.done += 1 }
    }
    try record(state.withLock { $0.companions.taken() })
  }

  /// Records films and sidecars, after the remote has made them durable.
  private func record(_ companions: [Companion]) throws {
    if companions.isEmpty { return }
    try remote.makeDurable()
    try catalogue.write { transaction, id in
      let table = FileTable(connection: transaction.connection, catalogue: id)
      for (file, md5) in companions { try table.setBackedUp(file, md5) }
    }
  }

  private func upload(_ file: KnownFile) throws -> (MD5, isSent: Bool) {
    let body = try files.open(file)
    guard let md5 = MD5(bytes: try body.digests(remote.cancellation).md5) else {
      throw SatchelError(.internal, "\(body.name): its MD5 has another length")
    }
    if try has(md5, size: body.count) { return (md5, false) }
    try remote.put(md5, body)
    return (md5, true)
  }

  /// Whether the remote has a file. One that came after the listing is noticed by the condition of the upload.
  private func has(_ md5: MD5, size: Int64) throws -> Bool {
    guard state.withLock({ $0.listed?.contains(md5) ?? true }) else { return false }
    return try remote.has(md5, size: size)
  }

  /// Notes a film or a sidecar that was not uploaded; the next run tries it again.
  private func note(_ error: any Error, of file: KnownFile) {
    if case .cancelled = (error as? ObjectStoreError)?.reason { return }
    guard BackupFault.concernsOne(error) else { return ending { throw error } }
    let path = String(decoding: file.path, as: UTF8.self)
    state.withLock { $0.report.fail(nil, named: path, SatchelError(converting: error).message) }
  }

  /// Records uploads, after the remote has made them durable; those of photos that were deleted meanwhile are ignored.
  ///
  /// - Throws: the errors of the remote; the photos return to the queue
  private func record(_ photos: [MD5]) throws {
    if photos.isEmpty { return }
    do {
      try remote.makeDurable()
    } catch {
      for md5 in photos { try catalogue.releaseBackup(md5) }
      throw EndOfRun(error: error)
    }
    try catalogue.finishBackups(photos)
  }

  /// An error that concerns no single photo.
  private struct EndOfRun: Error { var error: any Error }

  /// Records a photo that was not uploaded.
  ///
  /// - Throws: an error that concerns all photos; the photo returns to the queue
  private func recordFailure(_ photo: Photo, _ error: any Error) throws {
    if let end = error as? EndOfRun {
      try catalogue.releaseBackup(photo.md5)
      throw end.error
    }
    if case .cancelled = (error as? ObjectStoreError)?.reason {
      return try catalogue.releaseBackup(photo.md5)
    }
    guard BackupFault.concernsOne(error) else {
      try catalogue.releaseBackup(photo.md5)
      throw error
    }
    let message = SatchelError(converting: error).message
    do {
      try catalogue.failBackup(photo.md5, reason: message)
    } catch let error as SatchelError where error.code == .notFound {
      // Deleted meanwhile.
    }
    state.withLock { $0.report.fail(photo.md5, named: photo.filename, message) }
  }

  /// Reports progress; when the callback ends the run, the session's cancellation is set.
  private func report(_ change: (inout SyncProgress) -> Void) { try? session.report(change) }
}

extension Array {
  /// Returns the elements, and removes them.
  fileprivate mutating func taken() -> Self {
    defer { self = [] }
    return self
  }
}
