import SatchelCore
import SatchelStorage

/// Keeps changes of state in memory, and saves them on a separate thread, after the delays of `StateOptions`.
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
  private var thread: SystemThread?
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
      lock.signal()
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
      if let mark { try insert(.mark(target.id), .mark(mark), context) }
      try insert(target, action, context)
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
        try insert(target, action, context)
        return true
      }
      if isAdded { return result }
    }
  }

  /// Requires the lock.
  private func insert(_ target: StateTarget, _ action: StateOperation.Action, _ context: StateContext) throws
  {
    guard !isClosed else { throw SatchelError(.closed, "\(context.database.path): the store is closed") }
    try start(context)
    newest = Clock.monotonic.now()
    if !changes.hasPending { oldest = newest }
    changes.add(target, action, time: context.database.clock.now())
    lock.signal()
  }

  /// Makes changes readable that an earlier handle left in the outbox file, and whose key has become known.
  func open(by keys: Keyring.Keys) { lock.withLock { changes.open(by: keys) } }

  /// Returns the changes of a target that may not be in the store yet, in order.
  func operations(of target: StateTarget) -> [StateOperation] { lock.withLock { changes[target] } }

  /// Returns the newest change of a value or member if it is pending; it supersedes the content of the store.
  func pending(_ target: StateTarget) -> StateOperation? { lock.withLock { changes.pending(target) } }

  /// The number of the newest change of this handle.
  var newestChange: Int64 { lock.withLock { changes.newest } }

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
      var saved: [StateCache.Entry] = []
      let outcome = try context.outbox.perform(
        in: database, entry: { try entry.json(context.keyring, context.sensitive) },
        spoolsDuringOtherBatch: true
      ) { transaction in
        try context.prepare()
        saved = try entry.apply(in: transaction, context)
      }
      guard !outcome.isSpooled else { return true }
      for entry in saved { context.cache.keep(entry) }
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
    let running = lock.withLock { () -> SystemThread? in
      isClosed = true
      lock.signal()
      guard let running = thread else { return nil }
      // A thread can be joined only once, and cannot join itself: the store may be released by its own saving
      // thread.
      thread = nil
      guard running.isCurrent else { return running }
      pthread_detach(pthread_self())
      return nil
    }
    running?.join()
    guard lock.withLock({ changes.hasPending }) else { return }
    try save(in: context)
  }

  // MARK: The thread

  /// Starts the thread once. Requires the lock.
  private func start(_ context: StateContext) throws {
    guard thread == nil else { return }
    let (sensitive, cache) = (context.sensitive, context.cache)
    thread = SystemThread { [self, weak documents = context.documents] in
      while waitUntilDue() {
        guard let context = try? StateContext(documents, sensitive, cache) else { return }
        // A failure was reported to observers, and is tried again.
        _ = try? save(in: context)
      }
    }
    if thread == nil { throw SatchelError(.noMemory, "the thread that saves state cannot be started") }
  }

  /// Waits until a save is due.
  ///
  /// - Returns: false when the store is closed
  private func waitUntilDue() -> Bool {
    lock.withLock {
      while !isClosed {
        guard changes.hasPending else {
          lock.wait()
          continue
        }
        let now = Clock.monotonic.now()
        let left = max(dueTime(now), pausedUntil) - now
        if left <= 0 { return true }
        lock.wait(milliseconds: Int(left))
      }
      return false
    }
  }

  private func dueTime(_ now: Int64) -> Int64 {
    if changes.count >= options.maxPending { return now }
    return min(newest + Int64(options.saveDelay), oldest + Int64(options.maxDelay))
  }
}
