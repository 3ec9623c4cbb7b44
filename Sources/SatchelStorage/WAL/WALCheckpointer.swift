import CSQLite
import SatchelCore

/// Checkpoints a long WAL, after large commits on a thread of the scheduler.
///
/// SQLite checkpoints within the commit that exceeds the limit of the WAL, so that a large commit takes twice
/// as long. Here the next large commit runs meanwhile. SQLite resets the WAL only after a complete
/// checkpoint; a commit that finds the WAL over its limit waits for the thread and completes the checkpoint.
/// Small commits checkpoint themselves: with a thread, whose syncs compete with theirs, W1 took a seventh
/// longer.
// Unchecked: `connection` is accessed by the thread, and after its end; the rest with `condition` held.
final class WALCheckpointer: @unchecked Sendable {
  /// The number of frames from which a WAL is checkpointed; SQLite's default is 1,000.
  static let minFrames = 4000
  /// A commit that finds this number of frames waits until all are copied: 64 MB.
  static let maxFrames = 16_000
  /// A WAL with fewer large commits than this may exceed the maximum.
  private static let minCommits = 3
  /// The number of frames of a large commit, which leaves the checkpoint to the thread.
  private static let largeCommitFrames = 1000

  private let thread: JobThread
  private var job: JobThread.Job?
  private let condition = ConditionLock()
  private let readGuard: CheckpointGuard
  /// Whether a checkpoint was requested from the thread, or runs there.
  private var isRunning = false
  private var isStopped = false
  /// The number of frames that are in the database; 0 when all were, since SQLite then resets the WAL.
  private var copied = 0
  /// The number of frames after the latest commit; accessed with the store's write lock held.
  private var seen = 0
  private let open: @Sendable (_ readOnly: Bool) throws -> Connection
  private var connection: Connection?

  /// Creates the checkpointer.
  ///
  /// - Parameters:
  ///   - thread: checkpoints after large commits
  ///   - open: opens a connection
  init(on thread: JobThread, _ open: @escaping @Sendable (_ readOnly: Bool) throws -> Connection) {
    self.thread = thread
    self.open = open
    readGuard = CheckpointGuard { try open(true) }
  }

  /// Checkpoints a long WAL after a commit. The caller holds the store's write lock.
  ///
  /// - Parameter frames: the number of frames in the WAL
  func commitFinished(on writer: Connection, frames: Int) {
    // A WAL that SQLite has reset contains no earlier frames.
    let before = seen <= frames ? seen : 0
    let added = frames - before
    seen = frames
    guard frames >= Self.minFrames, added > 0 else { return }
    let limit = max(Self.maxFrames, Self.minCommits * added)
    let isDelegated = condition.withLock {
      while isRunning, before >= limit {
        // The thread may be busy with something else, which could wait for this commit.
        if job?.withdraw() == true { isRunning = false } else { condition.wait() }
      }
      if isRunning { return true }
      let left = copied <= frames ? frames - copied : frames
      isRunning =
        added >= Self.largeCommitFrames && left >= Self.largeCommitFrames && before < limit && !isStopped
        && start()
      return isRunning
    }
    if isDelegated { return }
    let inDatabase = checkpoint(writer)
    condition.withLock { copied = inDatabase }
  }

  /// Runs a checkpoint.
  ///
  /// - Returns: the number of frames in the database; 0 when all are, and when nothing could be copied
  private func checkpoint(_ connection: Connection) -> Int {
    guard let (frames, copied) = readGuard.checkpoint(connection), copied < frames else { return 0 }
    return copied
  }

  /// Requests a checkpoint from the thread. The caller holds `condition`.
  ///
  /// - Returns: false when the thread cannot be started
  private func start() -> Bool {
    let job = self.job ?? thread.job { [weak self] in self?.checkpointOnThread() }
    self.job = job
    return (try? job.request()) != nil
  }

  private func checkpointOnThread() -> Int64? {
    // Frames that cannot be copied now stay in the WAL, and the next commit tries again.
    if connection == nil { connection = try? open(false) }
    let inDatabase = connection.map(checkpoint) ?? 0
    condition.withLock {
      copied = inDatabase
      isRunning = false
      condition.signal()
    }
    return nil
  }

  /// Checkpoints the whole WAL and truncates its file, where no other connection reads or writes. The caller
  /// holds the store's write lock, outside a transaction.
  func truncate(_ writer: Connection) -> Bool {
    guard readGuard.truncate(writer) else { return false }
    seen = 0
    condition.withLock { copied = 0 }
    return true
  }

  /// Waits for the thread's checkpoint. Later commits checkpoint themselves.
  func stop() {
    let job = condition.withLock {
      isStopped = true
      return self.job
    }
    job?.cancel()
    connection = nil
    // A request was withdrawn.
    condition.withLock {
      isRunning = false
      condition.signal()
    }
  }

  /// Closes the guard's connection, which `stop` leaves open; the last call.
  func close() { readGuard.close() }
}

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
