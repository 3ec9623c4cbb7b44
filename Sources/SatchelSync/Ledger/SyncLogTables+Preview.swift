import SatchelCore

/// The changes that a sync would send.
extension SyncLogTables {
  func postponed() throws -> [SyncFailure] {
    try database.read { connection in
      let now = database.clock.now()
      var failures: [SyncFailure] = []
      try connection.each(
        """
        SELECT c.name, e.key, e.error_code, e.error FROM sync_entry e JOIN sync_collection c ON c.id = e.collection
        WHERE e.retry_at > ? AND e.retry_at <= ? AND e.pending IS NOT NULL AND c.is_declared = 1
        AND e.generation = (SELECT generation FROM sync_log) ORDER BY e.id
        """, .integer(now), .integer(now + SyncBackoff.longest)
      ) { row in
        guard let code = SatchelError.Code(rawValue: Int32(clamping: row.anyInteger(2))),
          let key = try? SyncKey(row.text(0), row.text(1))
        else { return }
        failures.append(SyncFailure(key, SatchelError(code, row.text(3))))
      }
      return failures
    }
  }

  func preview() throws -> (planned: [SyncLogReport.Planned], failed: [SyncFailure]) {
    try database.read { connection in
      guard let state = try SyncLogState.read(connection) else { return ([], []) }
      let (declared, table) = (Set(try client.collections(connection)), try rows(connection))
      let isUnsent = keys == nil || database.keyring.current == nil
      let unsent = isUnsent ? try client.sensitiveCollections(connection) : []
      var named: Set<String> = []
      var (planned, failed) = ([SyncLogReport.Planned](), [SyncFailure]())
      try connection.each(
        """
        SELECT id FROM sync_entry WHERE pending IS NOT NULL AND +generation = ? AND remote IS NULL AND conflict IS NULL
        AND undecided IS NULL ORDER BY pending
        """, .integer(state.generation)
      ) { found in
        guard let row = try table.row(try found.integer(0)), declared.contains(row.key.collection) else {
          return
        }
        if unsent.contains(row.key.collection), row.deletion == nil {
          guard named.insert(row.key.collection).inserted else { return }
        }
        let isDeletion: Bool
        do {
          let outgoing = try client.content(of: row.key, isEncrypted: keys != nil, connection)
          isDeletion = outgoing?.content.isDeleted ?? true
        } catch let error as SatchelError {
          return failed.append(SyncFailure(row.key, error))
        }
        // The remote never had it.
        if isDeletion, row.base == nil, row.ancestors == nil { return }
        planned.append(
          SyncLogReport.Planned(key: row.key, action: isDeletion ? .deleteRemotely : .upload))
      }
      return (planned, failed)
    }
  }
}
