import SatchelStorage

/// Keeps the changes of state in memory, and saves them on a thread of its own: after some quiet, when there
/// are many, or when one has waited long.
///
/// Keeps no hold of the store, so that a store that is given up can close.
// Unchecked: all state is behind the monitor.
final class StateSaver: @unchecked Sendable {
  /// How long it waits after a save that failed altogether, in milliseconds.
  private static let pause: Int64 = 5000

  private let journal: Journal
  private let monitor = Monitor()
  /// Held while changes are saved, so that they are saved in their order.
  private let saving = Monitor()
  private let writer = Int64.random(in: 1...Int64.max)
  private var ledger: StateLedger
  private var options: StateOptions
  private var thread: SystemThread?
  private var isClosed = false
  /// When the oldest and the newest of the changes that wait were made, and before when not to try again; of
  /// the steady time.
  private var oldest: Int64 = 0
  private var newest: Int64 = 0
  private var pausedUntil: Int64 = 0

  init(journal: Journal, options: StateOptions, spilled: [StateOperation]) {
    self.journal = journal
    self.options = options
    ledger = StateLedger(writer: writer, spilled: spilled)
  }

  func configure(_ options: StateOptions) {
    monitor.withLock {
      self.options = options
      monitor.signal()
    }
  }

  // MARK: Changes

  /// Takes a change in.
  ///
  /// - Throws: `.closed`, `.noMemory` without a thread to be had
  func add(_ target: StateTarget, _ action: StateOperation.Action, in database: Database) throws {
    try monitor.withLock { try insert(target, action, database) }
  }

  /// Takes a change in, and gives what `body` read before it: no other change of this handle comes between.
  ///
  /// No lock is held while `body` reads: who reads may have to wait for a transaction that changes state,
  /// too.
  func add<Result>(
    _ target: StateTarget, _ action: StateOperation.Action, in database: Database,
    reading body: () throws -> Result
  ) throws -> Result {
    while true {
      let known = monitor.withLock { ledger.newest }
      let result = try body()
      let isIn = try monitor.withLock {
        guard ledger.newest == known else { return false }
        try insert(target, action, database)
        return true
      }
      if isIn { return result }
    }
  }

  /// With the monitor held.
  private func insert(_ target: StateTarget, _ action: StateOperation.Action, _ database: Database) throws {
    guard !isClosed else { throw SatchelError(.closed, "\(database.path): the store is closed") }
    try start(database)
    newest = SteadyTime.milliseconds
    if ledger.count == 0 { oldest = newest }
    ledger.add(target, action, time: database.clock.now())
    monitor.signal()
  }

  /// The changes about a target that may not be in the store yet, in order.
  func operations(of target: StateTarget) -> [StateOperation] { monitor.withLock { ledger[target] } }

  /// What decides about a value or a member, whatever the store holds: the newest change, if it still waits.
  func waiting(_ target: StateTarget) -> StateOperation? { monitor.withLock { ledger.waiting(target) } }

  func operations(where condition: (StateTarget) -> Bool) -> [StateOperation] {
    monitor.withLock { ledger.all(where: condition) }
  }

  // MARK: Saving

  /// Saves what waits, and takes in what was spilled.
  ///
  /// - Returns: whether something is in the spill file afterwards, since the store cannot take it
  /// - Throws: what kept it from both; it waits on
  @discardableResult
  func save(in database: Database) throws -> Bool {
    try saving.withLock {
      let (operations, before) = monitor.withLock { ledger.take() }
      guard !operations.isEmpty else { return try replay(in: database) }
      let entry = StateEntry(writer: writer, operations: operations)
      do {
        let outcome = try journal.perform(in: database, entry: { try entry.json }, spillsBesideBatch: true) {
          transaction in
          try database.prepare(StateSchema.subject)
          try entry.apply(in: transaction)
        }
        guard !outcome.isSpilled else { return true }
        // What was spilled before is in, too: the journal sees to the order.
        monitor.withLock {
          ledger.settle(through: operations.last?.number ?? 0)
          pausedUntil = 0
        }
        _ = try? database.prepare(StateSchema.subject)
        return false
      } catch {
        monitor.withLock {
          ledger.giveBack(before: before)
          pausedUntil = SteadyTime.milliseconds + Self.pause
        }
        database.tell(subject: "records", keys: ["@unsaved"])
        throw error
      }
    }
  }

  private func replay(in database: Database) throws -> Bool {
    guard journal.isSpilled else {
      // Another handle may have taken in what this one spilled.
      monitor.withLock { ledger.settleTaken() }
      return false
    }
    do {
      try journal.replay(in: database)
    } catch let error as SatchelError where error.isAboutStore {
      return true
    }
    monitor.withLock { ledger.settleTaken() }
    return false
  }

  /// Saves what waits, for the last time; later changes are refused.
  func close(in database: Database) throws {
    let running = monitor.withLock { () -> SystemThread? in
      isClosed = true
      monitor.signal()
      guard let running = thread else { return nil }
      // A thread may be joined only once, and not by itself: the store may be given up while it saves.
      thread = nil
      guard running.isCurrent else { return running }
      pthread_detach(pthread_self())
      return nil
    }
    running?.join()
    guard monitor.withLock({ ledger.count > 0 }) else { return }
    try save(in: database)
  }

  // MARK: The thread

  /// Starts the thread, once; with the monitor held.
  private func start(_ database: Database) throws {
    guard thread == nil else { return }
    thread = SystemThread { [self, weak database] in
      while waitUntilDue() {
        // What fails was told, and is tried again.
        guard let database else { return }
        _ = try? save(in: database)
      }
    }
    if thread == nil { throw SatchelError(.noMemory, "no thread to be had for saving state") }
  }

  /// - Returns: false when there is nothing more to wait for
  private func waitUntilDue() -> Bool {
    monitor.withLock {
      while !isClosed {
        guard ledger.count > 0 else {
          monitor.wait()
          continue
        }
        let now = SteadyTime.milliseconds
        let left = max(dueTime(now), pausedUntil) - now
        if left <= 0 { return true }
        monitor.wait(milliseconds: Int(left))
      }
      return false
    }
  }

  private func dueTime(_ now: Int64) -> Int64 {
    if ledger.count >= options.batch { return now }
    return min(newest + Int64(options.quiet), oldest + Int64(options.age))
  }
}
