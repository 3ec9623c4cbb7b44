import SatchelCore
import SatchelStorage

/// Records the local changes of one transaction, so that they are sent. Its cached reads are valid until the
/// transaction ends, or until a savepoint that it has written in is rolled back.
package final class SyncTracker {
  let connection: Connection
  private let table: SyncRowTable
  /// Identifies the transaction among those of all processes.
  private let stamp: Int64
  /// The valid generation, and the one from which the local state is being moved.
  private let valid: Int64
  private let previous: Int64?
  private var noted: Int64?

  /// Distinguishes the transactions of this process from those of others.
  private static let process = UInt64.random(in: .min ... .max)

  /// Returns nil when the store is not bound to a sync log. It must have the tables of one.
  ///
  /// - Parameters:
  ///   - keyring: of the store, with the key of entries with sensitive content
  ///   - documents: required to read `base`
  package init?(
    _ transaction: Transaction, _ keyring: Keyring? = nil, documents: SyncDocuments? = nil
  ) throws {
    connection = transaction.connection
    table = SyncRowTable(connection: connection, key: keyring?.syncEntries, documents: documents)
    stamp = Int64(bitPattern: transaction.number &+ Self.process)
    guard let state = try Self.generations(connection) else { return nil }
    (valid, previous) = state
  }

  /// Whether the store is bound to a sync log; false when it has no tables of one.
  package static func isBound(_ database: Database) throws -> Bool {
    guard try database.has(named: SyncLogSchema.name) else { return false }
    return try database.read { try $0.number("SELECT count(*) FROM sync_log") > 0 }
  }

  static func generations(_ connection: Connection) throws -> (valid: Int64, previous: Int64?)? {
    try connection.first("SELECT generation, previous FROM sync_log") {
      (
        valid: try $0.integer(0, in: StoredRange.count),
        previous: try $0.integerIfAny(1, in: StoredRange.count)
      )
    }
  }

  /// The sequence number of the transaction's changes, greater than that of every earlier transaction.
  func sequence() throws -> Int64 {
    if let noted { return noted }
    let sequence = try Self.sequence(connection, stamp)
    noted = sequence
    return sequence
  }

  static func sequence(_ transaction: Transaction) throws -> Int64 {
    try sequence(transaction.connection, Int64(bitPattern: transaction.number &+ process))
  }

  /// The sequence number of a change that is not the app's: it is sent whatever becomes of the others of the transaction.
  static func ownSequence(_ connection: Connection) throws -> Int64 {
    try connection.run("UPDATE sync_writer SET sequence = sequence + 1, stamp = 0")
    return try SyncLogTables.latest(connection).sequence
  }

  private static func sequence(_ connection: Connection, _ stamp: Int64) throws -> Int64 {
    try connection.run(
      "UPDATE sync_writer SET sequence = sequence + 1, stamp = ?1 WHERE stamp <> ?1", .integer(stamp))
    return try SyncLogTables.latest(connection).sequence
  }

  // MARK: Changes

  /// Records that local content was written. A waiting entry is decided again, and a change that could not be sent is
  /// tried at once.
  ///
  /// - Parameter id: the id in UTF-8
  package func notePut(_ id: UnsafeRawBufferPointer, in collection: String) throws {
    let (sequence, collection) = (try sequence(), try table.makeCollection(collection))
    if let previous {
      try connection.run(
        """
        UPDATE sync_entry SET pending = ?, deleted = NULL, revision = NULL, created = NULL,
        attempts = 0, retry_at = NULL, error = NULL, error_code = NULL
        WHERE collection = ? AND key = ? AND generation = ?
        """, .integer(sequence), .integer(collection), .textBytes(id), .integer(previous))
      if connection.changes > 0 { return }
    }
    try connection.run(
      """
      INSERT INTO sync_entry(collection, key, generation, size, pending, attempts) VALUES(?, ?, ?, 0, ?, 0)
      ON CONFLICT DO UPDATE SET pending = excluded.pending, deleted = NULL, revision = NULL, created = NULL,
      attempts = 0, retry_at = NULL, error = NULL, error_code = NULL,
      undecided = CASE WHEN remote IS NOT NULL AND conflict IS NULL THEN 1 ELSE undecided END
      """, .integer(collection), .textBytes(id), .integer(valid), .integer(sequence))
  }

  package func notePut(_ key: SyncKey) throws {
    var id = key.id
    try id.withUTF8 { try notePut(UnsafeRawBufferPointer($0), in: key.collection) }
  }

  /// Records local content that was never synced as a change.
  func noteUnknown(_ key: SyncKey) throws {
    noted = try Self.ownSequence(connection)
    guard let row = try row(key) else { return try notePut(key) }
    if row.base == nil, row.pending == nil { try notePut(key) }
  }

  /// Records that local content was deleted. No tombstone is kept for content that was never sent.
  ///
  /// - Parameters:
  ///   - id: the id in UTF-8
  ///   - deletion: the metadata that the content had, and the time of the deletion
  package func noteDeletion(
    _ id: UnsafeRawBufferPointer, in collection: String, _ deletion: SyncContent
  ) throws {
    let (sequence, collection) = (try sequence(), try table.makeCollection(collection))
    for generation in [previous, valid].compactMap({ $0 }) {
      try connection.run(
        """
        DELETE FROM sync_entry WHERE collection = ? AND key = ? AND generation = ? AND base IS NULL AND seq IS NULL
        AND in_flight_sequence IS NULL
        """, .integer(collection), .textBytes(id), .integer(generation))
      if connection.changes > 0 { return }
      try connection.run(
        """
        UPDATE sync_entry SET pending = ?, deleted = ?, revision = ?, created = ?,
        attempts = 0, retry_at = NULL, error = NULL, error_code = NULL,
        undecided = CASE WHEN remote IS NOT NULL AND conflict IS NULL THEN 1 ELSE undecided END
        WHERE collection = ? AND key = ? AND generation = ?
        """, .integer(sequence), .integer(deletion.modified), .integer(deletion.revision),
        .integer(deletion.created), .integer(collection), .textBytes(id), .integer(generation))
      if connection.changes > 0 { return }
    }
  }

  /// Gives its document to the envelopes that are stored without it, because the local content is about to be changed
  /// or deleted. Every change of a document calls this, also one that is no change to send.
  ///
  /// - Parameters:
  ///   - document: as it is, not sealed
  ///   - id: the id in UTF-8
  package static func keepDocument(
    _ document: UnsafeRawBufferPointer, of id: UnsafeRawBufferPointer, in collection: String,
    _ connection: Connection
  ) throws {
    try connection.run(
      """
      UPDATE sync_entry SET base = CASE substr(base, 1, 1) WHEN x'02'
      THEN CAST(x'03' || substr(base, 2) || ?1 AS BLOB) ELSE base END,
      in_flight_envelope = CASE substr(in_flight_envelope, 1, 1) WHEN x'02'
      THEN CAST(x'03' || substr(in_flight_envelope, 2) || ?1 AS BLOB) ELSE in_flight_envelope END
      WHERE collection = (SELECT id FROM sync_collection WHERE name = ?2) AND key = ?3
      AND (substr(base, 1, 1) = x'02' OR substr(in_flight_envelope, 1, 1) = x'02')
      """, .blob(document), .text(collection), .textBytes(id))
  }

  /// Marks a waiting entry as undecided: the next sync decides about it again.
  package func reconsider(_ key: SyncKey) throws {
    var id = key.id
    try id.withUTF8 { try reconsider(UnsafeRawBufferPointer($0), in: key.collection) }
  }

  package func reconsider(_ id: UnsafeRawBufferPointer, in collection: String) throws {
    try connection.run(
      """
      UPDATE sync_entry SET undecided = 1 WHERE collection = ? AND key = ? AND generation = ? AND remote IS NOT NULL
      AND conflict IS NULL
      """, .integer(try table.makeCollection(collection)), .textBytes(id), .integer(previous ?? valid))
  }

  // MARK: What is known

  /// The row with the local state of a key.
  func row(_ key: SyncKey) throws -> SyncRow? {
    if let previous, let row = try table.row(key, generation: previous) { return row }
    return try table.row(key, generation: valid)
  }

  /// Whether the key has a local change that is not sent yet.
  package func isPending(_ key: SyncKey) throws -> Bool { try row(key)?.pending != nil }

  /// The entry of a key that waits to be applied.
  package func waiting(_ key: SyncKey) throws -> SyncEnvelope? {
    guard let row = try row(key), row.conflict == nil else { return nil }
    return try row.remote.map { try row.envelope($0).dated(row.received) }
  }

  /// Whether missing content was deleted, locally or remotely; false for content that was not received yet.
  package func isDeleted(_ key: SyncKey) throws -> Bool {
    guard let row = try row(key) else { return false }
    if row.deletion != nil, row.remote == nil { return true }
    return try (row.remote ?? row.entry).map { try row.envelope($0).content.isDeleted } ?? false
  }

  /// The last synced envelope of a key.
  package func base(_ key: SyncKey) throws -> SyncEnvelope? {
    try row(key)?.baseEnvelope
  }

  /// The revision that local content had when it was deleted; 0 when unknown.
  package func revisionOfDeleted(_ id: UnsafeRawBufferPointer, in collection: String) throws -> Int64 {
    guard let key = try? SyncKey(collection, String(decoding: id, as: UTF8.self)),
      try isKnown(id, in: collection),
      let row = try row(key)
    else { return 0 }
    if let deletion = row.deletion { return deletion.revision }
    guard let base = try row.base.map({ try row.envelope($0) }), base.content.isDeleted else {
      return 0
    }
    return base.content.revision
  }

  /// Whether content was sent, or its deletion is pending: of other content, no deletion is known here.
  private func isKnown(_ id: UnsafeRawBufferPointer, in collection: String) throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM sync_entry WHERE collection = (SELECT id FROM sync_collection WHERE name = ?)
      AND key = ? AND (base IS NOT NULL OR deleted IS NOT NULL))
      """, .text(collection), .textBytes(id)) > 0
  }

  /// Ends an open conflict, or the waiting of an entry: the local content is the decision about it, and is sent.
  ///
  /// - Parameter checksum: of the entry that the decision is about
  /// - Returns: false when the entry has been replaced since: then it is decided again, and the local content
  ///   must stay
  package func resolve(_ key: SyncKey, seen checksum: String) throws -> Bool {
    guard var row = try row(key), row.remote != nil || row.conflict != nil else { return false }
    row.conflict = nil
    let remote = try (row.remote ?? row.entry).map { try row.envelope($0) }
    guard let remote, remote.checksum == checksum else {
      row.isUndecided = row.remote != nil
      try table.write(row)
      return false
    }
    var all = try row.allAncestors()
    all.add(remote)
    row.setBase(remote.bytes, received: row.received)
    try row.setAncestors(all)
    row.pending = try sequence()
    row.isUndecided = false
    try table.write(row)
    return true
  }
}
