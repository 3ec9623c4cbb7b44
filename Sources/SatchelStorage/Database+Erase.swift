import SatchelCore

extension Database {
  /// Removes the bytes of everything that was deleted from the file and its WAL: SQLite writes the file again
  /// (VACUUM), and the WAL is truncated.
  ///
  /// - Throws: `.busy` while another handle reads or writes for too long, and in a transaction; `.full`, `.io`
  package func erase() throws {
    if isMemory { return }
    var isDone = false
    try maintain { connection in
      try connection.execute("VACUUM")
      isDone = checkpointer.truncate(connection)
    }
    guard isDone else {
      throw SatchelError(
        .busy, "\(path): deleted bytes cannot be removed from its WAL while another handle reads or writes")
    }
  }
}
