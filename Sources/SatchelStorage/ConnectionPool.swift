import SatchelCore
import Synchronization

/// A pool of read connections, which are opened when first needed and lent to one thread at a time.
///
/// When reads follow each other closely, a connection's read transaction stays open from one read to the
/// next. An open read transaction prevents SQLite from resetting the WAL: it is ended after 20 ms, by the
/// scheduler when no further read comes. Without that a look-up by key takes two to three times as long.
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

  private let thread: JobThread
  private var expiry: JobThread.Job?
  /// Whether `expiry` will run, or runs.
  private var isExpiryRequested = false

  /// - Parameter thread: ends transactions that are kept and not used
  init(limit: Int, expiring thread: JobThread, open: @escaping () throws -> Connection) {
    self.limit = limit
    self.thread = thread
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
        isFrequent && isRecent && reader.sharedRead.canStay(reader.connection) && requestExpiry(now)
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

  /// Closes the connections that are not lent.
  func close() {
    condition.withLock {
      for reader in idle { end(reader) }
      idle.removeAll()
      adopted = nil
      isClosed = true
    }
  }

  // MARK: Ending unused transactions

  /// Lets kept transactions end when they are not used any more. The caller holds `condition`.
  ///
  /// - Returns: false when the store closes, or no thread can be started
  private func requestExpiry(_ now: Int64) -> Bool {
    if isExpiryRequested { return true }
    if isClosed { return false }
    let job = expiry ?? thread.job { [weak self] in self?.endExpired() }
    expiry = job
    isExpiryRequested = (try? job.request(at: now + Self.maxKeptTime)) != nil
    return isExpiryRequested
  }

  /// Ends the transactions that were not used for a while.
  ///
  /// - Returns: when to look again; nil when none is kept
  private func endExpired() -> Int64? {
    condition.withLock {
      let now = Clock.monotonic.now()
      for reader in idle where now - reader.lastRead >= Self.maxKeptTime { end(reader) }
      isExpiryRequested = !isClosed && (lent > 0 || idle.contains { $0.sharedRead.isOpen })
      return isExpiryRequested ? now + Self.maxKeptTime : nil
    }
  }
}

/// A connection's read transaction that several reads share while no other connection commits. SQLite finds a row by its
/// key in a third to a half of the time that it takes with a transaction of its own.
struct SharedReadTransaction {
  private enum Index {
    case unknown
    case none
    case at(UnsafeRawPointer)
  }

  private var index = Index.unknown
  /// The WAL index header at the beginning of the transaction; nil while there is no transaction that may be
  /// shared.
  private var begun: WALIndexHeader?
  private(set) var isOpen = false
  private static let numbers = Atomic<UInt64>(0)

  /// Begins a transaction, unless the open one sees everything committed.
  mutating func begin(_ connection: Connection) throws {
    if isOpen {
      if case .at(let header) = index, begun == WALIndexHeader(header) { return }
      end(connection)
    }
    // Read before BEGIN: a commit in between makes this header outdated, and the next read begins a new
    // transaction.
    if case .at(let header) = index { begun = WALIndexHeader(header) }
    try connection.run("BEGIN")
    connection.snapshot = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    isOpen = true
  }

  /// Ends the transaction.
  mutating func end(_ connection: Connection) {
    guard isOpen else { return }
    // SQLite may have ended a failed transaction.
    if connection.isInTransaction { try? connection.run("COMMIT") }
    connection.snapshot = 0
    isOpen = false
    begun = nil
  }

  /// Whether the transaction may stay open until the next read.
  mutating func canStay(_ connection: Connection) -> Bool {
    if case .unknown = index { index = connection.findWALIndex().map { .at($0) } ?? .none }
    return begun != nil && connection.isInTransaction
  }
}
