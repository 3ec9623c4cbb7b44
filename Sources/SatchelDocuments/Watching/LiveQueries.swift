import SatchelCore
import SatchelStorage

/// Runs the live queries of a store again after commits that concern them, as a job of its scheduler; equal ones once.
// Unchecked: `lock` guards all state.
final class LiveQueries: @unchecked Sendable {
  /// Equal for queries with the same result.
  struct Key: Hashable {
    var collection: String
    var version: Int
    var query: [UInt8]
  }

  /// Notifies the host that there is a new result, or an error. Returns whether that was possible: false lets
  /// the query run again, because no commit may follow.
  typealias Notify = @Sendable (SatchelError?) -> Bool
  private typealias Outcome = Result<LiveState, SatchelError>

  private final class Subscriber {
    let notify: Notify
    var last: Outcome?

    init(_ notify: @escaping Notify) { self.notify = notify }
  }

  private final class Entry {
    let key: Key
    let evaluate: @Sendable () throws -> LiveState
    var subscribers: [Int: Subscriber] = [:]
    var outcome: Outcome?
    var isOutdated = true
    /// The earliest time for the next run, by the monotonic clock.
    var due: Int64 = 0

    init(_ key: Key, _ evaluate: @escaping @Sendable () throws -> LiveState) {
      self.key = key
      self.evaluate = evaluate
    }
  }

  /// The minimum time between two runs of a query, in milliseconds.
  private static let interval: Int64 = 100

  private let lock = ConditionLock()
  private var entries: [Key: Entry] = [:]
  private var nextNumber = 0
  private var subscription: ChangeFeed.Subscription?
  private var job: JobThread.Job?
  private var isStopped = false

  /// Starts a live query.
  ///
  /// - Parameters:
  ///   - evaluate: called soon, and after each commit that concerns the collection, for all queries with the key
  ///   - notify: called after the first evaluation, and after each whose outcome is another
  func add(
    _ key: Key, in database: Database, _ evaluate: @escaping @Sendable () throws -> LiveState,
    notify: @escaping Notify
  ) throws -> Int {
    try start(database)
    return try lock.withLock {
      guard !isStopped else { throw SatchelError(.closed, "the store is closed") }
      try job?.request()
      nextNumber += 1
      let entry = entries[key] ?? Entry(key, evaluate)
      entries[key] = entry
      entry.subscribers[nextNumber] = Subscriber(notify)
      entry.isOutdated = true
      return nextNumber
    }
  }

  func remove(_ number: Int, _ key: Key) {
    let removed = lock.withLock { () -> (Subscriber?, Entry?) in
      guard let entry = entries[key] else { return (nil, nil) }
      let subscriber = entry.subscribers.removeValue(forKey: number)
      return (subscriber, entry.subscribers.isEmpty ? entries.removeValue(forKey: key) : nil)
    }
    _ = removed  // Released here, outside the lock: the release may call the host.
  }

  /// Returns the state that is kept for a key, if it is the same: a host that has that result needs no other.
  func shared(_ state: LiveState, _ key: Key) -> LiveState {
    let kept = lock.withLock { entries[key]?.outcome }
    if case .success(let kept)? = kept, kept.isSame(as: state) { return kept }
    return state
  }

  /// Observes the store before the first query runs, so that no commit is missed.
  private func start(_ database: Database) throws {
    if lock.withLock({ self.subscription != nil }) { return }
    let subscription = try database.observe { [weak self] change in self?.note(change) }
    lock.withLock {
      guard self.subscription == nil, !isStopped else { return subscription.cancel() }
      job = database.scheduler.long.job { [weak self] in self?.runNext() }
      self.subscription = subscription
    }
  }

  private func note(_ change: Change) { outdate { change.concerns(collection: $0) } }

  /// Runs the queries of a collection again whose result time alone has changed.
  func outdate(_ collection: String) { outdate { $0 == collection } }

  private func outdate(_ isConcerned: (_ collection: String) -> Bool) {
    lock.withLock {
      // The job waits already for those that are outdated: commits in a row do not wake it again.
      for entry in entries.values where !entry.isOutdated && isConcerned(entry.key.collection) {
        entry.isOutdated = true
        // The thread has run before: it can be refused only because the store closes.
        try? job?.request(at: entry.due)
      }
    }
  }

  /// Runs the query that has been due for longest, if one is.
  ///
  /// - Returns: when the next one is due
  private func runNext() -> Int64? {
    if let entry = takeDue() {
      let outcome = Result.ofLibrary { try entry.evaluate() }
      let notified = finish(entry, outcome)
      var error: SatchelError?
      if case .failure(let reason) = outcome { error = reason }
      for subscriber in notified where !subscriber.notify(error) {
        lock.withLock { (subscriber.last, entry.isOutdated) = (nil, true) }
      }
    }
    return lock.withLock { entries.values.filter(\.isOutdated).map(\.due).min() }
  }

  /// Keeps the outcome of a query that was run.
  ///
  /// - Returns: the subscribers that have to be notified of it
  private func finish(_ entry: Entry, _ outcome: Outcome) -> [Subscriber] {
    lock.withLock {
      entry.due = Clock.monotonic.now() + Self.interval
      if case .failure(let error) = outcome {
        if error.code == .closed { return [] }
        // No commit may follow.
        if error.code == .busy || error.isAboutStore { entry.isOutdated = true }
        if error.code == .busy { return [] }
        if error.isAboutStore { entry.due += 9 * Self.interval }
      }
      // Equal states are kept once.
      let next = entry.outcome.flatMap { $0.isSame(as: outcome) ? $0 : nil } ?? outcome
      entry.outcome = next
      return entry.subscribers.ordered { $0.key < $1.key }.map(\.value).filter { subscriber in
        if let last = subscriber.last, last.isSame(as: next) { return false }
        subscriber.last = next
        return true
      }
    }
  }

  /// Returns the query that has been due for longest; nil when none is due.
  private func takeDue() -> Entry? {
    lock.withLock {
      guard let entry = entries.values.filter(\.isOutdated).min(by: { $0.due < $1.due }),
        entry.due <= Clock.monotonic.now()
      else { return nil }
      // Before it runs: a commit that comes meanwhile makes it outdated again.
      entry.isOutdated = false
      return entry
    }
  }

  /// Ends all queries, and waits for the running one, unless called by it.
  func stop() {
    let (job, subscription, removed) = lock.withLock {
      isStopped = true
      defer { (self.job, self.subscription, entries) = (nil, nil, [:]) }
      return (self.job, self.subscription, entries)
    }
    subscription?.cancel()
    job?.cancel()
    _ = removed
  }
}

extension Result where Failure == SatchelError {
  static func ofLibrary(_ body: () throws -> Success) -> Self {
    do {
      return .success(try body())
    } catch {
      return .failure(error as? SatchelError ?? SatchelError(.internal, "\(error)", underlying: error))
    }
  }
}

extension Result<LiveState, SatchelError> {
  func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.success(let one), .success(let two)): one.isSame(as: two)
    case (.failure(let one), .failure(let two)): one.isSame(as: two)
    default: false
    }
  }
}

extension SatchelError {
  func isSame(as other: SatchelError) -> Bool { code == other.code && message == other.message }
}
