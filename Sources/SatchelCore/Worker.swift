/// A serial queue with its own thread, which starts with the first piece of work. Unchecked: `condition`
// guards all state.
package final class Worker: @unchecked Sendable {
  private let condition = ConditionLock()
  private var waiting: [@Sendable () -> Void] = []
  private var thread: SystemThread?
  private var isStopped = false
  /// Whether a piece of work is in progress.
  private var isWorking = false
  /// The threads in `waitUntilIdle`.
  private var waitingForIdle = 0

  package init() {}

  /// Enqueues a piece of work. After `stop` it is dropped.
  package func add(_ work: @escaping @Sendable () -> Void) throws {
    try condition.withLock {
      guard !isStopped else { return }
      if thread == nil {
        thread = SystemThread { [self] in run() }
        if thread == nil { throw SatchelError(.noMemory, "the system cannot start another thread") }
      }
      waiting.append(work)
      condition.signal()
    }
  }

  private func run() {
    while true {
      condition.lock()
      while waiting.isEmpty && !isStopped { condition.wait() }
      if isStopped {
        condition.unlock()
        return
      }
      let work = waiting.removeFirst()
      isWorking = true
      condition.unlock()
      work()
      condition.withLock {
        isWorking = false
        if waitingForIdle > 0 { condition.signal() }
      }
    }
  }

  /// Waits until all work is done, for at most `milliseconds`; not on the worker's own thread.
  package func waitUntilIdle(milliseconds: Int64) {
    let end = Clock.monotonic.now() + milliseconds
    condition.withLock {
      guard thread?.isCurrent != true else { return }
      waitingForIdle += 1
      defer { waitingForIdle -= 1 }
      while !isStopped, isWorking || !waiting.isEmpty {
        let left = end - Clock.monotonic.now()
        guard left > 0 else { return }
        condition.wait(milliseconds: Int(left))
      }
    }
  }

  /// Drops the queued work, and waits for the work in progress, unless that work called this.
  ///
  /// - Parameter waits: false for a caller that the work in progress may itself wait for
  package func stop(waits: Bool = true) {
    let running = condition.withLock { () -> SystemThread? in
      isStopped = true
      waiting = []
      condition.signal()
      // A thread may be joined only once, however often `stop` is called.
      guard let running = thread else { return nil }
      thread = nil
      guard waits, !running.isCurrent else {
        running.detach()
        return nil
      }
      return running
    }
    running?.join()
  }
}

/// Runs `body` for each item on up to `limit` threads, starting them in the list's order; with a limit of 1
/// on the caller's thread only.
package func inParallel<Item: Sendable>(
  _ items: [Item], limit: Int, _ body: @escaping @Sendable (Item) -> Void
) {
  withWorkers(items, limit: limit) { next in
    while let item = next() { body(item) }
  }
}

/// Runs `work` on up to `limit` threads at once, for work that needs resources of its own on each thread.
///
/// - Parameter work: calls `next` until it returns nil
package func withWorkers<Item: Sendable>(
  _ items: [Item], limit: Int, _ work: @escaping @Sendable (_ next: () -> Item?) -> Void
) {
  let waiting = Locked(items[...])
  let share: @Sendable () -> Void = { work { waiting.withLock { $0.popFirst() } } }
  let count = min(max(limit, 1), 16, items.count)
  // The caller's thread takes part, so the list is completed even when no thread can be started.
  let threads = (1..<max(count, 1)).compactMap { _ in SystemThread(share) }
  share()
  for thread in threads { thread.join() }
}
