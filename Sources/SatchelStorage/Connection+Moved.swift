import CSQLite
import SatchelCore

/// Marks the error of a commit that was made in a file which is no longer at the store's path.
struct FileHasMoved: Error {}

extension Connection {
  /// Whether the path no longer names the open file. Costs one system call.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Acquires the shared lock of SQLite before its first read, and then compares the path with the open file.
  ///
  /// Between SQLite's opening of a file and its first lock, another process may replace or rename the file; SQLite would
  /// then open the WAL of the one at the path, and mix the pages of both. Replacing a store needs the exclusive lock:
  /// what this returns stays true, since SQLite keeps the lock for as long as a connection in WAL mode is open.
  ///
  /// - Returns: whether the path names the open file; with false, nothing may be read
  /// - Throws: `.busy` while another connection has the exclusive lock
  func lockAtPath() throws -> Bool {
    // A database in memory has no file.
    guard let file = databaseFile, let methods = file.pointee.pMethods else { return true }
    let code = methods.pointee.xLock(file, SQLITE_LOCK_SHARED)
    if code != SQLITE_OK { throw error(code, "locking the file") }
    return !hasMoved
  }

  /// Keeps the WAL file when this connection closes.
  func keepWAL() {
    var keeps: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
  }

  /// Whether the WAL is no longer at its path.
  var hasLostWAL: Bool {
    guard isWAL, let name = sqlite3_db_filename(handle, "main"), let wal = sqlite3_filename_wal(name)
    else {
      return false
    }
    return access(wal, F_OK) != 0 && errno == ENOENT
  }

  /// Throws when the store's file was removed, renamed or replaced while it was open: SQLite would continue
  /// to write to a file without that name. Runs after each commit, and costs two system calls: a commit that
  /// `write` acknowledges was in the file at the store's path at that time.
  func verifyFileAtPath() throws {
    guard let lost = hasMoved ? "its file" : hasLostWAL ? "its WAL" : nil else { return }
    throw SatchelError(
      .io,
      "\(path): \(lost) was renamed, removed or replaced while the store was open: close the store, which completes a"
        + " renamed file, and open it again", underlying: FileHasMoved())
  }

  /// Checkpoints the WAL of a file that was renamed while it was open into the file: under its new name it has another
  /// WAL. The last connection that a handle closes calls this.
  ///
  /// SQLite does not checkpoint such a file when it closes, but when it leaves WAL mode. It then needs the exclusive
  /// lock of the file, so that another process that has opened the file by its new name is not overwritten. It cannot
  /// change the header of a file without its name, which therefore stays in WAL mode.
  ///
  /// - Throws: `.io` when another connection has the file open: the last writes are in the WAL at the old name only
  func checkpointRenamedFile() throws {
    // The name of the WAL belongs to another store now.
    if access(path, F_OK) == 0 { keepWAL() }
    let code = sqlite3_exec(handle, "PRAGMA journal_mode = DELETE", nil, nil, nil)
    // SQLITE_READONLY_DBMOVED, a macro that Swift does not import.
    guard code != SQLITE_OK, code != SQLITE_READONLY | 4 << 8 else { return }
    keepWAL()
    let reason = error(code, "completing the renamed file").message
    throw SatchelError(
      .io,
      "\(path): was renamed while the store was open, and its last writes are in \(path)-wal only, since another"
        + " connection has the file open or it cannot be written; close all others first, the last one completes the"
        + " file: \(reason)")
  }
}
