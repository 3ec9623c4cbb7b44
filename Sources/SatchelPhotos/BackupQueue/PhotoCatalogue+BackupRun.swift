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
  /// and the next run continues with them. A photo whose file cannot be uploaded gets the status `error`,
  /// with the reason; when the remote fails, the run ends, and the photo stays queued.
  ///
  /// Files are streamed, and hashed on the way; one above 64 MiB is sent to S3 in parts, and the next run continues it.
  ///
  /// - Parameter progress: called with the progress, never concurrently; false ends the run, as cancelling
  ///   does: completed uploads are recorded, and the report has `isCancelled`
  /// - Throws: `SatchelError`: `notFound` when the directory does not exist, `foreign` when the catalogue is
  ///   synchronized as another user, `invalid` in a batch, `unauthorized`, `unavailable`, `full`, `readOnly`
  public func runBackup(
    with store: any ObjectStore, user: UserID, options: PhotoBackupOptions = PhotoBackupOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoBackupReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): is opened read-only; a backup writes to it")
    }
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    return try withBackups(session) { remote in
      try BackupRun(self, session: session, remote: remote, files: BackupFiles(directory)).run()
    }
  }

  /// Downloads a photo's file, checks its MD5, and writes it with the photo's time. An existing file with these
  /// bytes stays as it is.
  ///
  /// - Parameter path: of the file, in a directory that exists
  /// - Throws: `SatchelError`: `notFound` when the remote does not have the file, or the directory does not
  ///   exist, `damaged` for other bytes in the remote, `constraint` when another file is at the path,
  ///   `invalid` for an invalid path, and in a batch, `unauthorized`, `unavailable`, `cancelled`
  public func restoreBackup(
    of md5: MD5, to path: String, from store: any ObjectStore, user: UserID,
    options: PhotoBackupOptions = PhotoBackupOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoRestoreReport {
    try checkOpen()
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    do {
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw SatchelError(.invalid, "path: \(path.isEmpty ? "is empty" : "contains a NUL")")
      }
      let remote = try BackupRemote(session)
      try session.report { $0.begin(.files, of: 1) }
      var report = PhotoRestoreReport()
      if let size = try Self.existing(path, md5) {
        (report.size, report.isUnchanged) = (size, true)
      } else {
        report.size = try download(md5, to: path, from: remote)
      }
      try session.report { $0.done = 1 }
      report.add(session.traffic)
      return report
    } catch {
      throw SatchelError(converting: error)
    }
  }

  /// The size of an existing file with the photo's bytes; nil when there is no file.
  ///
  /// - Throws: `SatchelError` `.constraint` for another one
  private static func existing(_ path: String, _ md5: MD5) throws -> Int64? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw SatchelError(errno: errno, path)
    }
    let other = SatchelError(.constraint, "\(path): exists, and is not this photo's file")
    guard status.st_mode & S_IFMT == S_IFREG else { throw other }
    let file = try DiskFile(path, O_RDONLY | O_NOFOLLOW)
    var (hash, offset) = (MD5Hash(), Int64(0))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try file.read(into: buffer, at: offset)
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
      if count < buffer.count { break }
    }
    guard hash.digest() == md5 else { throw other }
    return offset
  }

  /// Downloads a photo's file.
  ///
  /// - Returns: its size in bytes
  private func download(_ md5: MD5, to path: String, from remote: BackupRemote) throws -> Int64 {
    let file = try DownloadFile(replacing: path, resuming: true)
    do throws(ObjectStoreError) {
      try remote.get(md5, to: file)
    } catch {
      guard error.reason == .notFound else { throw error }
      throw SatchelError(.notFound, "\(remote.prefix)\(md5): the remote does not have this file")
    }
    let modified = try photo(md5)?.photo.modified
    try file.commit { part in
      // Another program may have created a file at the path during the download.
      _ = try Self.existing(path, md5)
      guard let modified else { return }
      // A file system that cannot store such a time keeps the current one.
      let times = [timespec](repeating: timespec(tv_sec: time_t(modified), tv_nsec: 0), count: 2)
      _ = utimensat(AT_FDCWD, part, times, 0)
    }
    return file.count
  }
}

