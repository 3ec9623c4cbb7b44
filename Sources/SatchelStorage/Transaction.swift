import SatchelCore
import Synchronization

/// A write transaction: its connection, time, revision and changes.
package final class Transaction {
  package let connection: Connection
  /// Unix milliseconds, constant during the transaction.
  package let now: Int64
  /// The revision, which increases with every commit that has changes: the order of commits where clocks
  /// cannot be trusted.
  package let revision: Int64
  private let writer: Int64
  private(set) var changes: [Change] = []
  private var undo: [() -> Void] = []
  private var checks: [(key: String, step: (Transaction) throws -> Void)] = []
  private var depth = 0
  /// The ID of the innermost savepoint, never reused within a transaction; 0 outside all savepoints.
  package private(set) var savepointID = 0
  private var lastSavepointID = 0
  private var failure: (any Error)?
  private var recordsTime = false
  /// Identifies the transaction within the process.
  package let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
  private static let numbers = Atomic<UInt64>(0)
  /// The number of the handle's previous transaction, if that one was committed and nothing was written
  /// since: then values cached in it are still valid. Nil when unknown.
  package let predecessor: UInt64?
  /// Revision and time of the newest entry in the change log.
  private var newest: (revision: Int64, time: Int64)
  /// The number of rows that the connection had changed before.
  private let changesBefore: Int64

  /// Whether the store has times of a clock that was ahead.
  var isAfterClockAhead: Bool { StoreClock.isAhead(newest.time, of: now) }
  /// The time of the newest commit.
  var newestTime: Int64 { newest.time }

  /// The state of the store after a commit.
  struct CommitState {
    var number: UInt64
    /// The connection's data version, which changes when another connection writes.
    var dataVersion: UInt32
    var newest: (revision: Int64, time: Int64)
  }

  private init(
    _ connection: Connection, _ clock: StoreClock, writer: Int64, predecessor: UInt64?,
    newest: (revision: Int64, time: Int64)
  ) {
    self.connection = connection
    now = clock.now(after: newest.time)
    changesBefore = connection.totalChanges
    revision = newest.revision + 1
    self.writer = writer
    self.predecessor = predecessor
    self.newest = newest
  }

  static func begin(on connection: Connection, clock: StoreClock, writer: Int64) throws -> Transaction {
    try connection.spillPages(true)
    try connection.run("BEGIN IMMEDIATE")
    connection.preallocateWAL()
    do {
      let before = connection.lastCommit
      // Unset until this transaction is committed.
      connection.lastCommit = nil
      if let before, before.dataVersion == connection.dataVersion {
        return Transaction(
          connection, clock, writer: writer, predecessor: before.number, newest: before.newest)
      }
      let newest = try ChangeLog.newestEntry(connection)
      return Transaction(connection, clock, writer: writer, predecessor: nil, newest: newest)
    } catch {
      try? connection.run("ROLLBACK")
      throw error
    }
  }

  /// Runs `body` and commits; rolls back when either throws.
  func finish<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    do {
      let result = try body(self)
      try commit()
      return result
    } catch {
      rollback()
      throw error
    }
  }

  /// Commits. After an error the caller must roll back.
  func commit() throws {
    try checkAlive()
    while let check = checks.popLast() { try check.step(self) }
    try writeChangeLog()
    try connection.run("COMMIT")
    connection.lastCommit = CommitState(
      number: number, dataVersion: connection.dataVersion, newest: newest)
    try connection.verifyFileAtPath()
    connection.checkpointLongWAL()
  }

  func rollback() {
    // SQLite may have rolled back already, for example on a full disk.
    if connection.isInTransaction { try? connection.run("ROLLBACK") }
    for step in undo.reversed() { step() }
    undo = []
  }

  /// Throws when SQLite has rolled back automatically: later statements would run in another transaction.
  private func checkAlive() throws {
    if let failure { throw failure }
    guard connection.isInTransaction else {
      throw SatchelError(.io, "\(connection.path): the transaction was rolled back when a write failed")
    }
  }

  /// Runs `body` inside a savepoint.
  func nested<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    let savepoint = try beginNested()
    do {
      let result = try body(self)
      try endNested(savepoint)
      return result
    } catch {
      rollBackNested(savepoint)
      throw error
    }
  }

  /// The state at the beginning of a savepoint.
  struct Savepoint {
    fileprivate var depth: Int
    fileprivate var changes: Int
    fileprivate var undo: Int
    fileprivate var savepointID: Int
    fileprivate var failure: (any Error)?
  }

  func beginNested() throws -> Savepoint {
    try checkAlive()
    try connection.spillPages(false)
    try connection.execute("SAVEPOINT savepoint_\(depth + 1)")
    depth += 1
    let savepoint = Savepoint(
      depth: depth, changes: changes.count, undo: undo.count, savepointID: savepointID, failure: failure)
    lastSavepointID += 1
    savepointID = lastSavepointID
    return savepoint
  }

  func endNested(_ savepoint: Savepoint) throws {
    try checkAlive()
    try connection.execute("RELEASE savepoint_\(savepoint.depth)")
    depth = savepoint.depth - 1
    savepointID = savepoint.savepointID
  }

  func rollBackNested(_ savepoint: Savepoint) {
    if connection.isInTransaction {
      try? connection.execute(
        "ROLLBACK TO savepoint_\(savepoint.depth); RELEASE savepoint_\(savepoint.depth)")
    }
    depth = savepoint.depth - 1
    savepointID = savepoint.savepointID
    failure = savepoint.failure
    changes.removeSubrange(savepoint.changes...)
    for step in undo[savepoint.undo...].reversed() { step() }
    undo.removeSubrange(savepoint.undo...)
  }

  /// Records a change, of which observers are notified after the commit.
  ///
  /// - Parameter sectionCount: the number of the first keys that are names of sections
  package func note(
    subject: Change.Subject, keys: [String], sectionCount: Int = 0, place: String? = nil
  ) {
    changes.append(
      Change(
        subject: subject, keys: keys, sectionCount: sectionCount, place: place, isOwn: true,
        revision: revision))
  }

  /// Records an event, of which observers are notified after the commit.
  package func note(_ event: Change.Event, of subject: Change.Subject) {
    note(subject: subject, keys: [event.rawValue])
  }

  /// Writes the transaction's time into the change log, even when nothing else has changed.
  func recordTime() { recordsTime = true }

  /// Adds a step that restores state in memory if the transaction fails.
  package func onFailure(_ step: @escaping () -> Void) { undo.append(step) }

  /// Makes the innermost transaction fail with `error`, because a write is incomplete.
  package func mustFail(_ error: any Error) { failure = failure ?? error }

  /// Adds a step that runs at the end of the outermost transaction, once for each key. If it throws,
  /// everything is rolled back.
  package func beforeCommit(once key: String, _ step: @escaping (Transaction) throws -> Void) {
    if !checks.contains(where: { $0.key == key }) { checks.append((key, step)) }
  }

  /// How much later than the newest entry the times of commits without an entry may be, in milliseconds.
  private static let unrecorded: Int64 = 60 * 60 * 1000

  private func writeChangeLog() throws {
    // Stored times are at most so much later than the newest entry, by which they are known to be ahead.
    if now > newest.time + Self.unrecorded, connection.totalChanges != changesBefore { recordsTime = true }
    guard !changes.isEmpty || recordsTime else { return }
    guard ChangeLog.revisions.contains(revision) else {
      throw SatchelError(
        .damaged,
        "\(connection.path): change.revision: \(newest.revision) is the greatest one; recover the store")
    }
    try ChangeLog.json(of: changes).withUnsafeBytes {
      try connection.run(
        "INSERT INTO change(revision, time, writer, entries) VALUES(?, ?, ?, ?)", .integer(revision),
        .integer(now), .integer(writer), .textBytes($0))
    }
    newest = (revision, now)
    if revision % ChangeLog.trimInterval == 0 {
      try connection.run("DELETE FROM change WHERE revision <= ?", .integer(revision - ChangeLog.kept))
    }
  }
}

extension ChangeLog {
  /// Returns revision and time of the newest commit; zeros before the first commit.
  static func newestEntry(_ connection: Connection) throws -> (revision: Int64, time: Int64) {
    try connection.first("SELECT revision, time FROM change ORDER BY revision DESC LIMIT 1") {
      (try $0.integer(0, in: revisions), try $0.integer(1, in: StoredRange.time))
    } ?? (0, 0)
  }
}
