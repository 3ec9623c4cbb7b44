import CSQLite
import SatchelCore

/// A connection's state of the WAL.
struct WALUse {
  /// Whether each commit is synced; nil while unknown.
  fileprivate(set) var isSynced: Bool?
  /// Whether SQLite's page cache may spill uncommitted pages to the WAL.
  fileprivate var spills = true
  fileprivate var preallocation = WALPreallocation()
  /// Checkpoints after commits of this connection; nil for a connection whose commits trigger none.
  fileprivate var checkpointer: WALCheckpointer?
  /// The number of frames in the WAL after the latest commit.
  fileprivate var frames = 0
}

extension Connection {
  /// The open database file of SQLite.
  var databaseFile: UnsafeMutablePointer<sqlite3_file>? { file(SQLITE_FCNTL_FILE_POINTER) }

  /// The open WAL file of SQLite; nil before its first use.
  var walFile: UnsafeMutablePointer<sqlite3_file>? { file(SQLITE_FCNTL_JOURNAL_POINTER) }

  private func file(_ pointer: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    return sqlite3_file_control(handle, "main", pointer, &file) == SQLITE_OK ? file : nil
  }

  /// Sets whether commits are synced, from the next transaction on. Without that the WAL is still synced
  /// before a checkpoint, so that the store stays consistent.
  func syncCommits(_ isSynced: Bool) throws {
    if wal.isSynced == isSynced { return }
    wal.isSynced = nil
    try execute("PRAGMA synchronous = \(isSynced ? "FULL" : "NORMAL")")
    wal.isSynced = isSynced
  }

  /// Sets whether the page cache may spill pages to the WAL before the commit, when more have changed than it
  /// can hold.
  ///
  /// Not in a transaction with savepoints. When a part that is rolled back has written a page to the WAL
  /// twice, SQLite (3.40.1, at least) marks the frames after it for computing their checksums at the commit,
  /// and then computes only those of the later ones: recovery after a crash finds neither this commit nor any
  /// later one.
  func spillPages(_ spills: Bool) throws {
    if wal.spills == spills { return }
    // In pages: only that affects the current transaction.
    try execute("PRAGMA cache_spill = \(spills ? 1 : Int32.max)")
    wal.spills = spills
  }

  /// Syncs the WAL: all commits, including those of other connections, then survive a power loss.
  func syncWAL() throws {
    // Opens the WAL if this connection has not read yet.
    _ = try number("PRAGMA schema_version")
    guard let file = walFile, let methods = file.pointee.pMethods else {
      throw SatchelError(.io, "\(path): cannot sync the WAL: it is not open")
    }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    if code != SQLITE_OK { throw error(code, "syncing the WAL") }
  }

  /// Extends the WAL file for coming commits if each commit is synced. The caller holds SQLite's write lock.
  func preallocateWAL() {
    if wal.isSynced == true { wal.preallocation.extend(self) }
  }

  /// Lets `checkpointer` check the WAL after each commit of this connection.
  func delegateCheckpoints(to checkpointer: WALCheckpointer) {
    wal.checkpointer = checkpointer
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue().wal.frames = Int(frames) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Checkpoints after a commit if the WAL is long.
  func checkpointLongWAL() { wal.checkpointer?.commitFinished(on: self, frames: wal.frames) }
}