/// A running backup.
private final class BackupRun: Sendable {
  /// The number of photos that are claimed, and recorded, in one transaction.
  private static let batch = 32

  private struct State {
    var report = PhotoBackupReport()
    /// The error that ended the run.
    var failure: (any Error)?
    /// Uploaded, and not yet recorded.
    var finished: [MD5] = []
  }

  private let catalogue: PhotoCatalogue
  private let session: SyncSession
  private let remote: BackupRemote
  private let files: BackupFiles
  private let state = Locked(State())
  /// Claimed, and not yet begun; the next one is the last.
  private let claimed = Locked<[Photo]>([])

  init(_ catalogue: PhotoCatalogue, session: SyncSession, remote: BackupRemote, files: BackupFiles) {
    self.catalogue = catalogue
    self.session = session
    self.remote = remote
    self.files = files
  }

  func run() throws -> PhotoBackupReport {
    try catalogue.requeueExpiredLeases()
    let total = try catalogue.status().backups[.queued] ?? 0
    report { $0.begin(.files, of: Int(clamping: total)) }
    inParallel(Array(0..<session.parallel), limit: session.parallel) { [self] _ in
      while step() {}
    }
    ending { try record(state.withLock { $0.finished.taken() }) }
    for photo in claimed.withLock({ $0.taken() }) { ending { try catalogue.releaseBackup(photo.md5) } }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    var report = state.withLock { $0.report }
    report.isCancelled = remote.cancellation.isCancelled()
    report.queued = try catalogue.status().backups[.queued] ?? 0
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
        let isSent = try upload(photo)
        let batch = state.withLock { state -> [MD5] in
          if isSent { state.report.uploaded += 1 } else { state.report.found += 1 }
          state.finished.append(photo.md5)
          return state.finished.count < Self.batch ? [] : state.finished.taken()
        }
        try record(batch)
      } catch {
        try recordFailure(photo, error)
      }
      report { $0.done += 1 }
      return true
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      return false
    }
  }

  private func next() throws -> Photo? {
    try claimed.withLock { claimed in
      if claimed.isEmpty {
        claimed = try catalogue.claimBackups(limit: Self.batch).map(\.photo).reversed()
      }
      return claimed.popLast()
    }
  }

  /// - Returns: false when the remote had the file already
  private func upload(_ photo: Photo) throws -> Bool {
    if try remote.has(photo) { return false }
    let paths = try catalogue.read(otherwise: []) {
      try FileTable(connection: $0, catalogue: $1).paths(of: photo.md5)
    }
    try files.withFile(of: photo, at: paths + [Array(photo.filename.utf8)]) { try remote.put(photo, $0) }
    return true
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
    if let end = error as? EndOfRun { throw end.error }
    if case .cancelled = (error as? ObjectStoreError)?.reason {
      return try catalogue.releaseBackup(photo.md5)
    }
    guard Self.concernsOne(error) else {
      try catalogue.releaseBackup(photo.md5)
      throw error
    }
    let message = SatchelError(converting: error).message
    do {
      try catalogue.failBackup(photo.md5, reason: message)
    } catch let error as SatchelError where error.code == .notFound {
      // Deleted meanwhile.
    }
    state.withLock { state in
      state.report.failedCount += 1
      guard state.report.failed.count < PhotoBackupReport.maxListed else { return }
      state.report.failed.append(.init(md5: photo.md5, filename: photo.filename, message: message))
    }
  }

  /// Whether an error is of one file or object; else the next photos would fail as well.
  private static func concernsOne(_ error: any Error) -> Bool {
    switch error {
    case let error as ObjectStoreError: error.faultClass == .object || error.reason == .truncated
    case let error as SatchelError: [.notFound, .invalid, .damaged, .busy].contains(error.code)
    default: false
    }
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
