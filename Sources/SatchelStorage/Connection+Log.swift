import CSQLite

/// How a connection uses its log.
struct LogUse {
  /// Whether each commit is synced; SQLite's own choice while it was not said.
  fileprivate(set) var isSynced: Bool?
  /// Whether pages may go to the log before they are committed.
  fileprivate var spills = true
  fileprivate var ahead = LogAhead()
  /// Who copies the log of this connection's commits; SQLite itself while there is none.
  fileprivate var copier: LogCopier?
  /// How long it was behind the latest commit.
  fileprivate var pages = 0
}

extension Connection {
  /// The log as SQLite has it open; nil before something was written.
  var logFile: UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
    return code == SQLITE_OK ? file : nil
  }

  /// From the next transaction on, whether a commit ends only when it is on the disk. Without that the log is still
  /// synced before it is copied, so that the store stays sound.
  func syncCommits(_ isSynced: Bool) throws {
    if log.isSynced == isSynced { return }
    // Not yet known while it may have failed.
    log.isSynced = nil
    try execute("PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
    log.isSynced = isSynced
  }

  /// Whether pages of a transaction may go to the log before it is committed, when there are more than the cache holds.
  ///
  /// Not where a part of it may be undone. When that has written a page to the log twice, SQLite (3.40.1, at least) takes
  /// frames that come afterwards for ones whose checksums will be made at the commit, and makes them for the later ones
  /// only: whoever recovers the log after a crash then finds neither this commit nor any after it.
  func spillPages(_ spills: Bool) throws {
    if log.spills == spills { return }
    // In pages, as only that holds for the transaction under way.
    try execute("PRAGMA cache_spill = \(spills ? 1 : Int32.max)")
    log.spills = spills
  }

  /// Waits until all that was committed is on the disk, by others, too.
  func syncLog() throws {
    // Opens the log where this connection has not read yet.
    _ = try number("PRAGMA schema_version")
    guard let file = logFile, let methods = file.pointee.pMethods else { return }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    if code != SQLITE_OK { throw error(code, "syncing the log") }
  }

  /// Makes the log's file longer where it will soon be, when each commit is synced; with the write lock held.
  func extendLog() {
    if log.isSynced == true { log.ahead.extend(self) }
  }

  /// From now on the log is copied by somebody else than SQLite's own commits.
  func leaveLog(to copier: LogCopier) {
    log.copier = copier
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue().log.pages = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Called behind each commit.
  func copyLongLog() { log.copier?.look(at: self, pages: log.pages) }

  /// Copies the log into the database and empties it, as far as readers let it.
  func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) }
}
