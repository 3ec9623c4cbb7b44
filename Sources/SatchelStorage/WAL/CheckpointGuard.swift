import CSQLite
import SatchelCore

/// Runs checkpoints while another connection holds a read transaction.
///
/// SQLite 3.7.0 to 3.51.2 loses commits when a connection restarts the WAL while another one is between two
/// steps of a checkpoint: it has read the header of the WAL index, and not yet how much of the WAL is in the
/// database. The checkpoint then counts frames of the new WAL as copied that it never saw
/// (https://sqlite.org/wal.html#walresetbug).
///
/// A read transaction that began before the checkpoint prevents that. One that reads from the WAL keeps
/// others from restarting it; one that began when all of the WAL was copied holds the lock that a checkpoint
/// needs for copying. FULL, RESTART and TRUNCATE do not help: where the write lock is busy they continue as
/// PASSIVE. The guard costs 4.5 µs.
// Unchecked: `reader` is accessed with the lock held.
final class CheckpointGuard: @unchecked Sendable {
  /// The number of attempts at TRUNCATE while others read or write, and the pause between them in
  /// milliseconds.
  private static let (attempts, pause): (Int, Int32) = (20, 5)

  private let lock = ConditionLock()
  private let open: @Sendable () throws -> Connection
  private var reader: Connection?

  /// Creates the guard.
  ///
  /// - Parameter open: opens a read connection
  init(_ open: @escaping @Sendable () throws -> Connection) { self.open = open }

  /// Checkpoints as many frames of the WAL as readers allow (PASSIVE), without waiting.
  ///
  /// - Returns: the numbers of frames in the WAL and of those in the database; nil when another connection
  ///   checkpoints, or when nothing could be copied
  func checkpoint(_ connection: Connection) -> (frames: Int, copied: Int)? {
    lock.withLock {
      try? reading { connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }
    }
  }

  /// Checkpoints the whole WAL and truncates its file.
  ///
  /// TRUNCATE waits for all readers of the WAL, including the guard. So a PASSIVE checkpoint under a first
  /// guard copies everything; the second guard then begins without a need for the WAL, and does not block
  /// TRUNCATE.
  ///
  /// - Returns: whether the WAL is empty; false while other connections read or write
  func truncate(_ connection: Connection) -> Bool {
    lock.withLock {
      for attempt in 0..<Self.attempts {
        if attempt > 0 { sqlite3_sleep(Self.pause) }
        guard let first = try? reading({ connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }),
          first.copied == first.frames
        else { continue }
        let last = try? reading {
          // After a commit in between the guard needs the WAL, and waiting for it would never end.
          connection.withoutWaiting { connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }
        }
        if last != nil { return true }
      }
      return false
    }
  }

  /// Closes the connection. The next checkpoint opens another one.
  func close() { lock.withLock { reader = nil } }

  private func reading<Result>(_ body: () -> Result?) throws -> Result? {
    let reader = try self.reader ?? open()
    self.reader = reader
    return try reader.inReadTransaction {
      // SQLite begins a read transaction with the first read.
      _ = try reader.number("SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)")
      return body()
    }
  }
}

extension Connection {
  /// Runs a checkpoint.
  ///
  /// - Returns: the numbers of frames in the WAL and of those in the database; nil when the checkpoint failed
  fileprivate func checkpoint(_ mode: Int32) -> (frames: Int, copied: Int)? {
    var (frames, copied): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &frames, &copied)
    return code == SQLITE_OK ? (Int(max(0, frames)), Int(max(0, copied))) : nil
  }

  fileprivate func withoutWaiting<Result>(_ body: () -> Result) -> Result {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, busyTimeout) }
    return body()
  }
}
