import SatchelCore

/// The sequence numbers of the changes that handles have saved. They identify a change that is already saved while the
/// commit is in progress or has only seemed to fail, and when it is drained from the outbox file again.
///
/// The tables of the outbox must exist.
package struct OutboxSequence {
  /// The time in milliseconds for which the number of a handle is kept: an outbox file may be drained late.
  private static let retention: Int64 = 366 * 24 * 3600 * 1000

  private let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Returns the number through which the changes of a handle are saved; 0 when none are.
  package func saved(_ writer: Int64) throws -> Int64 {
    try connection.number("SELECT through FROM outbox_saved WHERE writer = ?", .integer(writer))
  }

  /// Notes the number through which a handle has saved, and forgets handles that have not saved for a year.
  package func note(_ writer: Int64, through sequence: Int64, at now: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO outbox_saved(writer, through, time) VALUES(?, ?, ?)", .integer(writer),
      .integer(sequence), .integer(now))
    try connection.run("DELETE FROM outbox_saved WHERE time < ?", .integer(now - Self.retention))
  }
}
