import CSQLite

/// Copies a long log back into the store's file, on a thread of its own.
///
/// SQLite would do that within the commit that makes the log too long, which then takes as long as hundreds of others.
/// Here commits go on meanwhile, and lengthen the log. It begins anew only when all of it was copied: what little is
/// left is copied by a commit itself. One that finds the log far too long waits.
// Unchecked: `connection` is touched by the thread alone, and when that has ended; the rest is behind the monitor.
final class LogCopier: @unchecked Sendable {
  /// Pages of a log that is copied.
  static let long = 4000
  /// Behind this commits wait: 64 MB.
  static let tooLong = 16_000
  /// Pages that a commit copies itself.
  private static let little = 1000

  private let worker = Worker()
  private let monitor = Monitor()
  private var isCopying = false
  private var isStopped = false
  /// Pages that are known to be in the file; none when all were, as the log begins anew then.
  private var copied = 0
  private let open: @Sendable () throws -> Connection
  private var connection: Connection?

  /// - Parameter open: makes a connection that may write
  init(_ open: @escaping @Sendable () throws -> Connection) { self.open = open }

  /// Called behind a commit, by who holds the store's write lock.
  ///
  /// - Parameter pages: how many the log has
  func look(at writer: Connection, pages: Int) {
    guard pages >= Self.long else { return }
    let isLeft = monitor.withLock {
      while isCopying, pages >= Self.tooLong { monitor.wait() }
      if isCopying { return true }
      let left = copied <= pages ? pages - copied : pages
      isCopying = left > Self.little && pages < Self.tooLong && !isStopped && begin()
      return isCopying
    }
    if isLeft { return }
    let inFile = writer.copyLog()
    monitor.withLock { copied = inFile }
  }

  /// - Returns: whether there is a thread that does it
  private func begin() -> Bool {
    do {
      try worker.add { [self] in
        // What cannot be copied now stays in the log, and whoever comes next tries again.
        if connection == nil { connection = try? open() }
        let inFile = connection?.copyLog() ?? 0
        monitor.withLock {
          copied = inFile
          isCopying = false
          monitor.signal()
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Ends copying, and waits for it. Whoever commits afterwards copies the log without a thread.
  func stop() {
    monitor.withLock { isStopped = true }
    worker.stop()
    connection = nil
    // What was not begun is given up.
    monitor.withLock {
      isCopying = false
      monitor.signal()
    }
  }
}

extension Connection {
  /// Copies of the log what no reader stands in the way of.
  ///
  /// - Returns: pages of it that are in the file now; 0 when all are, or when another does it
  fileprivate func copyLog() -> Int {
    var (pages, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    return code == SQLITE_OK && copied < pages ? Int(max(0, copied)) : 0
  }
}
