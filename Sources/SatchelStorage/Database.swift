import CSQLite
import SatchelCore
import SatchelJSON
import Synchronization

/// A SQLite database in WAL mode: one write connection behind a lock, and a pool of read connections that
/// never wait for it.
// Unchecked: `writer`, `current`, `batches`, `writeDepth` and `stampedChanges` are accessed only with `writing` held;
// the rest is immutable or synchronized.
package final class Database: @unchecked Sendable {
  package let path: String
  package let options: StoreOptions
  package let clock: StoreClock
  /// The path to which an unusable file was renamed, if `StoreOptions.quarantine` asked for that.
  package let quarantinePath: String?
  package let changes: ChangeFeed
  /// The keys of encrypted content.
  package let keyring = Keyring()
  /// Distinguishes this handle's changes from those of other handles in the change log.
  let identity = Int64.random(in: 1...Int64.max)

  let writing = WriteLock()
  private var writer: Connection?
  private(set) var current: Transaction?
  /// The open batches, the innermost last; see `begin`.
  var batches: [Batch] = []
  /// The number of nested calls of `write` on the thread that writes.
  var writeDepth = 0
  /// The maximum number of connections that read, and so of concurrent reads.
  static let maxReaders = 4
  private let readers: ConnectionPool
  private let lazyCheckpointer = Lazy<WALCheckpointer>()
  /// Made with the connection that writes.
  var checkpointer: WALCheckpointer {
    lazyCheckpointer.value { WALCheckpointer(on: scheduler.long, openConnection) }
  }
  /// Runs the work of the store for which no call waits.
  package let scheduler = Scheduler()
  private let activeCalls = ActiveCalls()
  /// The subjects that the store had when it was opened; set once, while opening.
  package internal(set) var subjectsWhenOpened: [String] = []
  /// Names of the subjects whose tables are known to be up to date; see `prepare`.
  let prepared = Locked<Set<String>>([])
  /// The time columns of the store, by subject, read only when a clock was ahead.
  let times: @Sendable () -> [SubjectTimes]
  /// The latest time that the store is known to have.
  let newestTime = Atomic<Int64>(0)
  /// The changes of a stamping, of which observers are notified after the next commit.
  var stampedChanges: [Change] = []
  private let hasReportedExpiry = Atomic(false)
  /// Steps that run when the store closes, while it is still open; nil when they have run; see `whenClosing`.
  let closingSteps = Locked<[@Sendable (Database) throws -> Void]?>([])
  let isClosing = Atomic(false)
  private let openConnection: @Sendable (_ readOnly: Bool) throws -> Connection
  /// The file that was opened, whatever its name is later; nil in memory.
  private let fileIdentity: FileIdentity?
  /// The last transaction before the write connection closes.
  private let lastWork = Locked<LastWork?>(nil)

  /// The work of a subject in the last transaction of a store.
  package struct LastWork: Sendable {
    /// Whether there is work to do even when nothing was written.
    let isNeeded: @Sendable (Connection) throws -> Bool
    let run: @Sendable (Transaction) throws -> Void
  }

  /// Sets the work of the last transaction.
  package func beforeClosing(
    isNeeded: @escaping @Sendable (Connection) throws -> Bool,
    _ run: @escaping @Sendable (Transaction) throws -> Void
  ) {
    lastWork.withLock { $0 = LastWork(isNeeded: isNeeded, run: run) }
  }

  /// Creates the handle. `Database.open` examines the file first.
  init(
    path: String, options: StoreOptions, quarantinePath: String?,
    times: @escaping @Sendable () -> [SubjectTimes],
    openConnection: @escaping @Sendable (_ readOnly: Bool) throws -> Connection
  ) {
    self.path = path
    self.options = options
    self.quarantinePath = quarantinePath
    self.times = times
    self.openConnection = openConnection
    fileIdentity = path == ":memory:" ? nil : FileIdentity(at: path)
    clock = StoreClock(options.clock)
    changes = ChangeFeed(polling: scheduler.long)
    readers = ConnectionPool(limit: Self.maxReaders, expiring: scheduler.prompt) { try openConnection(true) }
  }

  package var isMemory: Bool { path == ":memory:" }

  /// The absolute path without symbolic links: the same for all names of the file, and independent of the
  /// working directory.
  package var realPath: String { isMemory ? path : DatabaseFile.realPath(of: path) }

  // MARK: Reading

  /// Runs `body` on a consistent snapshot of the store. Inside `write` on the same thread, and inside a
  /// batch, it sees the uncommitted changes; outside the batch it sees the committed content. A store in
  /// memory has only one connection: there it waits for the write lock as a write does.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try whileOpen {
      do {
        if try isMemory || writing.isHeldByCaller || writing.carried() != nil {
          return try writing.withLock(within: timeout, writing: false) { try openWriter().reading(body) }
        }
        return try readers.withTransaction(body)
      } catch let error as JSONError {
        // JSON of the caller was parsed before: this document comes from the file.
        throw SatchelError(.damaged, "\(path): a document is damaged: \(error)", underlying: error)
      }
    }
  }

  /// Runs `body` as `read` does, on a connection that was not used before, where that is possible.
  func readOnNewConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if isMemory || isInTransaction { return try read(body) }
    return try whileOpen {
      let connection = try openConnection(true)
      return try connection.inReadTransaction { try connection.reading(body) }
    }
  }

  /// Runs `body` as `read` does, as a call that `Interrupt` and the store's query timeout can stop.
  ///
  /// - Throws: `.cancelled`, `.timedOut`
  package func query<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    stampIfIdle()
    return try interruptible { try read(body) }
  }

  /// Runs `body`, a call whose reads `Interrupt` and the store's query timeout can stop. Its writes are completed.
  ///
  /// - Throws: `.cancelled`, `.timedOut`
  package func interruptible<Result>(_ body: () throws -> Result) throws -> Result {
    try InterruptibleCall.perform(timeout: Int64(max(0, options.queryTimeout)), path, body)
  }

  /// Records that a call has reported something as expired. `close` then stores the time, so that a clock
  /// that is set back later does not make it fresh again.
  package func noteExpiry() { hasReportedExpiry.store(true, ordering: .relaxed) }

  // MARK: Writing

  /// Runs `body` in a transaction, and notifies observers of its changes after the commit. Inside `write` on
  /// the same thread, and inside a batch, it is a savepoint: its failure rolls back only itself.
  ///
  /// - Parameter isSynced: whether the commit is synced to the disk when this returns, if the store's
  ///   durability is `full`; otherwise `sync()` does that. A power loss before may lose the latest such
  ///   transactions, and leaves the store as it was before one of them.
  package func write<Result>(isSynced: Bool = true, _ body: (Transaction) throws -> Result) throws -> Result {
    try whileOpen {
      guard !options.isReadOnly else {
        throw SatchelError(.readOnly, "\(path): opened read-only; open it writable to change it")
      }
      try refuseWhileMigrating()
      var committed: [Change] = []
      let result: Result = try writing.withLock(within: timeout) {
        if let outer = current { return try outer.nested { try endingBatches($0, body) } }
        let transaction = try startTransaction(isSynced: isSynced)
        defer { current = nil }
        let result = try transaction.finish { try endingBatches($0, body) }
        committed = takeStampedChanges() + transaction.changes
        return result
      }
      for change in committed { changes.notify(change) }
      return result
    }
  }

  /// Begins the outermost transaction. The caller holds `writing`.
  func startTransaction(isSynced: Bool = true) throws -> Transaction {
    let transaction = try beginTransaction(isSynced: isSynced)
    current = transaction
    return transaction
  }

  private func beginTransaction(isSynced: Bool) throws -> Transaction {
    let connection = try openWriter()
    try connection.syncCommits(isSynced && options.durability == .full)
    let transaction = try stamping(connection) {
      try Transaction.begin(on: connection, clock: clock, writer: identity)
    }
    newestTime.store(max(transaction.now, transaction.newestTime), ordering: .relaxed)
    return transaction
  }

  /// Syncs the WAL, including the unsynced commits of other handles. Does nothing where the store's
  /// durability is not `full`, nor inside `write`, which syncs when it ends.
  ///
  /// - Parameter always: syncs whatever the store's durability
  package func sync(always: Bool = false) throws {
    try whileOpen {
      let isFull = options.durability == .full
      guard always || isFull, !options.isReadOnly, !isMemory, !isInTransaction else { return }
      try writing.withLock(within: timeout) { try openWriter().syncWAL() }
    }
  }

  /// Clears the outermost transaction. The caller holds `writing`.
  func endTransaction() { current = nil }

  /// Runs `body` on the write connection outside a transaction, for statements for which SQLite requires
  /// that.
  package func maintain(_ body: (Connection) throws -> Void) throws {
    try activeCalls.perform {
      guard !options.isReadOnly else { return }
      try writing.withLock(within: timeout) {
        guard current == nil else { return }
        try readers.withoutKeptTransactions { try body(openWriter()) }
      }
    }
  }

  /// Whether the calling thread is inside `write` or a batch.
  package var isInTransaction: Bool { writing.isHeldByCaller || writing.isInBatch }

  var timeout: Int { max(0, Int(options.busyTimeout)) }

  /// Runs `body` as a call that `close` waits for; a call inside `write` on the same thread is already
  /// counted, also while the store closes.
  func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
    try HostWork.refuseInExcludedCallback(path)
    return try writing.isHeldByCaller ? body() : activeCalls.perform(body)
  }

  private func openWriter() throws -> Connection {
    if let writer { return writer }
    let connection = try openConnection(options.isReadOnly)
    keep(connection)
    return connection
  }

  private func keep(_ connection: Connection) {
    if !isMemory { connection.delegateCheckpoints(to: checkpointer) }
    writer = connection
  }

  /// Reuses the connection that opened the store: as the write connection when it created the store,
  /// otherwise as the first read connection, since most apps read first.
  func adopt(_ connection: Connection, asWriter: Bool) {
    guard asWriter || isMemory else { return readers.adopt(connection) }
    writing.withLockIgnoringBatches { keep(connection) }
  }

  // MARK: Observing and closing

  /// Subscribes to changes, including those that other handles and processes commit.
  package func observe(_ observer: @escaping @Sendable (Change) -> Void) throws -> ChangeFeed.Subscription {
    try activeCalls.perform {
      if !isMemory {
        try changes.watch(writer: identity) { try self.openConnection(true) }
      }
      let subject = HostWork.Resource(ObjectIdentifier(self))
      return changes.subscribe { change in
        HostWork.calling("an observer", for: subject) { observer(change) }
      }
    }
  }

  /// Closes the store: waits for calls in progress, and rolls back open batches. The store is closed even
  /// when this throws.
  ///
  /// - Throws: `.closed` when it was closed before; `.busy` when it rolled back a batch of another thread, or
  ///   inside a callback of this store, which leaves it open; any error of the last write
  package func close() throws {
    try refuseClosingInCallback()
    try finishClosing()
  }

  private func finishClosing() throws {
    guard !isClosing.exchange(true, ordering: .sequentiallyConsistent) else {
      throw SatchelError(.closed, "\(path): the store is closed")
    }
    // First, because the steps below write, and would be rolled back with an open batch.
    var failure: (any Error)? = rollBackOpenBatches()
    var moved: (any Error)?
    if let error = runClosingSteps() {
      // The last writes of a renamed file are completed below.
      if (error as? SatchelError)?.underlying is FileHasMoved { moved = error } else { failure = error }
    }
    _ = activeCalls.close()
    changes.stop()
    lazyCheckpointer.known?.stop()
    scheduler.stop()
    let isDone: Void? = writing.withLockIgnoringBatches(within: timeout) {
      failure = rollBackOpenBatches() ?? failure
      let work = lastWork.withLock { $0 }
      if !options.isReadOnly, work != nil && writer != nil || needsWriterToClose(work) {
        do {
          let transaction = try beginTransaction(isSynced: true)
          try transaction.finish { transaction in
            try work?.run(transaction)
            if hasReportedExpiry.load(ordering: .relaxed) { transaction.recordTime() }
          }
        } catch let error as SatchelError where error.underlying is FileHasMoved {
          moved = error
        } catch {
          failure = failure ?? error
        }
      }
      lastWork.withLock { $0 = nil }
      // Readers first: only a writable connection deletes the WAL when it is the last to close.
      let last = writer ?? readers.adoptedConnection
      readers.close()
      lazyCheckpointer.known?.close()
      do {
        if try !completeRenamedFile(last) { failure = failure ?? moved }
      } catch {
        failure = failure ?? error
      }
      writer = nil
    }
    if isDone == nil {
      readers.close()
      lazyCheckpointer.known?.close()
      throw SatchelError(
        .busy, "\(path): closed during another thread's transaction, which was rolled back")
    }
    if let failure { throw failure }
  }

  /// A number of the store's file that a copy of it does not have, and that it keeps under another name; nil for a store
  /// in memory.
  package var fileNumber: Int64? { isMemory ? nil : (fileIdentity ?? FileIdentity(at: path))?.number }

  /// Checkpoints the file if it was renamed while it was open.
  ///
  /// - Returns: whether it has the last writes under its new name
  /// - Throws: when the last writes of this handle are not in it
  private func completeRenamedFile(_ last: Connection?) throws -> Bool {
    guard let last, !isMemory, !options.isReadOnly, last.hasMoved else { return false }
    // The WAL of a deleted file has all that is left of it.
    guard let names = fileIdentity?.nameCount, names > 0 else { return false }
    do {
      try last.checkpointRenamedFile()
      return true
    } catch  where writer == nil {
      // Another handle has written what is in the WAL, and reports it.
      return false
    }
  }

  private func needsWriterToClose(_ work: LastWork?) -> Bool {
    if hasReportedExpiry.load(ordering: .relaxed) { return true }
    guard let work else { return false }
    return (try? readers.withTransaction(work.isNeeded)) ?? false
  }

  deinit { try? finishClosing() }

  /// Whether `close` was called.
  package var isClosed: Bool { activeCalls.isClosed }
}
