extension Database {
  /// Copies the store into a file of its own, while it is in use: one consistent state, as of when it begins.
  /// Others may write meanwhile; their log is not copied back until the backup has ended.
  ///
  /// The backup is written aside, examined, synced and renamed: at `target` there is all of it or what was there
  /// before. A backup that is there is replaced; no other file is.
  ///
  /// - Parameter progress: hears of pages done and in all, on the calling thread; returning false stops it
  /// - Throws: `.cancelled`; `.damaged` when the store itself is; `.invalid` for a path that is none, the store's
  ///   own or a directory's, and inside of a write; `.foreign` for another program's file; `.busy` for a store
  ///   that is in use, or another backup to the same place; `.notFound`, `.readOnly`, `.full`, `.io`
  @discardableResult
  package func backup(
    to target: String, progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    guard !isWriting else {
      throw SatchelError(.invalid, "\(target): a backup inside of a write would hold half of it")
    }
    let start = Clock.steadyMilliseconds
    return try withoutActuallyEscaping(progress) { progress in
      try read { connection in
        try refuse(asBackup: target)
        // A transaction sees one state from its first read on.
        _ = try connection.number("SELECT count(*) FROM sqlite_schema")
        let copy = StoreCopy(target: target, fileSystem: options.fileSystem, progress: progress)
        let (pages, bytes) = try copy.make(from: connection, mode: fileMode) { try refuse(asBackup: target) }
        return BackupReport(
          path: target, pages: pages, bytes: bytes, milliseconds: Clock.steadyMilliseconds - start)
      }
    }
  }

  /// Throws unless `target` is free, or holds an earlier backup.
  private func refuse(asBackup target: String) throws {
    guard !target.isEmpty, !target.utf8.contains(0) else {
      throw SatchelError(.invalid, "target: empty, or holds a NUL")
    }
    guard !target.utf8.elementsEqual(":memory:".utf8) else {
      throw SatchelError(.invalid, "target: a backup in memory would be gone at once")
    }
    for suffix in isMemory ? [] : ["", "-wal", "-shm", ".spill"] {
      guard !StoreFile.isSame(target, path + suffix) else {
        throw SatchelError(.invalid, "\(target): the store itself, or a file of it")
      }
    }
    switch try StoreFile.examine(target) {
    case .absent, .empty: break
    // Of our own making, whatever has become of it.
    case .store, .damaged:
      guard !StoreFile.hasLog(target) else {
        throw SatchelError(.busy, "\(target): a store that is in use")
      }
    case .foreign(let reason): throw SatchelError(.foreign, "\(target): \(reason); it is left alone")
    }
  }

  /// Whoever may read the store may read its backup.
  private var fileMode: mode_t {
    var status = stat()
    return !isMemory && stat(path, &status) == 0 ? status.st_mode & 0o666 : 0o644
  }
}

extension StoreFile {
  /// Whether two paths lead to the same file, or would.
  static func isSame(_ one: String, _ other: String) -> Bool {
    if one == other { return true }
    let (first, second) = (identity(one), identity(other))
    return first != nil && first == second
  }

  /// The file's device and number; of one that is not there, those of its directory, with its name.
  private static func identity(_ path: String) -> [String]? {
    var status = stat()
    if stat(path, &status) == 0 { return ["\(status.st_dev)", "\(status.st_ino)"] }
    guard stat(directory(of: path), &status) == 0 else { return nil }
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    return ["\(status.st_dev)", "\(status.st_ino)", String(name)]
  }
}
