import SatchelCore
import SatchelStorage

/// Deletes the expired records of the collections that have been opened, and runs their live queries again when records
/// expire, as a job of the store's scheduler.
// Unchecked: `lock` guards all state.
final class ExpiryJob: @unchecked Sendable {
  /// A collection, as the job last saw it.
  private struct Watched {
    var name: String
    /// The time of the latest look, in Unix milliseconds: live queries know what had expired then.
    var seen: Int64
    /// When a look found expired records, by both clocks; nil for none.
    var found: (monotonic: Int64, time: Int64)?
  }

  /// Expired records are deleted after this time, in milliseconds: a clock that is ahead for less deletes none early.
  private let delay: Int64
  /// The minimum time between two looks.
  private static let interval: Int64 = 250

  private let lock = ConditionLock()
  private var collections: [Int64: Watched] = [:]
  private var job: JobThread.Job?
  private var subscription: ChangeFeed.Subscription?
  private var isStopped = false

  init(delay: Int64 = 60_000) { self.delay = delay }

  /// Begins with a collection whose records expire; it may be called again.
  func add(_ collection: RecordCollection) throws {
    let (store, now) = (collection.store, collection.database.clock.now())
    let isFirst = lock.withLock {
      guard collections[collection.id] == nil else { return false }
      collections[collection.id] = Watched(name: collection.name, seen: now)
      if job == nil, !isStopped {
        job = store.database.scheduler.long.job { [weak self, weak store] in store.flatMap { self?.run($0) } }
      }
      return true
    }
    guard isFirst else { return }
    if lock.withLock({ subscription == nil && !isStopped }) {
      let subscription = try store.database.observe { [weak self] change in self?.note(change) }
      lock.withLock { if isStopped { subscription.cancel() } else { self.subscription = subscription } }
    }
    try lock.withLock { job }?.request()
  }

  private func note(_ change: Change) {
    lock.withLock {
      guard collections.values.contains(where: { change.concerns(collection: $0.name) }) else { return }
      // The thread can be refused only because the store closes, or when there is no memory.
      try? job?.request(at: Clock.monotonic.now() + Self.interval)
    }
  }

  /// Looks at all collections.
  ///
  /// - Returns: when to look again, by the monotonic clock; nil when nothing will expire before another commit
  private func run(_ store: RecordStore) -> Int64? {
    var due: Int64?
    for (id, watched) in lock.withLock({ collections }) {
      var watched = watched
      let now = Clock.monotonic.now()
      var next: Int64?
      do {
        guard let found = try look(id, &watched, store) else {
          lock.withLock { collections[id] = nil }
          continue
        }
        next = found
      } catch {
        // The store is busy or full, or a record cannot lose its reference: later it may be possible.
        next = now + delay
      }
      lock.withLock { collections[id] = watched }
      if let next, next != .max { due = min(due ?? next, max(next, now + Self.interval)) }
    }
    return due
  }

  /// - Returns: when to look again, at `.max` after another commit only; nil for a collection whose records do not expire
  private func look(_ id: Int64, _ watched: inout Watched, _ store: RecordStore) throws -> Int64? {
    let now = store.database.clock.now()
    let before = watched.seen
    let state = try store.snapshot { connection -> (hasExpired: Bool, hasNew: Bool, next: Int64?)? in
      guard let state = try store.state(of: id, connection), let expiry = try state.rules.expiry,
        let index = expiry.index
      else { return nil }
      let (old, all) = (expiry.expired(at: min(before, now)), expiry.expired(at: max(before, now)))
      func first(_ range: KeyRange) throws -> Int64? {
        try ValueTable(connection: connection).first(index.id, range)
      }
      let upcoming = try first(expiry.unexpired(at: now))
      return (
        try first(expiry.expired(at: now)) != nil,
        try first(KeyRange(lower: old.upper, upper: all.upper)) != nil,
        try upcoming.flatMap { try RecordFetch(connection, state).one($0) { try expiry.time(of: $0) } ?? nil }
      )
    }
    guard let state else { return nil }
    watched.seen = now
    if state.hasNew { store.liveQueries.outdate(watched.name) }
    let monotonic = Clock.monotonic.now()
    var next = state.next.map { monotonic + max(0, min($0 - now, delay)) } ?? .max
    guard state.hasExpired, !store.database.options.isReadOnly else {
      watched.found = nil
      return next
    }
    guard let found = watched.found else {
      watched.found = (monotonic, now)
      return min(next, monotonic + delay)
    }
    guard monotonic - found.monotonic >= delay else { return min(next, found.monotonic + delay) }
    let count = try store.transaction { transaction in
      let work = store.work(in: transaction)
      try work.flush()
      return try work.deleteExpired(from: work.collection(id), at: min(found.time, now))
    }
    if count < RecordWork.maxExpired {
      watched.found = nil
    } else {
      next = monotonic
    }
    return min(next, monotonic + delay)
  }

  /// Ends, and waits for the run in progress.
  func stop() {
    let (job, subscription) = lock.withLock {
      isStopped = true
      defer { (self.job, self.subscription, collections) = (nil, nil, [:]) }
      return (self.job, self.subscription)
    }
    subscription?.cancel()
    job?.cancel()
  }
}
