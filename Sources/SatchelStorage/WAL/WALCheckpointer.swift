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
