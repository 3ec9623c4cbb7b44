import CSQLite
import SatchelJSON
import Synchronization

/// One SQLite file: a writer behind a lock, a few readers beside it that never wait for it (WAL).
// Unchecked: `writer`, `current`, `batches` and `calls` are touched only with `writing` held; the rest is immutable.
package final class Database: @unchecked Sendable {
  package let path: String
  package let options: StoreOptions
  package let clock: SteadyClock
  /// Where a file that could not be opened went, when the caller asked for that.
  package let setAsidePath: String?
  package let changes: ChangeFeed
  /// Tells this handle's changes from those of others in the log.
  let identity = Int64.random(in: 1...Int64.max)

  let writing = WriteLock()
  private var writer: Connection?
  private(set) var current: Transaction?
  /// Batches that were begun and not ended, the innermost last; see `begin`.
  var batches: [Batch] = []
  /// Calls of `write` that the thread which writes is in.
  var calls = 0
  private let readers: ConnectionPool
  let checkpointer: WALCheckpointer
  private let gate = Gate()
  /// Subjects whose tables are known to be there; see `prepare`.
  let prepared = Guarded<Set<String>>([])
  private let hasLearnedTime = Atomic(false)
  private let hasToldExpiry = Atomic(false)
  /// What is done when the store closes, while it is still open; see `whenClosing`.
  let closingSteps = Guarded<[@Sendable (Database) throws -> Void]>([])
  let isClosing = Atomic(false)
  private let openConnection: @Sendable (_ readOnly: Bool) throws -> Connection
  /// Runs before the writer closes, as its last transaction; set once, while opening.
  package var beforeClose: ((Transaction) throws -> Void)?
  /// Whether that has work to do even when nothing was written.
  package var hasClosingWork: ((Connection) throws -> Bool)?

  /// Opens or makes a store; `Database.open` examines the file first.
  init(
    path: String, options: StoreOptions, setAsidePath: String?,
    openConnection: @escaping @Sendable (_ readOnly: Bool) throws -> Connection
  ) {
    self.path = path
    self.options = options
    self.setAsidePath = setAsidePath
    self.openConnection = openConnection
    clock = SteadyClock(options.clock)
    changes = ChangeFeed()
    readers = ConnectionPool(limit: 4) { try openConnection(true) }
    checkpointer = WALCheckpointer(openConnection)
  }

  package var isMemory: Bool { path == ":memory:" }

  // MARK: Reading

  /// Runs `body` on one consistent state of the store. Inside `write` of the same thread, and inside of a batch, it
  /// sees what was written so far; beside a batch it sees what is committed, and in memory, where there is no other
  /// connection, it waits as a write does.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try pass {
      do {
        if try isMemory || writing.isHeldByCaller || writing.carried() != nil {
          return try writing.withLock(within: patience, writing: false) { try body(openWriter()) }
        }
        return try readers.withTransaction(body)
      } catch let error as JSONError {
        // What a caller passes has been read before: it is a document of the file.
        throw SatchelError(.damaged, "\(path): a document is damaged: \(error)", underlying: error)
      }
    }
  }

  /// As `read`, on a connection that nobody has used before, where there can be one.
  func readApart<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if isMemory || isWriting { return try read(body) }
    return try pass {
      let connection = try openConnection(true)
      try connection.run("BEGIN")
      defer { try? connection.run("COMMIT") }
      return try body(connection)
    }
  }

  /// The time now. A handle's clock starts where the store's own history ends.
  package func time(_ connection: Connection) throws -> Int64 {
    if !hasLearnedTime.load(ordering: .relaxed) {
      clock.advance(to: try ChangeLog.newestTime(connection))
      hasLearnedTime.store(true, ordering: .relaxed)
    }
    return clock.now()
  }

  /// Notes that something was told to have expired by now: closing keeps the time, so that a clock that is set
  /// back afterwards does not make it fresh again.
  package func noteExpiry() { hasToldExpiry.store(true, ordering: .relaxed) }

  // MARK: Writing

  /// Runs `body` in a transaction, and tells its changes once it is committed. Inside `write` of the same
  /// thread, and inside of a batch, it is a savepoint: its failure undoes only itself.
  ///
  /// - Parameter isSynced: whether it is on the disk when this returns, where the store's durability asks for that;
  ///   else it is behind `sync()`. A loss of power before leaves the store as before some such transaction.
  package func write<Result>(isSynced: Bool = true, _ body: (Transaction) throws -> Result) throws -> Result {
    try pass {
      guard !options.isReadOnly else { throw SatchelError(.readOnly, "\(path): opened to read only") }
      var told: [Change] = []
      let result: Result = try writing.withLock(within: patience) {
        if let outer = current { return try outer.nested { try keepingBatches($0, body) } }
        let transaction = try startTransaction(isSynced: isSynced)
        defer { current = nil }
        let result = try transaction.finish { try keepingBatches($0, body) }
        told = transaction.changes
        return result
      }
      for change in told { changes.tell(change) }
      return result
    }
  }

  /// Begins the outermost transaction, with `writing` held.
  func startTransaction(isSynced: Bool = true) throws -> Transaction {
    let transaction = try beginTransaction(isSynced: isSynced)
    current = transaction
    return transaction
  }

  private func beginTransaction(isSynced: Bool) throws -> Transaction {
    let connection = try openWriter()
    try connection.syncCommits(isSynced && options.durability == .full)
    return try Transaction.begin(on: connection, clock: clock, writer: identity)
  }

  /// Waits until what was written without syncing is on the disk, by other handles, too. Does nothing where the store's durability does not
  /// ask for it, nor inside of `write`, which syncs when it ends.
  package func sync() throws {
    try pass {
      guard options.durability == .full, !options.isReadOnly, !isMemory, !isWriting else { return }
      try writing.withLock(within: patience) { try openWriter().syncWAL() }
    }
  }

  /// Forgets the outermost transaction, with `writing` held.
  func endTransaction() { current = nil }

  /// Runs `body` on the write connection outside a transaction, for what SQLite wants there.
  package func maintain(_ body: (Connection) throws -> Void) throws {
    try gate.pass {
      guard !options.isReadOnly else { return }
      try writing.withLock(within: patience) {
        guard current == nil else { return }
        try readers.emptying { try body(openWriter()) }
      }
    }
  }

  /// Whether the calling thread is inside of `write`, or of a batch.
  package var isWriting: Bool { writing.isHeldByCaller || writing.isInBatch }

  var patience: Int { max(0, Int(options.busyTimeout)) }

  /// Through the gate; a call inside a `write` of the same thread is through already, also while it closes.
  func pass<Result>(_ body: () throws -> Result) throws -> Result {
    try HostWork.refuseInClock(path)
    return try writing.isHeldByCaller ? body() : gate.pass(body)
  }

  private func openWriter() throws -> Connection {
    if let writer { return writer }
    let connection = try openConnection(options.isReadOnly)
    keep(connection)
    return connection
  }

  private func keep(_ connection: Connection) {
    if !isMemory { connection.leaveCheckpoints(to: checkpointer) }
    writer = connection
  }

  /// Keeps the connection that opened the store, instead of opening another: as the writer when it made the
  /// store, else as the first reader, since reading is what most apps start with.
  func adopt(_ connection: Connection, asWriter: Bool) {
    guard asWriter || isMemory else { return readers.adopt(connection) }
    writing.withLockBesideBatches { keep(connection) }
  }

  // MARK: Watching and closing

  /// Subscribes to changes, also those that other handles and processes commit.
  package func observe(_ hear: @escaping @Sendable (Change) -> Void) throws -> ChangeFeed.Subscription {
    try gate.pass {
      if !isMemory {
        try changes.watch(writer: identity) { try self.openConnection(true) }
      }
      return changes.subscribe(hear)
    }
  }

  /// Closes the store. Waits for calls under way, and undoes open batches.
  ///
  /// - Throws: `.closed` when it was closed before; `.busy` when it undid a batch of another thread; what the last
  ///   write met. It is closed all the same.
  package func close() throws {
    guard !isClosing.exchange(true, ordering: .sequentiallyConsistent) else {
      throw SatchelError(.closed, "\(path): the store is closed")
    }
    // First: the steps below write, which no batch must take with it when it is undone.
    var failure: (any Error)? = abandonBatches()
    failure = takeClosingSteps() ?? failure
    _ = gate.close()
    changes.stop()
    checkpointer.stop()
    let isDone: Void? = writing.withLockBesideBatches(within: patience) {
      failure = abandonBatches() ?? failure
      if !options.isReadOnly, beforeClose != nil && writer != nil || needsWriterToClose {
        do {
          let transaction = try beginTransaction(isSynced: true)
          try transaction.finish { transaction in
            try beforeClose?(transaction)
            if hasToldExpiry.load(ordering: .relaxed) { transaction.keepTime() }
          }
        } catch { failure = failure ?? error }
      }
      beforeClose = nil
      hasClosingWork = nil
      // The readers first: only a connection that may write takes the log along when it is the last.
      readers.drain()
      checkpointer.close()
      writer = nil
    }
    if isDone == nil {
      readers.drain()
      checkpointer.close()
      throw SatchelError(
        .busy, "\(path): closed while another thread's transaction had not ended; it is undone")
    }
    if let failure { throw failure }
  }

  private var needsWriterToClose: Bool {
    if hasToldExpiry.load(ordering: .relaxed) { return true }
    guard let hasClosingWork else { return false }
    return (try? readers.withTransaction(hasClosingWork)) ?? false
  }

  deinit { try? close() }

  /// Whether `close` was called.
  package var isClosed: Bool { gate.isClosed }
}
