import CSQLite

/// Puts a backup in the place of a store.
package struct StoreRestore {
  /// What was done.
  package struct Report: Equatable, Sendable {
    /// Where the store went that was there before; nil when there was none.
    package var setAside: String?
    package var bytes: Int64
  }

  /// What was at the target before.
  private struct Earlier {
    /// Where it is now.
    var path: String
    /// Of the file at the target; nil when there was none.
    var inode: ino_t?
    /// Keeps others from opening it until the restored store has its place.
    var lock: DatabaseFile?
  }

  /// The schema that this library knows: what is newer is not restored.
  let migrations: [Migration]
  let subjects: [SubjectSchema]
  let options: StoreOptions

  package init(migrations: [Migration], subjects: [SubjectSchema], options: StoreOptions = StoreOptions()) {
    self.migrations = migrations
    self.subjects = subjects
    self.options = options
  }

  /// Copies `backup` to `target`, and sets aside what was there: nothing is ever deleted. The backup is examined
  /// page by page first, and stays where it is; `target` changes only once its successor is whole and synced.
  ///
  /// - Parameter target: a store, damaged or sound, or nothing; nobody may have it open
  /// - Throws: `.foreign`, `.damaged`, `.newer`, `.notFound` for the backup, `.busy` when the target is open
  ///   somewhere, `.invalid` when both are the same or one is no file, `.cancelled`, `.full`, `.io`
  @discardableResult
  package func restore(
    backup: String, to target: String, progress: BackupProgress = { _, _ in true }
  ) throws -> Report {
    for path in [backup, target] where path.isEmpty || path.utf8.contains(0) || path == ":memory:" {
      throw SatchelError(.invalid, "\(path == backup ? "backup" : "target"): no path of a file")
    }
    guard !StoreFile.isSame(backup, target) else {
      throw SatchelError(.invalid, "\(target): the backup itself")
    }
    let source = try open(backup)
    try refuseNewer(source)
    try refuseDirectory(target)
    var earlier: Earlier?
    let size = try withoutActuallyEscaping(progress) { progress in
      try source.execute("BEGIN")
      defer { try? source.execute("COMMIT") }
      _ = try source.number("SELECT count(*) FROM sqlite_schema")
      let copy = StoreCopy(target: target, fileSystem: options.fileSystem, progress: progress)
      do {
        return try copy.make(from: source, mode: mode(target)) {
          earlier = try moveAside(target)
        }
      } catch {
        if let earlier { bringBack(earlier, to: target) }
        throw error
      }
    }
    return withExtendedLifetime(earlier) { Report(setAside: earlier?.path, bytes: size.bytes) }
  }

  private func open(_ backup: String) throws -> Connection {
    switch try StoreFile.examine(backup) {
    case .absent: throw SatchelError(.notFound, "\(backup): does not exist")
    case .empty: throw SatchelError(.foreign, "\(backup): no store")
    case .foreign(let reason): throw SatchelError(.foreign, "\(backup): \(reason)")
    case .damaged(let reason): throw SatchelError(.damaged, "\(backup): \(reason)")
    case .store: break
    }
    // A backup has no log. Where one is, someone has it open as a store, or copied it along: it counts.
    return try Connection(
      path: backup, flags: SQLITE_OPEN_READONLY, busyTimeout: options.busyTimeout,
      isImmutable: !StoreFile.hasLog(backup), fileSystem: options.fileSystem)
  }

  private func refuseNewer(_ source: Connection) throws {
    try Migrator(migrations: migrations).refuseNewer(
      source.number("PRAGMA user_version"), path: source.path)
    for subject in subjects { try subject.refuseNewer(subject.version(source), path: source.path) }
  }

  private func refuseDirectory(_ target: String) throws {
    var status = stat()
    guard stat(target, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SatchelError(.invalid, "\(target): not a file") }
    _ = try lock(target)
  }

  /// Copies what is at `target` aside while it is known that nobody has it open. It stays until the restored store is
  /// renamed over it: a loss of power leaves the one or the other.
  private func moveAside(_ target: String) throws -> Earlier? {
    var status = stat()
    guard stat(target, &status) == 0 else {
      // A WAL without its database must not be taken for the new store's.
      guard StoreFile.hasLeftovers(target) else { return nil }
      return Earlier(path: try StoreFile.setAside(target, time: options.clock.now()), inode: nil)
    }
    StoreFile.applyWAL(target)
    let held = try lock(target)
    let aside = StoreFile.freeName(target, time: options.clock.now())
    do {
      let copy = try DiskFile(aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode(target))
      try held.copy(to: copy)
      try copy.sync()
      // A WAL that could not be applied is one of a damaged store. The restored one must not get it.
      try StoreFile.renameCompanions(of: target, to: aside)
      try DiskFile.syncDirectory(of: target)
      return Earlier(path: aside, inode: status.st_ino, lock: held)
    } catch {
      bringBack(Earlier(path: aside, inode: status.st_ino), to: target)
      throw error
    }
  }

  /// Undoes `moveAside`, unless the restored store has taken the place already.
  private func bringBack(_ earlier: Earlier, to target: String) {
    var status = stat()
    let isThere = stat(target, &status) == 0
    if isThere, status.st_ino == earlier.inode {
      try? StoreFile.renameCompanions(of: earlier.path, to: target)
      unlink(earlier.path)
    } else if !isThere {
      StoreFile.bringBack(earlier.path, to: target)
    }
  }

  private func lock(_ target: String) throws -> DatabaseFile {
    let file = try DatabaseFile(target, isWritable: true)
    guard try file.lock() else {
      throw SatchelError(.busy, "\(target): the store is open, here or in another process")
    }
    return file
  }

  private func mode(_ target: String) -> mode_t {
    var status = stat()
    return stat(target, &status) == 0 ? status.st_mode & 0o666 : 0o644
  }
}
