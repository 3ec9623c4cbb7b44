extension Store {
  /// Copies the store to a file while other threads and processes keep reading and writing it. The copy is a
  /// consistent snapshot; it is checked before it is renamed to `path`, where it replaces an earlier backup.
  ///
  /// - Parameters:
  ///   - path: the backup's file
  ///   - assets: whether the files of assets are copied into `{path}.assets`, as clones or hard links where the file system
  ///     has these, so that they take no space twice
  ///   - progress: called with the number of copied pages and of all pages; returns false to cancel
  /// - Throws: `SatchelError` `.invalid` for the store's own path and inside a transaction, `.foreign` when
  ///   `path` is a file that is not a backup, `.cancelled`, `.full`, `.io`; no partial copy remains
  @discardableResult
  public func backup(
    to path: String, assets: Bool = true, progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    try saveUnsaved()
    // Before the snapshot: none of the files that it names is deleted.
    let lock = try self.assets.folder.exists ? self.assets.folder.lockShared() : nil
    defer { withExtendedLifetime(lock) {} }
    var copied = AssetStore.CopyReport()
    func copyFiles(_ connection: Connection) throws {
      guard assets, !database.isMemory else { return }
      copied = try AssetStore.copyFiles(
        of: connection, at: database.realPath, to: path, calls: database.options.fileCalls
      ) {
        guard progress(0, 1) else { throw SatchelError(.cancelled, "\(path): cancelled by the caller") }
      }
    }
    var report = try database.backup(to: path, progress: progress, beside: copyFiles)
    (report.assets, report.missingAssets) = (copied.files, copied.missing)
    copied.lock = nil
    // Those of the backup that this one replaces.
    try? AssetStore.removeOtherFiles(of: path)
    return report
  }

  /// Writes a backup into a directory, named after store and time, and deletes the oldest backups so named.
  ///
  /// - Parameters:
  ///   - directory: must exist
  ///   - keep: the number of backups to keep, 1 or more
  ///   - assets: as for `backup(to:assets:progress:)`
  ///   - progress: as for `backup(to:assets:progress:)`
  /// - Throws: as `backup(to:assets:progress:)`; `.notFound` when the directory does not exist
  @discardableResult
  public func backup(
    into directory: String, keeping keep: Int, assets: Bool = true,
    progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    guard keep >= 1 else { throw SatchelError(.invalid, "keep: \(keep) must be 1 or more") }
    let rotation = BackupRotation(directory: directory, keep: keep)
    let report = try rotation.backUp(of: database, time: database.clock.now()) {
      try backup(to: $0, assets: assets, progress: progress)
    }
    for path in try rotation.abandoned(AssetFolder.suffix, of: database.path) {
      try? AssetFolder(of: path).removeAll(withoutBackup: path)
    }
    return report
  }

  /// Writes deferred puts and pending app state, so that the backup contains it.
  private func saveUnsaved() throws {
    if !isReadOnly, !database.isInTransaction { _ = try saveChanges() }
  }

  /// Replaces a store with a copy of a backup. The backup is checked first and is not changed; an existing
  /// store is renamed, never deleted. The store must not be open in any process.
  ///
  /// - Returns: the path that the existing store was renamed to; nil when there was no store
  /// - Throws: `SatchelError` `.notFound`, `.foreign`, `.damaged`, `.newer` for the backup; `.busy` when the
  ///   store is open, `.full`, `.io`
  @discardableResult
  public static func restore(_ backup: String, to path: String) throws -> String? {
    try restore(backup, to: path, options: StoreOptions())
  }

  package static func restore(_ backup: String, to path: String, options: StoreOptions) throws -> String? {
    var (replaced, moved) = ([AssetDigest](), String?.none)
    func copyFiles(_ source: Connection) throws {
      replaced = try AssetStore.allFiles(at: path)
      _ = try AssetStore.copyFiles(
        of: source, at: DiskFile.resolvingLinks(backup), to: path, calls: options.fileCalls)
    }
    // The replaced store keeps its files. Those in the folder that the restored one does not need are removed by a sweep:
    // there must be others by then.
    func keepFiles(_ quarantine: String) throws {
      moved = quarantine
      try AssetStore.copy(replaced, at: path, to: quarantine, calls: options.fileCalls)
    }
    let restore = StoreRestore(migrations: migrations, subjects: subjects, options: options)
    do {
      let report = try restore.restore(backup: backup, to: path, beside: copyFiles, aside: keepFiles)
      try? distinguish(path)
      return report.quarantine
    } catch {
      if let moved { try? AssetFolder(of: moved).removeAll(withoutBackup: moved) }
      throw error
    }
  }
}

extension Store {
  /// Gives a copy of a store a new writer name for synchronizing, and its records revisions that the replaced store
  /// has not given. If that fails, the next sync detects that it is a copy.
  private static func distinguish(_ path: String) throws {
    // Not a whole store: that would drain the outbox file of the one that it replaces.
    var options = StoreOptions()
    // The host's clock is not known here, and nothing else is to be dated.
    options.clock = Clock { 0 }
    let database = try Database.open(
      path: path, options: options, migrations: migrations, subjects: subjects)
    try SyncLogTables.renameWriter(in: database)
    try RecordRevisions.advance(in: database)
    try AssetStore.markAbsent(in: database)
    try database.close()
  }

  /// Copies all readable data of a damaged store into a new store. The damaged file is not changed; data that
  /// is missing in the new store may be in a mirror file or in the remote.
  ///
  /// - Parameters:
  ///   - damaged: the damaged store's file; must not be open in any process
  ///   - path: the new store's file; must not exist
  ///   - progress: called with the number of processed tables and of all tables; returns false to cancel
  /// - Throws: `SatchelError` `.notFound`; `.invalid` when `path` exists; `.foreign` when the file contains
  ///   no data of a store; `.newer`, `.cancelled`, `.full`, `.io`. No new store is created then.
  public static func recover(
    _ damaged: String, into path: String, progress: BackupProgress = { _, _ in true }
  ) throws -> RecoveryReport {
    var report = try StoreRecovery(migrations: migrations, subjects: subjects, rules: rules)
      .recover(damaged: damaged, into: path, progress: progress) {
        // A file that cannot be copied costs the bytes of one asset; the rows are recovered.
        try? AssetStore.copy(AssetStore.allFiles(at: damaged), at: damaged, to: path)
      }
    // A value that was reset is lost as well.
    let lost = report.tables.filter { $0.lostRows + $0.lostPages > 0 }.map(\.name)
    report.findings += repair(path, lost: Set(lost + report.findings.map(\.code)))
    return report
  }

  /// Repairs rows that refer to lost rows and derived values that contradict their source, then checks the
  /// new store.
  ///
  /// - Parameter lost: the tables of which rows or values are known to be lost
  private static func repair(_ path: String, lost: Set<String>) -> [StoreFinding] {
    do {
      let store = try Store(path: path)
      try store.catalogue.repair(lost: lost)
      try PhotoCatalogue.repair(store.database)
      try StoryLibrary.repair(store.database)
      try AssetStore.repair(store.database)
      let lost = try RecordCollection.repair(store.database)
      try store.catalogue.repairAssets()
      try store.syncLog.repair()
      let findings = try lost + store.check()
      try store.close()
      return findings
    } catch {
      // The recovered rows are kept even when the repair fails.
      return [StoreFinding(code: "damaged", message: (error as? SatchelError)?.message ?? "\(error)")]
    }
  }
}
