import SatchelCore
import SatchelStorage

/// Runs the live queries of a store again after commits that concern them, on one thread.
// Unchecked: `condition` guards all state.
final class LiveQueries: @unchecked Sendable {
  /// The next action for a query after it ran.
  enum Outcome {
    /// It runs again after the next commit that concerns it.
    case isCurrent
    /// The store could not be read: it runs again after this time in milliseconds, because no commit may
    /// follow.
    case isUnknown(retryAfter: Int64)
  }

  private final class Entry {
    let collection: String
    /// Runs the query, and reports a new result to the host.
    let run: @Sendable () -> Outcome
    var isOutdated = true
    /// The earliest time for the next run, by the monotonic clock.
    var due: Int64 = 0

    init(_ collection: String, _ run: @escaping @Sendable () -> Outcome) {
      self.collection = collection
      self.run = run
    }
  }

  /// The minimum time between two runs of a query, in milliseconds.
  private static let interval: Int64 = 100

  private let condition = ConditionLock()
  private var entries: [Int: Entry] = [:]
  private var nextNumber = 0
  private var subscription: ChangeFeed.Subscription?
  private var thread: SystemThread?
  private var isStopped = false

  /// Starts a live query; `run` is called soon, and after each commit that concerns the collection.
  func add(
    _ collection: String, in database: Database, _ run: @escaping @Sendable () -> Outcome
  ) throws -> Int {
    try start(database)
    return try condition.withLock {
      guard !isStopped else { throw SatchelError(.closed, "the store is closed") }
      nextNumber += 1
      entries[nextNumber] = Entry(collection, run)
      condition.signal()
      return nextNumber
    }
  }

  func remove(_ number: Int) {
    let removed = condition.withLock { entries.removeValue(forKey: number) }
    _ = removed  // Released here, outside the lock: the release may call the host.
  }

  /// Observes the store before the first query runs, so that no commit is missed.
  private func start(_ database: Database) throws {
    if condition.withLock({ self.subscription != nil }) { return }
    let subscription = try database.observe { [weak self] change in self?.note(change) }
    try condition.withLock {
      guard self.subscription == nil, !isStopped else { return subscription.cancel() }
      thread = SystemThread { [self] in work() }
      if thread == nil {
        throw SatchelError(.noMemory, "the system cannot start a thread for live queries")
      }
      self.subscription = subscription
    }
  }

  private func note(_ change: Change) {
    condition.withLock {
      // The thread waits already for those that are outdated: commits in a row do not wake it again.
      var isNew = false
      for entry in entries.values where !entry.isOutdated && change.concerns(collection: entry.collection) {
        entry.isOutdated = true
        isNew = true
      }
      if isNew { condition.signal() }
    }
  }

  private func work() {
    while let entry = nextDue() {
      let outcome = entry.run()
      let now = Clock.monotonic.now()
      condition.withLock {
        switch outcome {
        case .isCurrent: entry.due = now + Self.interval
        case .isUnknown(let milliseconds):
          entry.due = now + milliseconds
          entry.isOutdated = true
        }
      }
    }
  }

  /// Waits until a query is outdated and due; nil when the store is closing.
  private func nextDue() -> Entry? {
    condition.withLock {
      while !isStopped {
        guard let entry = entries.values.filter(\.isOutdated).min(by: { $0.due < $1.due }) else {
          condition.wait()
          continue
        }
        let left = entry.due - Clock.monotonic.now()
        if left <= 0 {
          // Before it runs: a commit that comes meanwhile makes it outdated again.
          entry.isOutdated = false
          return entry
        }
        condition.wait(milliseconds: Int(min(left, 1000)))
      }
      return nil
    }
  }

  /// Ends all queries, and waits for the running one, unless called by it.
  func stop() {
    let (thread, subscription, removed) = condition.withLock {
      isStopped = true
      condition.signal()
      defer { (self.thread, self.subscription, entries) = (nil, nil, [:]) }
      return (self.thread, self.subscription, entries)
    }
    subscription?.cancel()
    if let thread { thread.isCurrent ? thread.detach() : thread.join() }
    _ = removed
  }
}
