import CSQLite

/// Copies a long log back into the store's file, on a thread of its own where that is worth it.
///
/// SQLite would do that within the commit that makes the log too long, which then takes twice as long where it is a
/// large one. Here the next large commit goes on meanwhile. The log begins anew only when all of it was copied: so one
/// that finds it far too long waits, and copies the rest. Small commits copy the log themselves as SQLite would: there
/// a thread takes more, by its syncs beside theirs, than the one commit of many that copies.
// Unchecked: `connection` is touched by the thread alone, and when that has ended; the rest is behind the monitor.
final class LogCopier: @unchecked Sendable {
  /// Pages of a log that is copied.
  static let long = 4000
  /// A log that was as long before a commit is copied by that commit to its end: 64 MB.
  static let tooLong = 16_000
  /// Unless the commit is so large itself that fewer like it are in the log.
  private static let fewest = 3
  /// Pages of a large commit; fewer are copied at once.
  private static let large = 1000

  private let worker = Worker()
  private let monitor = Monitor()
  private var isCopying = false
  private var isStopped = false
  /// Pages that are known to be in the file; none when all were, as the log begins anew then.
  private var copied = 0
  /// How long the log was behind the latest commit; touched with the store's write lock held.
  private var seen = 0
  private let open: @Sendable () throws -> Connection
  private var connection: Connection?

  /// - Parameter open: makes a connection that may write
  init(_ open: @escaping @Sendable () throws -> Connection) { self.open = open }

  /// Called behind a commit, by who holds the store's write lock.
  ///
  /// - Parameter pages: how many the log has
  func look(at writer: Connection, pages: Int) {
    // A log that was begun anew has nothing of what was there before.
    let before = seen <= pages ? seen : 0
    let added = pages - before
    seen = pages
    guard pages >= Self.long, added > 0 else { return }
    let limit = max(Self.tooLong, Self.fewest * added)
    let isLeft = monitor.withLock {
      while isCopying, before >= limit { monitor.wait() }
      if isCopying { return true }
      let left = copied <= pages ? pages - copied : pages
      isCopying = added >= Self.large && left >= Self.large && before < limit && !isStopped && begin()
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
