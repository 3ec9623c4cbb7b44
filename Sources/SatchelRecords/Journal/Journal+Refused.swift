import SatchelJSON
import SatchelStorage

extension Journal {
  /// Changes that the store refused when they were taken in, the oldest first.
  package func refused(in database: Database) throws -> [RefusedEntry] {
    guard try database.has(JournalSchema.subject) else { return [] }
    return try database.read { connection in
      var entries: [RefusedEntry] = []
      try connection.each("SELECT id, time, entry, reason FROM spill_refused ORDER BY id") { row in
        entries.append(
          RefusedEntry(
            id: try row.integer(0), time: try row.integer(1), entry: Array(row.bytes(2)), reason: row.text(3))
        )
      }
      return entries
    }
  }

  /// Forgets an entry that was refused, once somebody has seen to it.
  ///
  /// - Returns: whether there was one
  @discardableResult
  package func forgetRefused(_ id: Int64, in database: Database) throws -> Bool {
    guard try database.has(JournalSchema.subject) else { return false }
    return try database.write { transaction in
      try transaction.connection.run("DELETE FROM spill_refused WHERE id = ?", .integer(id))
      return transaction.connection.changes > 0
    }
  }

  /// Takes in what was refused for the lack of something that is there now, such as its collection: each by itself;
  /// what is refused again stays. Inside a write of the same thread nothing is tried.
  ///
  /// - Parameter isMeant: whether to try an entry
  func reconsider(in database: Database, where isMeant: (JSONValue) -> Bool) throws {
    guard !database.isWriting else { return }
    for refused in try refused(in: database) {
      guard let entry = try? JSONValue(parsing: refused.entry), isMeant(entry) else { continue }
      do {
        try database.write { transaction in
          try apply(entry, in: transaction, of: database)
          try forgetRefused(refused.id, in: database)
          transaction.note(subject: "records", keys: ["@replayed"], place: nil)
        }
      } catch let error as SatchelError where error.isRefusal {}
    }
  }
}
