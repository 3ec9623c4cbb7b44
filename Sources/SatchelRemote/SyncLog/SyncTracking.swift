import SatchelCore
import SatchelStorage

/// What subjects note about local changes, in the transaction of the change.
package enum SyncTracking {
  /// What a record has to do with the sync log.
  package enum Status: Sendable, Equatable {
    /// It was never synced, and the store is not bound.
    case local
    case pending
    case synced
    /// A newer entry is known, and not applied yet.
    case waiting
    case conflict
  }

  /// Distinguishes the transactions of this process from those of others.
  private static let process = UInt64.random(in: .min ... .max)

  /// Whether the store is bound to a sync log; false when it has no tables of one.
  package static func isBound(_ database: Database) throws -> Bool {
    guard try database.has(SyncLogSchema.subject) else { return false }
    return try database.read { try $0.number("SELECT count(*) FROM sync_log") > 0 }
  }

  /// The number of the transaction's changes: greater than that of every transaction before.
  static func sequence(_ transaction: Transaction) throws -> Int64 {
    let stamp = Int64(bitPattern: transaction.number &+ process)
    let connection = transaction.connection
    try connection.run(
      "UPDATE sync_writer SET sequence = sequence + 1, stamp = ?1 WHERE stamp <> ?1", .integer(stamp))
    return try connection.first("SELECT sequence FROM sync_writer") {
      try $0.integer(0, in: 0...SyncEnvelope.numbers.upperBound)
    } ?? 0
  }

  /// Notes that local content has changed or was deleted. The store must have the tables of the sync log; where it is
  /// not bound to one, nothing is noted.
  package static func note(_ key: SyncKey, in transaction: Transaction) throws {
    let connection = transaction.connection
    guard let (valid, previous) = try generations(connection) else { return }
    let sequence = try sequence(transaction)
    let collection = try SyncRowTable(connection: connection).makeCollection(key.collection)
    if let previous {
      try connection.run(
        "UPDATE sync_entry SET pending = ? WHERE collection = ? AND key = ? AND generation = ?",
        .integer(sequence), .integer(collection), .text(key.id), .integer(previous))
      if connection.changes > 0 { return }
    }
    try connection.run(
      """
      INSERT INTO sync_entry(collection, key, generation, size, pending, attempts) VALUES(?, ?, ?, 0, ?, 0)
      ON CONFLICT DO UPDATE SET pending = excluded.pending
      """, .integer(collection), .text(key.id), .integer(valid), .integer(sequence))
  }

  /// The valid generation, and the one from which the local state is being moved.
  private static func generations(_ connection: Connection) throws -> (valid: Int64, previous: Int64?)? {
    try connection.first("SELECT generation, previous FROM sync_log") {
      (
        valid: try $0.integer(0, in: StoredRange.count),
        previous: try $0.integerIfAny(1, in: StoredRange.count)
      )
    }
  }

  /// The row with the local state of a key.
  static func row(_ key: SyncKey, _ connection: Connection) throws -> SyncRow? {
    guard let (valid, previous) = try generations(connection) else { return nil }
    let table = SyncRowTable(connection: connection)
    if let previous, let row = try table.row(key, generation: previous) { return row }
    return try table.row(key, generation: valid)
  }

  /// Ends an open conflict: the host has decided about an entry, and the local content is its decision, which is sent.
  ///
  /// - Parameter checksum: of the entry that the host has seen
  /// - Returns: false when the entry is another one by now: then it is decided again, and the local content must stay
  package static func resolve(
    _ key: SyncKey, seen checksum: String, in transaction: Transaction
  ) throws -> Bool {
    let table = SyncRowTable(connection: transaction.connection)
    guard var row = try row(key, transaction.connection), row.conflict != nil else { return false }
    row.conflict = nil
    let remote = try row.entry.map { try SyncEnvelope(parsing: $0) }
    guard let remote, remote.checksum == checksum else {
      row.isUndecided = row.remote != nil
      try table.write(row)
      return false
    }
    var lineage = try row.lineage()
    lineage.add(remote)
    row.setBase(remote.bytes)
    try row.setLineage(lineage)
    row.pending = try sequence(transaction)
    row.isUndecided = false
    try table.write(row)
    return true
  }

  /// Makes the next sync decide again about an entry that waits.
  package static func reconsider(_ key: SyncKey, in transaction: Transaction) throws {
    guard var row = try row(key, transaction.connection), row.remote != nil else { return }
    row.isUndecided = true
    try SyncRowTable(connection: transaction.connection).write(row)
  }

  package static func status(of key: SyncKey, _ connection: Connection) throws -> Status {
    guard let row = try row(key, connection) else { return .local }
    if row.conflict != nil { return .conflict }
    if row.remote != nil { return .waiting }
    if row.pending != nil { return .pending }
    return row.base == nil ? .local : .synced
  }
}
