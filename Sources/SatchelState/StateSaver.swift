import SatchelCore
import SatchelStorage

/// Keeps changes of state in memory, and saves them by the store's scheduler, after the delays of `StateOptions`.
///
/// Holds no strong reference to the store, so that a store that is released can close.
// Unchecked: the lock `lock` guards all mutable properties.
final class StateSaver: @unchecked Sendable {
  /// The delay after a save that failed, in milliseconds.
  private static let pause: Int64 = 5000

  private let lock = ConditionLock()
  /// Held while changes are saved, so that they are saved in order.
  private let saving = ConditionLock()
  private let writer = Int64.random(in: 1...Int64.max)
  private var changes: UnsavedChanges
  private var options: StateOptions
  private var job: JobThread.Job?
  private var isClosed = false
  /// When the oldest and the newest pending change were made, and the time before which no save is tried;
  /// monotonic time.
  private var oldest: Int64 = 0
  private var newest: Int64 = 0
  private var pausedUntil: Int64 = 0

  init(options: StateOptions, spooled: [StateOperation]) {
    self.options = options
    changes = UnsavedChanges(writer: writer, spooled: spooled)
  }

  func configure(_ options: StateOptions) {
    lock.withLock {
      self.options = options
      // A failure to wake it leaves the earlier delay.
      if changes.hasPending { try? job?.request() }
    }
  }

  // MARK: Changes

  /// Adds a change.
  ///
  /// - Parameter mark: is saved together with the change
  /// - Throws: `.closed`, `.noMemory` when no thread can be started
  func add(
    _ target: StateTarget, _ action: StateOperation.Action, marking mark: StateMark? = nil,
    in context: StateContext
  ) throws {
    try lock.withLock {
      if let mark { try insert(StateTarget(id: target.id, isMark: true), .mark(mark), context: context) }
      try insert(target, action, context: context)
    }
  }

  /// Adds a change, and returns what `body` read before it: no other change of this handle is added in
  /// between.
  ///
  /// No lock is held while `body` reads, because a read may have to wait for a transaction that changes
  /// state, too.
  func add<Result>(
    _ target: StateTarget, _ action: StateOperation.Action, in context: StateContext,
    reading body: () throws -> Result
  ) throws -> Result {
    while true {
      let known = lock.withLock { changes.newest }
      let result = try body()
      let isAdded = try lock.withLock {
        guard changes.newest == known else { return false }
        try insert(target, action, context: context)
        return true
      }
      if isAdded { return result }
    }
  }

  /// Requires the lock.
  private func insert(_ target: StateTarget, _ action: StateOperation.Action, context: StateContext) throws {
    guard !isClosed else { throw SatchelError(.closed, "\(context.database.path): the store is closed") }
    newest = Clock.monotonic.now()
    if !changes.hasPending {
      oldest = newest
      try request(at: dueTime(newest), context)
    }
    changes.add(target, action, time: context.database.clock.now())
    if changes.count >= options.maxPending { try request(at: max(newest, pausedUntil), context) }
  }

  /// Makes changes readable that an earlier handle left in the outbox file, and whose key has become known.
  func open(by keys: Keyring.Keys) { lock.withLock { changes.open(by: keys) } }

  /// Returns the changes of a target that may not be in the store yet, in order.
  func operations(of target: StateTarget) -> [StateOperation] { lock.withLock { changes[target] } }

  /// Returns the newest change of a value or member if it is pending; it supersedes the content of the store.
  func pending(_ target: StateTarget) -> StateOperation? { lock.withLock { changes.pending(target) } }

  /// The number of the newest change of this handle.
  var newestChange: Int64 { lock.withLock { changes.newest } }

  /// Returns the changes of the values whose names begin with a prefix.
  func values(prefix: String) -> [StateOperation] {
    operations { $0.id.kind == .value && !$0.isMark && $0.id.name.text.utf8.starts(with: prefix.utf8) }
  }

  func operations(where condition: (StateTarget) -> Bool) -> [StateOperation] {
    lock.withLock { changes.all(where: condition) }
  }

  // MARK: Saving

  /// Saves pending changes, and drains the outbox file.
  ///
  /// - Returns: whether the outbox file has changes afterwards, because the store cannot be written
  /// - Throws: the error of the outbox file when neither could be written; the changes stay pending
  @discardableResult
  func save(in context: StateContext) throws -> Bool {
    try HostWork.deferringNotifications { try saving.withLock { try saveWithLock(in: context) } }
  }

  private func saveWithLock(in context: StateContext) throws -> Bool {
    let (operations, before) = lock.withLock { changes.beginSave() }
    guard !operations.isEmpty else { return try drain(context) }
    let (entry, database) = (StateEntry(writer: writer, operations: operations), context.database)
    do {
      let outcome = try context.outbox.perform(
        in: database, entry: { try entry.json(context) },
        spoolsDuringOtherBatch: true
      ) { transaction in
        try context.prepare()
        return try entry.apply(in: transaction, context)
      }
      guard !outcome.isSpooled else { return true }
      for entry in outcome.result ?? [] { context.cache.keep(entry) }
      // Earlier spooled changes are saved, too: the outbox keeps their order.
      lock.withLock {
        changes.confirm(through: operations.last?.number ?? 0)
        pausedUntil = 0
      }
      _ = try? context.prepare()
      return false
    } catch {
      lock.withLock {
        changes.cancelSave(before: before)
        pausedUntil = Clock.monotonic.now() + Self.pause
        // Without a thread, the changes are saved when the store closes.
        try? request(at: pausedUntil, context)
      }
      database.notify(.unsaved, of: .state)
      throw error
    }
  }

  private func drain(_ context: StateContext) throws -> Bool {
    guard context.outbox.isSpooled else {
      // Another handle may have drained the changes that this one spooled.
      lock.withLock { changes.confirmInFlight() }
      return false
    }
    do {
      try context.outbox.drain(in: context.database)
    } catch let error as SatchelError where error.isAboutStore {
      return true
    }
    lock.withLock { changes.confirmInFlight() }
    return false
  }

  /// Saves pending changes for the last time; later changes are rejected.
  func close(in context: StateContext) throws {
    let job = lock.withLock {
      isClosed = true
      return self.job
    }
    job?.cancel()
    guard lock.withLock({ changes.hasPending }) else { return }
    try save(in: context)
  }

  // MARK: The job

  /// Lets the changes be saved at a time. Requires the lock.
  private func request(at due: Int64, _ context: StateContext) throws {
    let job =
      self.job
      ?? context.database.scheduler.prompt.job {
        [weak self, weak documents = context.documents, cache = context.cache] in
        guard let self, let documents else { return nil }
        return saveIfDue(in: StateContext(documents, cache))
      }
    self.job = job
    try job.request(at: due)
  }

  /// Saves the pending changes if that is due. A failure was reported to observers, and is tried again.
  ///
  /// - Returns: when the next save is due
  private func saveIfDue(in context: StateContext) -> Int64? {
    if let due = nextDue, due <= Clock.monotonic.now() { _ = try? save(in: context) }
    return nextDue
  }

  /// When a save is due; nil when nothing is pending.
  private var nextDue: Int64? {
    lock.withLock {
      changes.hasPending && !isClosed ? max(dueTime(Clock.monotonic.now()), pausedUntil) : nil
    }
  }

  private func dueTime(_ now: Int64) -> Int64 {
    if changes.count >= options.maxPending { return now }
    return min(newest + Int64(options.saveDelay), oldest + Int64(options.maxDelay))
  }
}
