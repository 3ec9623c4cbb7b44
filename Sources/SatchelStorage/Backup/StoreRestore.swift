import CSQLite
import SatchelCore

/// Replaces a store by a backup.
package struct StoreRestore {
  /// The outcome of a restore.
  package struct Report: Equatable, Sendable {
    /// The path to which the previous store was moved; nil when there was none.
    package var quarantine: String?
    package var bytes: Int64
  }

  /// The previous store.
  private struct Earlier {
    /// Its path now.
    var path: String
    /// The inode of the file at the target; nil when there was none.
    var inode: ino_t?
    /// The lock that prevents others from opening it until the restored store is renamed over it.
    var lock: DatabaseFile?
  }

  /// The schema of this version: a newer one is not restored.
  let migrations: [Migration]
  let subjects: [SubjectSchema]
  let options: StoreOptions

  package init(migrations: [Migration], subjects: [SubjectSchema], options: StoreOptions = StoreOptions()) {
    self.migrations = migrations
    self.subjects = subjects
    self.options = options
  }

  /// Copies `backup` to `target`, and moves the store that was there aside; nothing is deleted. Every page of
  /// the backup is checked first, and the backup stays unchanged; `target` changes only once the copy is
  /// complete and synced.
  ///
  /// - Parameters:
  ///   - target: the path of a store, damaged or not, that no process has open, or of no file
  ///   - beside: copies what belongs to the backup and is not in its file, before anything at the target changes
  ///   - aside: copies what belongs to the previous store, and is not in its file, to its new path; when it throws, that
  ///     store stays where it is
  /// - Throws: `.foreign`, `.damaged`, `.newer`, `.notFound` for the backup; `.busy` when the target is open
  ///   somewhere; `.invalid` when both are the same file or one is not a file; `.cancelled`, `.full`, `.io`
  @discardableResult
  package func restore(
    backup: String, to target: String, progress: BackupProgress = { _, _ in true },
    beside: (Connection) throws -> Void = { _ in }, aside: (String) throws -> Void = { _ in }
  ) throws -> Report {
    for path in [backup, target] where path.isEmpty || path.utf8.contains(0) || path == ":memory:" {
      throw SatchelError(.invalid, "\(path == backup ? "backup" : "target"): is not the path of a file")
    }
    guard !StoreFile.isSame(backup, target) else {
      throw SatchelError(.invalid, "\(target): is the backup itself; choose another target")
    }
    let source = try open(backup)
    try refuseDirectory(target)
    var earlier: Earlier?
    var directory: StoreDirectoryLock?
    let size = try withoutActuallyEscaping(progress) { progress in
      try source.execute("BEGIN")
      defer { try? source.execute("COMMIT") }
      // A backup that would not open is not restored: the store at the target stays where it is.
      try Migrator(migrations: migrations, subjects: subjects).refuseInvalid(source)
      for subject in subjects { try subject.refuseNewer(subject.version(source), path: source.path) }
      let copy = StoreCopy(
        target: target, vfsName: options.vfsName, calls: options.fileCalls, progress: progress)
      do {
        return try copy.make(from: source, mode: DatabaseFileNames(target).permissions) {
          directory = try StoreDirectoryLock(
            of: DatabaseFile.fullPath(of: target), timeout: options.busyTimeout)
          try beside(source)
          earlier = try moveAside(target)
          if let earlier {
            // Without a database at the target its folder has moved, with what was copied.
            if earlier.inode == nil { try beside(source) }
            try aside(earlier.path)
          }
        }
      } catch {
        if let earlier { undoMoveAside(earlier, to: target) }
        throw error
      }
    }
    return withExtendedLifetime((earlier, directory)) { Report(quarantine: earlier?.path, bytes: size.bytes) }
  }

  private func open(_ backup: String) throws -> Connection {
    switch try StoreFile.examine(backup) {
    case .absent: throw SatchelError(.notFound, "\(backup): does not exist")
    case .empty: throw SatchelError(.foreign, "\(backup): is empty, not a store")
    case .foreign(let reason): throw SatchelError(.foreign, "\(backup): \(reason)")
    case .damaged(let reason): throw SatchelError(.damaged, "\(backup): \(reason)")
    case .store: break
    }
    // A backup has no WAL. If one exists, the backup is open as a store, or its WAL was copied with it: it is
    // read.
    return try Connection(
      path: backup, flags: SQLITE_OPEN_READONLY, busyTimeout: options.busyTimeout,
      isImmutable: !StoreFile.hasWAL(backup), vfsName: options.vfsName)
  }

  private func refuseDirectory(_ target: String) throws {
    var status = stat()
    guard stat(target, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SatchelError(.invalid, "\(target): is not a file") }
    _ = try lock(target)
  }

  /// Copies the store at `target` aside while it is locked against other connections. It stays until the
  /// restored store is renamed over it: after a power loss one of them exists.
  private func moveAside(_ target: String) throws -> Earlier? {
    var status = stat()
    guard stat(target, &status) == 0 else {
      // SQLite would apply a WAL without its database to the restored store.
      guard StoreFile.hasWALOrJournal(target) else { return nil }
      return Earlier(path: try StoreFile.quarantine(target, time: options.clock.now()), inode: nil)
    }
    StoreFile.applyWAL(target)
    let held = try lock(target)
    let aside = StoreFile.freeName(target, time: options.clock.now())
    do {
      let mode = DatabaseFileNames(target).permissions
      let copy = try DiskFile(aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
      try held.copy(to: copy)
      try copy.sync()
      // A WAL that cannot be applied belongs to a damaged store. SQLite must not apply it to the restored
      // one.
      try StoreFile.renameCompanions(of: target, to: aside)
      try DiskFile.syncDirectory(of: target)
      return Earlier(path: aside, inode: status.st_ino, lock: held)
    } catch {
      undoMoveAside(Earlier(path: aside, inode: status.st_ino), to: target)
      throw error
    }
  }

  /// Reverts `moveAside`, unless the restored store is already at its path.
  private func undoMoveAside(_ earlier: Earlier, to target: String) {
    var status = stat()
    let exists = stat(target, &status) == 0
    if exists, status.st_ino == earlier.inode {
      try? StoreFile.renameCompanions(of: earlier.path, to: target)
      unlink(earlier.path)
    } else if !exists {
      StoreFile.undoQuarantine(earlier.path, to: target)
    }
  }

  private func lock(_ target: String) throws -> DatabaseFile {
    let file = try DatabaseFile(target, isWritable: true)
    guard try file.lock() else {
      throw SatchelError(.busy, "\(target): the store is open, here or in another process; close it first")
    }
    return file
  }
}
