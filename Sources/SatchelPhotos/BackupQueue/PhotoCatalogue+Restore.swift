import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelSync

extension PhotoCatalogue {
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
      try checkDirectory(of: session)
      let remote = try BackupRemote(session)
      try session.report { $0.begin(.files, of: 1) }
      var report = PhotoRestoreReport()
      let modified = try photo(md5)?.photo.modified
      if let size = try download(md5, to: path, modified: modified, from: remote) {
        report.size = size
      } else {
        (report.size, report.isUnchanged) = (try Self.existing(path, md5) ?? 0, true)
      }
      try session.report { $0.done = 1 }
      report.add(session.traffic)
      return report
    } catch {
      throw SatchelError(converting: error)
    }
  }

  /// Deletes the file of a photo from the remote, for good. The photo's row, its star and its files here stay as they
  /// are, but for the star of a photo that counts as backed up: it is removed. Blocks.
  ///
  /// - Parameter md5: of any object below `photos/{user}/`; need not be a photo of the catalogue
  /// - Returns: false when the remote did not have the file
  /// - Throws: `SatchelError`: `foreign` when the catalogue is synchronized as another user, `invalid` in a batch,
  ///   `busy` when another program has just written the object, `unauthorized`, `unavailable`, `cancelled`,
  ///   `readOnly`
  public func deleteBackup(
    of md5: MD5, from store: any ObjectStore, user: UserID, options: PhotoBackupOptions = PhotoBackupOptions()
  ) throws -> Bool {
    try checkOpen()
    let session = try SyncSession(database, with: store, user: user, options: options, progress: nil)
    return try withBackups(session) { remote in
      let isDeleted = try remote.delete(md5)
      guard try photo(md5)?.backup == .uploaded else { return isDeleted }
      try changeLocal(md5) { local, _, _ in
        (local.isStarred, local.backup, local.queued) = (false, .notBackedUp, nil)
      }
      return isDeleted
    }
  }

  /// The size of an existing file with the photo's bytes; nil when there is no file.
  ///
  /// - Throws: `SatchelError` `.constraint` for another one
  static func existing(_ path: String, _ md5: MD5) throws -> Int64? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw SatchelError(errno: errno, path)
    }
    let other = SatchelError(.constraint, "\(path): exists, and is not this photo's file")
    guard status.st_mode & S_IFMT == S_IFREG else { throw other }
    let file = try DiskFile(path, O_RDONLY | O_NOFOLLOW)
    var (hash, offset) = (MD5Hash(), Int64(0))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FileBody.blockSize, alignment: 16)
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

  /// Downloads a file, and verifies it. An existing file with its bytes stays as it is.
  ///
  /// - Parameters:
  ///   - modified: the time that the file gets, Unix seconds
  ///   - syncsDirectory: whether the file's name is durable; its bytes are in any case
  /// - Returns: its size in bytes; nil when it was there already
  /// - Throws: `SatchelError` `.constraint` when another file is at the path, `.notFound` when the remote does not have
  ///   it; `ObjectStoreError`
  func download(
    _ md5: MD5, to path: String, modified: Int64?, from remote: BackupRemote, syncsDirectory: Bool = true
  ) throws -> Int64? {
    if try Self.existing(path, md5) != nil { return nil }
    let file = try DownloadFile(replacing: path, resuming: true)
    do throws(ObjectStoreError) {
      try remote.get(md5, to: file)
    } catch {
      guard error.reason == .notFound else { throw error }
      throw SatchelError(.notFound, "\(remote.prefix)\(md5): the remote does not have this file")
    }
    try file.commit(syncsDirectory: syncsDirectory) { part in
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
