import SatchelCore
import SatchelStorage

/// Entries with sensitive content.
extension SyncLogTables {
  func sensitiveEntry() throws -> SyncKey? {
    try database.read { connection in
      let sensitive = try client.sensitiveCollections(connection)
      guard let state = try SyncLogState.read(connection) else { return nil }
      let table = SyncRowTable(connection: connection)
      var found: SyncKey?
      try connection.each(
        """
        SELECT id FROM sync_entry WHERE generation = ? AND seq IS NOT NULL
        AND substr(coalesce(remote, base), 1, 1) = x'01' LIMIT 1
        """, .integer(state.generation)
      ) { found = try table.row(try $0.integer(0))?.key }
      if found == nil {
        try connection.each(
          "SELECT entry FROM sync_asset WHERE generation = ? AND sensitive IS NOT NULL AND entry IS NOT NULL LIMIT 1",
          .integer(state.generation)
        ) { found = try table.row(try $0.integer(0))?.key }
      }
      for name in sensitive where found == nil {
        guard let collection = try table.collection(name) else { continue }
        try connection.each(
          "SELECT id FROM sync_entry WHERE collection = ? AND generation = ? AND seq IS NOT NULL LIMIT 1",
          .integer(collection), .integer(state.generation)
        ) { found = try table.row(try $0.integer(0))?.key }
      }
      return found
    }
  }

  /// Makes the next sync read the whole log, because a stored entry cannot be opened.
  static func readAgain(_ connection: Connection) throws {
    try connection.run("UPDATE sync_log SET etag = NULL, digest = ?", .text(SyncDigest().text))
  }

  /// Decides again about waiting entries, and retries failed changes, because the host has set the store's
  /// encryption key.
  ///
  /// - Parameter waiting: returns the records that may wait for it; of state, all that waits is decided again
  package func keyWasSet(waiting: (Connection) throws -> [SyncKey]) throws {
    guard try SyncTracker.isBound(database) else { return }
    let keys = try database.read { connection in
      var keys = try waiting(connection)
      try connection.each(
        """
        SELECT key FROM sync_entry WHERE collection = (SELECT id FROM sync_collection WHERE name = ?)
        AND generation = (SELECT generation FROM sync_log) AND remote IS NOT NULL AND conflict IS NULL
        AND undecided IS NULL
        """, .text(SyncKey.state)
      ) { if let key = try? SyncKey(SyncKey.state, $0.text(0)) { keys.append(key) } }
      return keys
    }
    let failed = "SELECT EXISTS(SELECT 1 FROM sync_entry WHERE retry_at IS NOT NULL)" as StaticString
    // An app sets its key each time it opens the store: usually nothing is waiting for it.
    if try keys.isEmpty && database.read({ try $0.number(failed) }) == 0 { return }
    try database.write { transaction in
      for key in keys { try SyncTracker(transaction)?.reconsider(key) }
      try transaction.connection.run("UPDATE sync_entry SET retry_at = NULL WHERE retry_at IS NOT NULL")
    }
    try decideAll()
  }

  /// Seals the stored entries of a collection whose documents have sensitive parts from now on. Without the key of the
  /// log their content is removed, and the next sync reads it again. Those of a log that is not encrypted stay as the
  /// remote has them.
  package static func protect(_ collection: String, in transaction: Transaction, _ keyring: Keyring) throws {
    let connection = transaction.connection
    guard let state = try SyncLogState.read(connection), state.head?.key != nil else { return }
    let table = SyncRowTable(connection: connection, key: keyring.syncEntries, sensitive: [collection])
    guard let id = try table.collection(collection) else { return }
    var (last, isRedacted) = (Int64(0), false)
    while true {
      let ids = try connection.numbers(
        "SELECT id FROM sync_entry WHERE id > ? AND collection = ? ORDER BY id LIMIT 1000",
        .integer(last),
        .integer(id))
      guard let end = ids.last else { break }
      try RowOrder.check(end, after: last, of: "sync_entry")
      for id in ids {
        guard var row = try table.row(id) else { continue }
        if table.key == nil {
          row.remote = try row.remote.map { try SyncStoredEnvelope.redacted($0) }
          row.base = try row.base.map { try SyncStoredEnvelope.redacted($0) }
          if let sent = row.inFlight {
            row.inFlight?.envelope = try SyncStoredEnvelope.redacted(sent.envelope)
          }
          isRedacted = true
        }
        try table.write(row)
      }
      last = end
    }
    if isRedacted { try readAgain(connection) }
  }
}
