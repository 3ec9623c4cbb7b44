import SatchelCore
import SatchelStorage

/// Reads and writes the sync metadata of one synchronized collection.
struct SyncTable {
  let connection: Connection
  let collection: Int64

  /// Records that a record was written. A failed upload is still retried at its scheduled time.
  func notePut(_ key: UnsafeRawBufferPointer, sequence: Int64) throws {
    try connection.run(
      """
      INSERT INTO record_sync(collection, key, pending, attempts) VALUES(?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET pending = excluded.pending, deleted = NULL, revision = NULL, created = NULL
      """, .integer(collection), .textBytes(key), .integer(sequence))
  }

  /// Records that a record was deleted; nothing is kept of a record that was never uploaded.
  func noteDeletion(
    _ key: UnsafeRawBufferPointer, sequence: Int64, revision: Int64, created: Int64, now: Int64
  ) throws {
    try connection.run(
      "DELETE FROM record_sync WHERE collection = ? AND key = ? AND base IS NULL AND sending IS NULL",
      .integer(collection), .textBytes(key))
    if connection.changes > 0 {
      try connection.run(
        "DELETE FROM record_conflict WHERE collection = ? AND key = ? AND kind = 'open'",
        .integer(collection), .textBytes(key))
      return
    }
    try connection.run(
      """
      UPDATE record_sync SET pending = ?, deleted = ?, revision = ?, created = ?
      WHERE collection = ? AND key = ?
      """, .integer(sequence), .integer(now), .integer(revision), .integer(created), .integer(collection),
      .textBytes(key))
  }

  /// Returns the last revision of a deleted record; 0 when it is not known.
  func revisionOfDeleted(_ key: UnsafeRawBufferPointer) throws -> Int64 {
    try connection.number(
      "SELECT revision FROM record_sync WHERE collection = ? AND key = ? AND deleted IS NOT NULL",
      .integer(collection), .textBytes(key))
  }
}
