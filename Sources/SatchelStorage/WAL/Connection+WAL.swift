import CSQLite

/// How a connection uses its WAL.
struct WALUse {
  /// Whether each commit is synced; nil before that was set, and where setting it failed.
  fileprivate(set) var isSynced: Bool?
  /// Whether pages may go to the WAL before they are committed.
  fileprivate var spills = true
  fileprivate var preallocation = WALPreallocation()
  /// Runs the checkpoints after commits of this connection; nil for a connection whose commits are not followed by any.
  fileprivate var checkpointer: WALCheckpointer?
  /// Frames in the WAL after the latest commit.
  fileprivate var frames = 0
}

extension Connection {
  /// The WAL file as SQLite has it open; nil before it was first used.
  var walFile: UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
    return code == SQLITE_OK ? file : nil
  }

  /// Commits the transaction under way. Its frames go to the WAL in large writes: `WALWriteBuffer`.
  func commit() throws {
    let buffer = walFile.flatMap(WALWriteBuffer.of)
    buffer?.pointee.begin()
    defer { buffer?.pointee.end() }
    try run("COMMIT")
  }

  /// Whether commits are synced, from the next transaction on. Without that the WAL is still synced before a checkpoint,
  /// so that the store stays sound.
  func syncCommits(_ isSynced: Bool) throws {
    if wal.isSynced == isSynced { return }
    wal.isSynced = nil
    try execute("PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
    wal.isSynced = isSynced
  }

  /// Whether pages of a transaction may go to the WAL before it is committed, when more have changed than the cache
  /// holds.
  ///
  /// Not in a transaction of which a part may be rolled back. When such a part has written a page to the WAL twice,
  /// SQLite (3.40.1, at least) marks the frames after it as ones whose checksums are computed at the commit, and then
  /// computes them for the later ones only: recovery after a crash finds neither this commit nor any after it.
  func spillPages(_ spills: Bool) throws {
    if wal.spills == spills { return }
    // In pages, as only that holds for the transaction under way.
    try execute("PRAGMA cache_spill = \(spills ? 1 : Int32.max)")
    wal.spills = spills
  }

  /// Syncs the WAL: all commits, also those of other connections, survive a loss of power afterwards.
  func syncWAL() throws {
    // Opens the WAL where this connection has not read yet.
    _ = try number("PRAGMA schema_version")
    guard let file = walFile, let methods = file.pointee.pMethods else {
      throw SatchelError(.io, "\(path): no WAL is open that could be synced")
    }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    if code != SQLITE_OK { throw error(code, "syncing the WAL") }
  }

  /// Extends the WAL file for the commits to come, where each is synced; with SQLite's write lock held.
  func preallocateWAL() {
    if wal.isSynced == true { wal.preallocation.extend(self) }
  }

  /// From now on `checkpointer` looks at the WAL after each commit of this connection.
  func leaveCheckpoints(to checkpointer: WALCheckpointer) {
    wal.checkpointer = checkpointer
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue().wal.frames = Int(frames) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Called after each commit.
  func checkpointLongWAL() { wal.checkpointer?.commitFinished(on: self, frames: wal.frames) }
}
