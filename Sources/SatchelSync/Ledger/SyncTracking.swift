import SatchelCore
import SatchelStorage

/// The calls by which subjects record single changes, and read the sync status of their content.
package enum SyncTracking {
  /// Whether the store is bound to a sync log; false when it has no tables of one.
  package static func isBound(_ database: Database) throws -> Bool {
    guard try database.has(SyncLogSchema.subject) else { return false }
    return try database.read { try $0.number("SELECT count(*) FROM sync_log") > 0 }
  }

  /// Records that local content was changed or deleted. The store must have the tables of the sync log;
  /// nothing is recorded when it is not bound to one.
  package static func note(_ key: SyncKey, in transaction: Transaction) throws {
    try SyncTracker(transaction)?.notePut(key)
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

  static func sequence(_ transaction: Transaction) throws -> Int64 {
    try SyncTracker.sequence(transaction)
  }

  /// The row with the local state of a key.
  static func row(_ key: SyncKey, _ connection: Connection) throws -> SyncRow? {
    guard let (valid, previous) = try SyncTracker.generations(connection) else { return nil }
    let table = SyncRowTable(connection: connection)
    if let previous, let row = try table.row(key, generation: previous) { return row }
    return try table.row(key, generation: valid)
  }

  /// Ends an open conflict: the host has decided about an entry, and the local content is its decision, which is sent.
  ///
  /// - Parameter checksum: of the entry that the host has seen
  /// - Returns: false when the entry has been replaced since: then it is decided again, and the local content
  ///   must stay
  package static func resolve(
    _ key: SyncKey, seen checksum: String, in transaction: Transaction
  ) throws -> Bool {
    try SyncTracker(transaction)?.resolve(key, seen: checksum) ?? false
  }

  /// Makes the next sync decide again about a waiting entry.
  package static func reconsider(_ key: SyncKey, in transaction: Transaction) throws {
    var id = key.id
    try id.withUTF8 {
      try SyncTracker(transaction)?.reconsider(UnsafeRawBufferPointer($0), in: key.collection)
    }
  }
}

/// The sync status of content, as it is reported to the host.
package enum SyncStatus: Sendable, Equatable {
  /// The store is not bound to a sync log, or does not synchronize the collection.
  case local
  case pending
  case synced
  /// A newer remote version is waiting.
  case waiting
  case conflict
}

/// Reads the status of the content of one collection in one snapshot of the store.
package struct SyncStatusReader {
  private let connection: Connection
  private let collection: Int64?
  private let generations: (valid: Int64, previous: Int64?)?

  /// The store must have the tables of the sync log.
  package init(_ connection: Connection, collection: String) throws {
    self.connection = connection
    generations = try SyncTracker.generations(connection)
    self.collection = try connection.first(
      "SELECT id FROM sync_collection WHERE name = ? AND is_declared = 1", .text(collection)
    ) { try $0.integer(0) }
  }

  /// Returns nil when the content has no sync state.
  ///
  /// - Parameter id: the id in UTF-8
  package func status(_ id: UnsafeRawBufferPointer) throws -> SyncStatus? {
    guard let generations, let collection else { return .local }
    for generation in [generations.previous, generations.valid].compactMap({ $0 }) {
      let found = try connection.first(
        """
        SELECT conflict IS NOT NULL, remote IS NOT NULL, pending IS NOT NULL, base IS NULL FROM sync_entry
        WHERE collection = ? AND key = ? AND generation = ?
        """, .integer(collection), .textBytes(id), .integer(generation)
      ) { row -> SyncStatus in
        if row.flag(0) { return .conflict }
        if row.flag(1) { return .waiting }
        return row.flag(2) || row.flag(3) ? .pending : .synced
      }
      if let found { return found }
    }
    return nil
  }
}
