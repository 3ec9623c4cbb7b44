extension Satchel {
  /// Tables that are made when they are first used.
  static let subjects = [
    StorySchema.subject, PhotoSchema.subject, RemoteSchema.subject, RecordSchema.subject, StateSchema.subject,
    JournalSchema.subject, MirrorSchema.subject,
  ]

  /// Copies the store into a file of its own, while others go on reading and writing. The copy holds one state, is
  /// examined before it gets its name, and replaces an earlier backup of that name.
  ///
  /// - Parameters:
  ///   - progress: hears how far it has come, in pages; false stops it
  /// - Throws: `SatchelError` `.invalid` for the store's own path and inside a transaction, `.foreign` for a file
  ///   that is no backup, `.cancelled`, `.full`, `.io`; no part of a copy is left
  @discardableResult
  public func backup(to path: String, progress: BackupProgress = { _, _ in true }) throws -> BackupReport {
    try saveState()
    return try database.backup(to: path, progress: progress)
  }

  /// Makes a backup in a directory, named by store and time, and removes the oldest of those that were made so.
  ///
  /// - Parameters:
  ///   - directory: must exist
  ///   - keep: how many backups stay, 1 or more
  /// - Throws: as `backup(to:progress:)`; `.notFound` without the directory
  @discardableResult
  public func backup(
    into directory: String, keeping keep: Int, progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    guard keep >= 1 else { throw SatchelError(.invalid, "keep: \(keep) is not 1 or more") }
    try saveState()
    return try BackupRotation(directory: directory, keep: keep)
      .backUp(database, time: database.clock.now(), progress: progress)
  }

  /// What was set before a backup is in it.
  private func saveState() throws {
    if !isReadOnly, !database.isWriting { _ = try state.flush() }
  }

  /// Puts a backup in the place of a store. The backup is examined first, and stays; a store that is there is renamed,
  /// never deleted. Nobody may have it open.
  ///
  /// - Returns: where the store went that was there
  /// - Throws: `SatchelError` `.notFound`, `.foreign`, `.damaged`, `.newer` for the backup; `.busy` when the store is
  ///   open, `.full`, `.io`
  @discardableResult
  public static func restore(_ backup: String, to path: String) throws -> String? {
    try StoreRestore(migrations: migrations, subjects: subjects).restore(backup: backup, to: path).setAside
  }
}

extension Satchel {
  /// Reads what can be read of a damaged store into a new one. The damaged file stays as it is; what is missing in the
  /// new store may be in a mirror, or with the master.
  ///
  /// - Parameters:
  ///   - damaged: nobody may have it open
  ///   - path: of the new store; must not exist
  ///   - progress: hears of tables done and in all; false stops it
  /// - Throws: `SatchelError` `.notFound`; `.invalid` when `path` exists; `.foreign` when nothing of a store can be
  ///   found; `.newer`, `.cancelled`, `.full`, `.io`. There is no new store then.
  public static func recover(
    _ damaged: String, into path: String, progress: BackupProgress = { _, _ in true }
  ) throws -> RecoveryReport {
    var report = try StoreRecovery(migrations: migrations, subjects: subjects, rules: rules)
      .recover(damaged: damaged, into: path, progress: progress)
    report.findings += repair(path)
    return report
  }

  /// Makes what belongs to what was lost agree with the rest, and examines the whole.
  private static func repair(_ path: String) -> [StoreFinding] {
    do {
      let store = try Satchel(path: path)
      try store.catalogue.repair()
      let lost = try RecordCollection.repair(store.database)
      let findings = try lost + store.check()
      try store.close()
      return findings
    } catch {
      // What was saved stays all the same.
      return [StoreFinding(code: "damaged", message: (error as? SatchelError)?.message ?? "\(error)")]
    }
  }
}
