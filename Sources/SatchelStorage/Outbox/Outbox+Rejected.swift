import SatchelCore
import SatchelJSON

extension Outbox {
  /// Removes rejected entries, and the outbox file, as the last part of signing out.
  package func signOut(in transaction: Transaction, of database: Database) throws {
    if try database.has(OutboxSchema.subject) {
      try transaction.connection.run("DELETE FROM outbox_rejected")
    }
    try outboxFile?.discard()
  }

  /// Returns the rejected entries, the oldest first.
  package func rejected(in database: Database) throws -> [RejectedEntry] {
    guard try database.has(OutboxSchema.subject) else { return [] }
    return try database.read { connection in
      var entries: [RejectedEntry] = []
      try connection.each("SELECT id, time, entry, reason FROM outbox_rejected ORDER BY id") { row in
        entries.append(
          RejectedEntry(
            id: try row.integer(0), time: try row.integer(1), entry: Array(row.bytes(2)), reason: row.text(3))
        )
      }
      return entries
    }
  }

  /// Deletes a rejected entry, once it has been dealt with.
  ///
  /// - Returns: whether it existed
  @discardableResult
  package func forgetRejected(_ id: Int64, in database: Database) throws -> Bool {
    guard try database.has(OutboxSchema.subject) else { return false }
    return try database.write { transaction in
      try transaction.connection.run("DELETE FROM outbox_rejected WHERE id = ?", .integer(id))
      return transaction.connection.changes > 0
    }
  }

  /// Retries entries that were rejected because something was missing, such as their collection, each in a
  /// transaction of its own; an entry that is rejected again stays. Does nothing inside a write on the same
  /// thread.
  ///
  /// - Parameter isIncluded: whether to retry an entry
  package func retryRejected(in database: Database, where isIncluded: (JSONValue) -> Bool) throws {
    guard !database.isInTransaction else { return }
    for rejected in try rejected(in: database) {
      guard let entry = try? JSONValue(parsing: rejected.entry), isIncluded(entry) else { continue }
      do {
        try database.write { transaction in
          try apply(entry, in: transaction, of: database)
          try forgetRejected(rejected.id, in: database)
          transaction.note(.drained, of: subject(of: entry))
        }
      } catch let error as SatchelError where error.isRejection {}
    }
  }
}

/// A spooled change that the store rejected, or an unreadable part of an outbox file.
package struct RejectedEntry: Equatable, Sendable {
  package var id: Int64
  /// The time of the rejection, in Unix milliseconds.
  package var time: Int64
  /// The change as JSON; empty for an unreadable part, which stays in the quarantined file.
  package var entry: [UInt8]
  package var reason: String

  /// The JSON of the C interface.
  package var json: JSONValue {
    [
      "id": .int(id), "time": .int(time), "reason": .string(reason),
      "entry": (try? JSONValue(parsing: entry)) ?? .null,
    ]
  }
}

/// The tables of the outbox.
package enum OutboxSchema {
  package static let subject = SubjectSchema(
    name: "outbox", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: ["outbox_saved.writer": StoredRange.any, "outbox_saved.through": StoredRange.count],
      times: ["outbox_rejected.time": .stamp, "outbox_saved.time": .stamp]))

  private static let version1 = """
    -- The number of the last entry of an outbox file that is in the store.
    CREATE TABLE outbox_applied(
      file TEXT PRIMARY KEY,
      through INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The sequence number through which the changes of one handle are saved; see OutboxSequence.
    CREATE TABLE outbox_saved(
      writer INTEGER PRIMARY KEY,
      through INTEGER NOT NULL,
      time INTEGER NOT NULL
    ) STRICT;

    -- Entries that the store rejected, and unreadable parts of an outbox file.
    CREATE TABLE outbox_rejected(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      file TEXT NOT NULL,
      number INTEGER NOT NULL,
      time INTEGER NOT NULL,
      entry BLOB NOT NULL,
      reason TEXT NOT NULL
    ) STRICT;
    """
}

extension Outbox {
  /// Reports changes that are not in the store: entries in the outbox file, and rejected ones.
  package func check(_ database: Database) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if let outboxFile, outboxFile.isPending {
      findings.append(
        StoreFinding(
          code: "spooled", message: "\(outboxFile.path): contains changes that the store could not accept yet"
        ))
    }
    for entry in try rejected(in: database) {
      findings.append(
        StoreFinding(
          code: "rejected_change", message: "a change that was spooled was rejected: \(entry.reason)"))
    }
    return findings
  }
}
