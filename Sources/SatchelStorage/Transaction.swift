import Synchronization

/// One write under way: its connection, its time, its number, and what it will have changed.
package final class Transaction {
  package let connection: Connection
  /// Unix milliseconds, the same for all of the transaction.
  package let now: Int64
  /// Grows with every commit that tells changes; the order of commits, where clocks cannot be trusted.
  package let revision: Int64
  private let writer: Int64
  private(set) var changes: [Change] = []
  private var undo: [() -> Void] = []
  private var checks: [(key: String, step: (Transaction) throws -> Void)] = []
  private var level = 0
  /// A number for the innermost savepoint, never used twice in a transaction; 0 outside of all.
  package private(set) var scope = 0
  private var scopes = 0
  private var failure: (any Error)?
  private var keepsTime = false
  /// Tells it from all others of the process.
  package let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
  private static let numbers = Atomic<UInt64>(0)
  /// The number of the handle's transaction before this one, if that was committed and nobody has written since: what
  /// it knew of the store still holds. Nil when that is not known.
  package let follows: UInt64?
  /// Revision and time of the newest entry in the log.
  private var newest: (revision: Int64, time: Int64)

  /// How a transaction left the store.
  struct Standing {
    var number: UInt64
    /// Of the connection, which sees by it whether anyone has written since.
    var dataVersion: UInt32
    var newest: (revision: Int64, time: Int64)
  }

  private init(
    _ connection: Connection, _ clock: SteadyClock, writer: Int64, follows: UInt64?,
    newest: (revision: Int64, time: Int64)
  ) {
    self.connection = connection
    now = clock.now()
    revision = newest.revision + 1
    self.writer = writer
    self.follows = follows
    self.newest = newest
  }

  static func begin(on connection: Connection, clock: SteadyClock, writer: Int64) throws -> Transaction {
    try connection.spillPages(true)
    try connection.run("BEGIN IMMEDIATE")
    connection.preallocateWAL()
    do {
      let before = connection.standing
      // Until this one is committed.
      connection.standing = nil
      if let before, before.dataVersion == connection.dataVersion {
        return Transaction(
          connection, clock, writer: writer, follows: before.number, newest: before.newest)
      }
      let newest =
        try connection.first("SELECT revision, time FROM change ORDER BY revision DESC LIMIT 1") {
          (try $0.integer(0, in: ChangeLog.revisions), try $0.integer(1, in: StoredRange.time))
        } ?? (0, 0)
      clock.advance(to: newest.1)
      return Transaction(connection, clock, writer: writer, follows: nil, newest: newest)
    } catch {
      try? connection.run("ROLLBACK")
      throw error
    }
  }

  /// Runs `body` and commits; rolls back when it throws.
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

  /// Makes it durable; after a failure it is to be rolled back.
  func commit() throws {
    try checkAlive()
    while let check = checks.popLast() { try check.step(self) }
    try log()
    try connection.commit()
    connection.standing = Standing(
      number: number, dataVersion: connection.dataVersion, newest: newest)
    try connection.confirmPlace()
    connection.checkpointLongWAL()
  }

  func rollback() {
    // A full disk may have rolled back already.
    if connection.isInTransaction { try? connection.run("ROLLBACK") }
    for step in undo.reversed() { step() }
    undo = []
  }

  /// What SQLite rolled back by itself must not go on as another transaction.
  private func checkAlive() throws {
    if let failure { throw failure }
    guard connection.isInTransaction else {
      throw SatchelError(.io, "\(connection.path): the transaction was rolled back when a write failed")
    }
  }

  /// A transaction inside this one.
  func nested<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    let mark = try beginNested()
    do {
      let result = try body(self)
      try endNested(mark)
      return result
    } catch {
      undoNested(mark)
      throw error
    }
  }

  /// Where an inner transaction began.
  struct Mark {
    fileprivate var level: Int
    fileprivate var changes: Int
    fileprivate var undo: Int
    fileprivate var scope: Int
    fileprivate var failure: (any Error)?
  }

  func beginNested() throws -> Mark {
    try checkAlive()
    try connection.spillPages(false)
    try connection.execute("SAVEPOINT level_\(level + 1)")
    level += 1
    let mark = Mark(
      level: level, changes: changes.count, undo: undo.count, scope: scope, failure: failure)
    scopes += 1
    scope = scopes
    return mark
  }

  func endNested(_ mark: Mark) throws {
    try checkAlive()
    try connection.execute("RELEASE level_\(mark.level)")
    level = mark.level - 1
    scope = mark.scope
  }

  func undoNested(_ mark: Mark) {
    if connection.isInTransaction {
      try? connection.execute("ROLLBACK TO level_\(mark.level); RELEASE level_\(mark.level)")
    }
    level = mark.level - 1
    scope = mark.scope
    failure = mark.failure
    changes.removeSubrange(mark.changes...)
    for step in undo[mark.undo...].reversed() { step() }
    undo.removeSubrange(mark.undo...)
  }

  /// Says what observers will hear after the commit.
  package func note(subject: String, keys: [String], place: String?) {
    changes.append(Change(subject: subject, keys: keys, place: place, isOwn: true, revision: revision))
  }

  /// Writes the transaction's time into the log, though nothing else may have changed.
  func keepTime() { keepsTime = true }

  /// Says how to mend what is kept in memory, should the transaction fail.
  package func onFailure(_ step: @escaping () -> Void) { undo.append(step) }

  /// Sees to it that what a write left half done is not committed: the innermost transaction will fail with this.
  package func mustFail(_ error: any Error) { failure = failure ?? error }

  /// Adds what has to be done or to hold at the end of the outermost transaction; of several with one key, once.
  /// When it throws, everything is rolled back.
  package func beforeCommit(once key: String, _ step: @escaping (Transaction) throws -> Void) {
    if !checks.contains(where: { $0.key == key }) { checks.append((key, step)) }
  }

  private func log() throws {
    guard !changes.isEmpty || keepsTime else { return }
    try ChangeLog.text(of: changes).withUnsafeBytes {
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
