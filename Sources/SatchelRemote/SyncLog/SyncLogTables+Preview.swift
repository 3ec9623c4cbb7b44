import SatchelCore
import SatchelStorage

/// The changes that a sync would send.
extension SyncLogTables {
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
