import CSQLite

/// Checkpoints a long WAL, on a thread of its own where that is worth it.
///
/// SQLite checkpoints within the commit that makes the WAL too long, which then takes twice as long where it is a large
/// one. Here the next large commit goes on meanwhile. SQLite restarts the WAL only after a complete checkpoint, so a
/// commit that finds the WAL over its limit waits for the thread and completes the checkpoint. Small commits checkpoint
/// by themselves: with a thread, whose syncs compete with theirs, W1 took a seventh longer.
// Unchecked: `connection` is touched by the thread alone, and when that has ended; the rest with the monitor held.
final class WALCheckpointer: @unchecked Sendable {
  /// Frames of a WAL that is checkpointed; SQLite's own limit is 1,000.
  static let minimumFrames = 4000
  /// A commit that finds as many waits until all are copied: 64 MB.
  static let maximumFrames = 16_000
  /// Unless it is so large itself that the WAL holds fewer commits like it.
  private static let minimumCommits = 3
  /// Frames of a large commit, which leaves the checkpoint to the thread.
  private static let largeCommit = 1000

  private let worker = Worker()
  private let monitor = Monitor()
  private let readGuard: CheckpointGuard
  private var isRunning = false
  private var isStopped = false
  /// Frames that are known to be in the database; 0 when all were, as the WAL is restarted then.
  private var copied = 0
  /// Frames after the latest commit; touched with the store's write lock held.
  private var seen = 0
  private let open: @Sendable (_ readOnly: Bool) throws -> Connection
  private var connection: Connection?

  /// - Parameter open: makes a connection of its own
  init(_ open: @escaping @Sendable (_ readOnly: Bool) throws -> Connection) {
    self.open = open
    readGuard = CheckpointGuard { try open(true) }
  }

  /// Called after a commit, with the store's write lock held.
  ///
  /// - Parameter frames: in the WAL
  func commitFinished(on writer: Connection, frames: Int) {
    // A WAL that was restarted holds nothing of what was there before.
    let before = seen <= frames ? seen : 0
    let added = frames - before
    seen = frames
    guard frames >= Self.minimumFrames, added > 0 else { return }
    let limit = max(Self.maximumFrames, Self.minimumCommits * added)
    let isLeftToThread = monitor.withLock {
      while isRunning, before >= limit { monitor.wait() }
      if isRunning { return true }
      let left = copied <= frames ? frames - copied : frames
      isRunning =
        added >= Self.largeCommit && left >= Self.largeCommit && before < limit && !isStopped && start()
      return isRunning
    }
    if isLeftToThread { return }
    let inDatabase = checkpoint(writer)
    monitor.withLock { copied = inDatabase }
  }

  /// - Returns: frames of the WAL that are in the database; 0 when all are, and when nothing could be copied
  private func checkpoint(_ connection: Connection) -> Int {
    guard let (frames, copied) = readGuard.checkpoint(connection), copied < frames else { return 0 }
    return copied
  }

  /// - Returns: whether there is a thread that does it
  private func start() -> Bool {
    do {
      try worker.add { [self] in
        // What cannot be copied now stays in the WAL, and the next commit tries again.
        if connection == nil { connection = try? open(false) }
        let inDatabase = connection.map(checkpoint) ?? 0
        monitor.withLock {
          copied = inDatabase
          isRunning = false
          monitor.signal()
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Copies all of the WAL into the database and truncates its file, where no other connection reads or writes.
  /// Called with the store's write lock held, and without a transaction.
  func truncate(_ writer: Connection) -> Bool {
    guard readGuard.truncate(writer) else { return false }
    seen = 0
    monitor.withLock { copied = 0 }
    return true
  }

  /// Ends the thread, and waits for it. Later commits checkpoint by themselves.
  func stop() {
    monitor.withLock { isStopped = true }
    worker.stop()
    connection = nil
    // Work that had not begun is dropped.
    monitor.withLock {
      isRunning = false
      monitor.signal()
    }
  }

  /// Closes what `stop` leaves open; the last call of all.
  func close() { readGuard.close() }
}
