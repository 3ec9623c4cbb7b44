import CSQLite

extension Connection {
  /// Whether the path no longer leads to the file that is open. Costs one look at the directory.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Leaves the file at the path of the WAL where it is when this closes.
  func keepWAL() {
    var keeps: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
  }

  /// Whether the WAL that was just written to is no longer at its path.
  var hasLostWAL: Bool {
    guard isWAL, let name = sqlite3_db_filename(handle, "main"), let log = sqlite3_filename_wal(name)
    else {
      return false
    }
    return access(log, F_OK) != 0 && errno == ENOENT
  }

  /// Throws when somebody removed, renamed or replaced the store's file while it was open: SQLite would go on
  /// writing where nobody will ever look. Asked behind each commit, at the cost of two looks at the directory: what
  /// `write` has acknowledged was in the file at the store's path at that time.
  func confirmPlace() throws {
    guard let what = hasMoved ? "its file" : hasLostWAL ? "its WAL" : nil else { return }
    throw SatchelError(
      .io, "\(path): \(what) was removed or replaced while the store was open: close it, and open it again")
  }
}
