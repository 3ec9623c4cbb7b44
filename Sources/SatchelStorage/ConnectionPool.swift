import SatchelCore
import Synchronization

/// A pool of read connections, which are opened when first needed and lent to one thread at a time.
///
/// When reads follow each other closely, a connection's read transaction stays open from one read to the
/// next. An open read transaction prevents SQLite from resetting the WAL: it is ended after 20 ms, by a
/// thread when no further read comes.
// Unchecked: `condition` guards all state; a connection's `sharedRead` is accessed only by its borrower, or
// with `condition` held while it is not lent.
final class ConnectionPool: @unchecked Sendable {
  /// The number of consecutive reads after which a transaction is kept, and the longest pause between them in
  /// milliseconds.
  private static let minReadsInARow = 8
  private static let maxPause: Int64 = 5
  /// The maximum time that a transaction is kept, and that it is kept without a read, in milliseconds.
  private static let maxKeptTime: Int64 = 20

  private final class Reader {
    let connection: Connection
    var sharedRead = SharedReadTransaction()
    var lastRead: Int64 = 0
    /// The time since which its transaction is kept; nil while it is not kept.
    var keptSince: Int64?
    init(_ connection: Connection) { self.connection = connection }
  }

  private let condition = ConditionLock()
  private let open: () throws -> Connection
  private let limit: Int
  private var idle: [Reader] = []
  private var lent = 0
  private var adopted: Connection?
  private var readsInARow = 0
  private var lastRead: Int64 = 0
  private var isClosed = false
  /// The number of operations in progress that need the WAL without readers.
  private var keepSuspensions = 0

  private var expiryThread: SystemThread?
  /// The condition that `expiryThread` waits for; a separate one, so that a signal for a waiting borrower
  /// does not wake it instead.
  private let expiryCondition = ConditionLock()
  private let isAsleep = Atomic(false)

  init(limit: Int, open: @escaping () throws -> Connection) {
    self.limit = limit
    self.open = open
  }

  /// Runs `body` on a connection, in a read transaction that sees everything committed before the call.
  func withTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let reader = try acquire()
    var isReusable = false
    defer { release(reader, isReusable: isReusable) }
    try reader.sharedRead.begin(reader.connection)
    let result = try reader.connection.reading(body)
    isReusable = true
    return result
  }

  private func acquire() throws -> Reader {
    condition.lock()
    while idle.isEmpty && lent >= limit { condition.wait() }
    lent += 1
    let reader = idle.popLast()
    condition.unlock()
    do {
      return try reader ?? Reader(open())
    } catch {
      condition.withLock {
        lent -= 1
        condition.signal()
      }
      throw error
    }
  }

  private func release(_ reader: Reader, isReusable: Bool) {
    let now = Clock.monotonic.now()
    condition.withLock {
      readsInARow = now - lastRead <= Self.maxPause ? readsInARow + 1 : 0
      lastRead = now
      reader.lastRead = now
      let isFrequent = isReusable && keepSuspensions == 0 && readsInARow >= Self.minReadsInARow
      let isRecent = now - (reader.keptSince ?? now) < Self.maxKeptTime
      let staysOpen =
        isFrequent && isRecent && reader.sharedRead.canStay(reader.connection) && ensureExpiryThread()
      if staysOpen {
        reader.keptSince = reader.keptSince ?? now
      } else {
        end(reader)
      }
      lent -= 1
      idle.append(reader)
      if lent == limit - 1 { condition.signal() }
    }
  }

  /// Adds an open connection that may write: it is closed last, and deletes the WAL.
  func adopt(_ connection: Connection) {
    condition.withLock {
      idle.append(Reader(connection))
      adopted = connection
    }
  }

  /// The connection that `adopt` added.
  var adoptedConnection: Connection? { condition.withLock { adopted } }

  /// Runs `body` while no transaction is kept, so that a checkpoint can reset the WAL.
  func withoutKeptTransactions<Result>(_ body: () throws -> Result) rethrows -> Result {
    condition.withLock {
      keepSuspensions += 1
      for reader in idle { end(reader) }
    }
    defer { condition.withLock { keepSuspensions -= 1 } }
    return try body()
  }

  private func end(_ reader: Reader) {
    reader.sharedRead.end(reader.connection)
    reader.keptSince = nil
  }

  /// Closes the connections that are not lent, and ends the thread.
  func close() {
    let expiryThread = condition.withLock { () -> SystemThread? in
      idle.removeAll()
      adopted = nil
      isClosed = true
      defer { self.expiryThread = nil }
      return self.expiryThread
    }
    wake()
    expiryThread?.join()
  }

  // MARK: Ending unused transactions

  /// Starts or wakes the thread that ends kept transactions.
  ///
  /// - Returns: whether there is such a thread
  private func ensureExpiryThread() -> Bool {
    if isClosed { return false }
    if expiryThread == nil {
      expiryThread = SystemThread { [self] in expireTransactions() }
    } else if isAsleep.load(ordering: .relaxed) {
      wake()
    }
    return expiryThread != nil
  }

  private func wake() {
    expiryCondition.withLock {
      isAsleep.store(false, ordering: .relaxed)
      expiryCondition.signal()
    }
  }

  private func expireTransactions() {
    while true {
      expiryCondition.withLock {
        while isAsleep.load(ordering: .relaxed) { expiryCondition.wait() }
        expiryCondition.wait(milliseconds: Int(Self.maxKeptTime))
      }
      let isOver = condition.withLock {
        endExpired()
        let isKept = lent > 0 || idle.contains { $0.sharedRead.isOpen }
        // With `condition` held: a thread that keeps a transaction afterwards sees this, and wakes it.
        isAsleep.store(!isKept && !isClosed, ordering: .relaxed)
        return isClosed
      }
      if isOver { return }
    }
  }

  private func endExpired() {
    let now = Clock.monotonic.now()
    for reader in idle where now - reader.lastRead >= Self.maxKeptTime { end(reader) }
  }
}
