import CSQLite

/// Puts a backup in the place of a store.
package struct StoreRestore {
  /// What was done.
  package struct Report: Equatable, Sendable {
    /// Where the store went that was there before; nil when there was none.
    package var setAside: String?
    package var bytes: Int64
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
    var setAside: String?
    let size = try withoutActuallyEscaping(progress) { progress in
      try source.execute("BEGIN")
      defer { try? source.execute("COMMIT") }
      _ = try source.number("SELECT count(*) FROM sqlite_schema")
      let copy = StoreCopy(target: target, fileSystem: options.fileSystem, progress: progress)
      do {
        return try copy.make(from: source, mode: mode(target)) {
          setAside = try replace(target)
        }
      } catch {
        if let setAside, access(target, F_OK) != 0 { StoreFile.bringBack(setAside, to: target) }
        throw error
      }
    }
    return Report(setAside: setAside, bytes: size.bytes)
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

  /// Sets what is at `target` aside while it is known that nobody has it open.
  private func replace(_ target: String) throws -> String? {
    guard access(target, F_OK) == 0 else {
      // A log without its database must not be taken for the new store's.
      return StoreFile.hasLog(target) ? try StoreFile.setAside(target, time: options.clock.now()) : nil
    }
    let held = try lock(target)
    return try withExtendedLifetime(held) { try StoreFile.setAside(target, time: options.clock.now()) }
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
