import SatchelCore
import SatchelStorage

/// Drops tombstones up to the horizon.
extension SyncLogTables {
  func exclude(through horizon: Int64, from changes: inout SyncChanges) throws {
    let (start, replaced) = (changes.start, Set(changes.changes.map(\.row)))
    var state = changes.state
    try database.read { connection in
      guard let present = try SyncLogState.read(connection), present.isSame(as: start), present.phase == nil
      else {
        throw Self.changedMeanwhile
      }
      let table = try rows(connection)
      for id in try Self.tombstones(of: start.generation, through: horizon, connection, limit: .max)
      where !replaced.contains(id) {
        let (row, entry) = try Self.tombstone(id, table)
        state.remove(row.key, entry)
      }
    }
    changes.state = state
  }

  /// The rows of tombstones up to a horizon.
  private static func tombstones(
    of generation: Int64, through horizon: Int64, _ connection: Connection, limit: Int64
  ) throws -> [Int64] {
    var ids: [Int64] = []
    try connection.each(
      "SELECT id FROM sync_entry WHERE generation = ? AND seq <= ? AND tombstone IS NOT NULL LIMIT ?",
      .integer(generation), .integer(horizon), .integer(limit)
    ) { ids.append(try $0.integer(0)) }
    return ids
  }

  private static func tombstone(_ id: Int64, _ table: SyncRowTable) throws -> (row: SyncRow, entry: [UInt8]) {
    guard let row = try table.row(id), let entry = row.entry,
      try row.envelope(entry).content.isDeleted
    else { throw RowOrder.damaged("sync_entry") }
    return (row, entry)
  }

  /// Drops the tombstones of a pull up to the horizon of its head, in steps.
  func drop(_ pull: inout SyncPull) throws {
    func hasSome(_ connection: Connection) throws -> Bool {
      try !Self.tombstones(of: pull.generation, through: pull.horizon, connection, limit: 1).isEmpty
    }
    while try database.read(hasSome) {
      let start = pull
      pull.state = try changing { transaction, table, state in
        try Self.check(start, state)
        var sums = start.isWhole ? start.state : state
        _ = try drop(start.generation, through: start.horizon, of: &sums, table)
        if !start.isWhole {
          sums.phase = .pull
          try sums.writeSums(transaction.connection)
        }
        return sums
      }
    }
  }

  /// Drops a part of the tombstones up to a horizon.
  ///
  /// - Returns: whether some are left
  func drop(
    _ generation: Int64, through horizon: Int64, of state: inout SyncLogState, _ table: SyncRowTable
  ) throws -> Bool {
    let ids = try Self.tombstones(
      of: generation, through: horizon, table.connection, limit: Int64(sizes.rowsOfStep))
    for id in ids {
      var (row, entry) = try Self.tombstone(id, table)
      state.remove(row.key, entry)
      try row.dropEntry()
      if row.isLocal || row.remote != nil { try table.write(row) } else { try table.delete(id) }
    }
    return ids.count == sizes.rowsOfStep
  }
}

extension SyncRow {
  /// Removes the entry, a tombstone. One that is still to be applied, or that an open conflict is about, stays in
  /// `remote`; the base does not.
  mutating func dropEntry() throws {
    sequence = nil
    isTombstone = false
    if remote == nil { return try forgetBase() }
    if !isLocal, !isUndecided { remote = nil }
  }

  /// Makes the local content one that was never synced. Its ancestors are known only until it is sent.
  mutating func forgetBase() throws {
    ancestors = pending == nil || deletion != nil ? nil : try allAncestors()
    base = nil
  }
}
