import CSQLite

/// Backups of a store in a directory, the newest of which are kept.
///
/// They are called `<store>-<UTC time>.satchel`. Only files of this name that are stores are ever removed.
public struct BackupRotation: Sendable {
  /// Where the backups are.
  public let directory: String
  /// How many are kept; at least 1.
  public let keep: Int

  public init(directory: String, keep: Int) {
    self.directory = directory
    self.keep = max(1, keep)
  }

  /// Makes a backup, and then removes the oldest beyond `keep`.
  ///
  /// - Parameter time: Unix milliseconds, for the name; later than that of any backup there is, whatever the clock
  ///   says
  /// - Throws: as `Database.backup(to:)`; what is there stays then
  package func backUp(
    _ database: Database, time: Int64, progress: BackupProgress = { _, _ in true }
  ) throws -> BackupReport {
    let name = BackupName.stem(of: database.path)
    let newest = try list(name).last?.time ?? 0
    let made = BackupName(stem: name, time: max(time, newest + 1))
    var report = try database.backup(to: path(made), progress: progress)
    report.removed = try prune(name)
    return report
  }

  /// The backups of a store, oldest first, by their paths.
  ///
  /// - Parameter store: path of the store
  public func backups(of store: String) throws -> [String] {
    try list(BackupName.stem(of: store)).map(path)
  }

  private func path(_ name: BackupName) -> String { "\(directory)/\(name.text)" }

  /// Removes the oldest; one that cannot be removed now goes the next time.
  private func prune(_ stem: String) throws -> [String] {
    var removed: [String] = []
    for name in try list(stem).dropLast(keep) {
      let path = path(name)
      // A name alone does not make it ours. In use it may be, by someone who looks into it.
      guard case .store? = try? StoreFile.examine(path), !StoreFile.hasLog(path) else { continue }
      if unlink(path) == 0 { removed.append(path) }
    }
    removeParts(stem)
    return removed
  }

  /// What a crash left of backups that were never finished.
  private func removeParts(_ stem: String) {
    let names = (try? entries()) ?? []
    for entry in names where entry.hasSuffix(StoreCopy.partSuffix) {
      guard BackupName(String(entry.dropLast(StoreCopy.partSuffix.count)), stem: stem) != nil,
        let file = try? DiskFile("\(directory)/\(entry)", O_RDWR),
        flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, (try? file.isAtPath) == true
      else { continue }
      unlink(file.path)
    }
  }

  private func list(_ stem: String) throws -> [BackupName] {
    try entries().compactMap { BackupName($0, stem: stem) }.sorted { $0.time < $1.time }
  }

  private func entries() throws -> [String] {
    guard let stream = opendir(directory) else { throw SatchelError(errno: errno, directory) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return names
  }
}
