import SatchelCore
import SatchelJSON

/// The correction of a clock that was ahead.
public struct ClockCorrection: Equatable, Sendable, Codable, JSONConvertible {
  /// When the clock was found to have gone back, in Unix milliseconds.
  public var noticedAt: Int64
  /// The latest time that had been written before.
  public var latest: Int64
  /// The number of rows whose times became `noticedAt`.
  public var stampedRows: Int64

  enum CodingKeys: String, CodingKey {
    case noticedAt = "noticed_at"
    case latest
    case stampedRows = "stamped_rows"
  }

  public var json: JSONValue {
    ["noticed_at": .int(noticedAt), "latest": .int(latest), "stamped_rows": .int(stampedRows)]
  }
}

/// The table of the latest correction of a clock; created with the first.
package enum ClockSchema {
  package static let subject = SubjectSchema(
    name: "clock", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "clock_correction.noticed_at": StoredRange.time, "clock_correction.latest": StoredRange.time,
        "clock_correction.stamped_rows": StoredRange.count,
      ], times: ["clock_correction.noticed_at": .stamp, "clock_correction.latest": .kept]))

  private static let version1 = """
    -- One row: when the clock was last found to have been ahead, the latest time written before, and the number of
    -- rows whose times were stamped again.
    CREATE TABLE clock_correction(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      noticed_at INTEGER NOT NULL,
      latest INTEGER NOT NULL,
      stamped_rows INTEGER NOT NULL
    ) STRICT;
    """
}

extension Database {
  /// Whether the store has times of a clock that was ahead, by what this handle knows.
  private var isAfterClockAhead: Bool {
    let newest = newestTime.load(ordering: .relaxed)
    // Without a comparison with the clock, which may call the host, while the store is new.
    return newest > 0 && StoreClock.isAhead(newest, of: clock.now())
  }

  /// Learns the time of the newest commit when the store is opened, and stamps the times of a clock that was ahead.
  func learn(_ newest: Int64) {
    _ = clock.now(after: newest)
    newestTime.store(newest, ordering: .relaxed)
    stampIfIdle()
  }

  /// Stamps the times of a clock that was ahead, if there are any. If that fails, or another thread is writing, the
  /// next write does it.
  package func stampIfIdle() {
    guard isAfterClockAhead, !options.isReadOnly, !isInTransaction, !writing.isBatchOpen else { return }
    // The transaction has nothing to write: beginning it stamps.
    try? write { _ in }
  }

  /// Begins a transaction. Where the store has times of a clock that was ahead, they are stamped before. The caller
  /// holds `writing`.
  func stamping(_ connection: Connection, _ begin: () throws -> Transaction) throws -> Transaction {
    let transaction = try begin()
    guard transaction.isAfterClockAhead else { return transaction }
    transaction.rollback()
    var (count, changed) = (Int64(0), [Change.Subject]())
    for (subject, stamping) in try Stamping.tables(times(), at: transaction.now, connection)
    where stamping.table != "change" {
      guard try stamping.isNeeded(connection) else { continue }
      if !changed.contains(subject), Change.Subject.all.contains(subject) { changed.append(subject) }
      var (position, isDone) = (Int64.min, false)
      while !isDone {
        let rows = try begin().finish { _ in try stamping.step(after: &position, connection) }
        count += rows
        isDone = rows == 0
      }
    }
    // Last, because the newest time says that there is something to stamp.
    let last = try begin()
    try last.finish { transaction in
      try ClockSchema.subject.migrate(connection)
      try connection.run(
        "INSERT OR REPLACE INTO clock_correction(id, noticed_at, latest, stamped_rows) VALUES(1, ?, ?, ?)",
        .integer(transaction.now), .integer(transaction.newestTime), .integer(count))
      try connection.run(
        "UPDATE change SET time = ? WHERE time > ?", .integer(transaction.now),
        .integer(transaction.now + StoreClock.tolerance))
      for subject in changed { transaction.note(subject: subject, keys: ["*"]) }
      transaction.recordTime()
    }
    stampedChanges += last.changes
    return try begin()
  }

  /// Returns the changes of a stamping, of which observers are to be notified. The caller holds `writing`.
  func takeStampedChanges() -> [Change] {
    defer { stampedChanges = [] }
    return stampedChanges
  }

  /// The latest correction of a clock that was ahead; nil when it never was.
  package var clockCorrection: ClockCorrection? {
    get throws {
      guard try has(ClockSchema.subject) else { return nil }
      return try read { connection in
        try connection.first("SELECT noticed_at, latest, stamped_rows FROM clock_correction") {
          ClockCorrection(
            noticedAt: try $0.integer(0, in: StoredRange.time),
            latest: try $0.integer(1, in: StoredRange.time),
            stampedRows: try $0.integer(2, in: StoredRange.count))
        }
      }
    }
  }

  /// Reports times of a clock that was ahead, which a store that is opened read-only keeps.
  package func checkClock() throws -> [StoreFinding] {
    try read { connection in
      let (newest, now) = (try ChangeLog.newestEntry(connection).time, clock.now())
      guard StoreClock.isAhead(newest, of: now) else { return [] }
      let tables = try Stamping.tables(times(), at: now, connection).filter { try $0.1.isNeeded(connection) }
      let names = tables.map(\.1.table).joined(separator: ", ")
      return [
        StoreFinding(
          code: "clock_ahead",
          message:
            "written with a clock that was \((newest - now) / 86_400_000) days ahead, in \(names); the next write dates these rows again"
        )
      ]
    }
  }
}
