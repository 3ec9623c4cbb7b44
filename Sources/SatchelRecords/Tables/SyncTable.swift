import SatchelStorage

/// What has to travel, for collections that are synchronised.
struct SyncTable {
  let connection: Connection
  let collection: Int64

  /// Notes that a record was written. What has failed before is tried again when it is time.
  func notePut(_ key: UnsafeRawBufferPointer, sequence: Int64) throws {
    try connection.run(
      """
      INSERT INTO record_sync(collection, key, pending, attempts) VALUES(?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET pending = excluded.pending, deleted = NULL, revision = NULL, created = NULL
      """, .integer(collection), .textBytes(key), .integer(sequence))
  }

  /// Notes that a record was deleted; of one that nobody else has seen nothing stays.
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

  /// The last revision of a record that was deleted and is still remembered; 0 when it is not.
  func revisionOfDeleted(_ key: UnsafeRawBufferPointer) throws -> Int64 {
    try connection.number(
      "SELECT revision FROM record_sync WHERE collection = ? AND key = ? AND deleted IS NOT NULL",
      .integer(collection), .textBytes(key))
  }
}
