import SatchelCore
import SatchelStorage

/// Reads entries that are sent as they are: those of packs that are rewritten, and of new logs.
extension SyncLogTables {
  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries] {
    try database.read { connection in
      guard let generation = try SyncTracker.generations(connection)?.valid else {
        return packs.map { _ in SyncLiveEntries() }
      }
      return try packs.map { pack in
        try connection.first(
          """
          SELECT count(*) - coalesce(n, 0),
          coalesce(sum(size), 0) - coalesce(bytes, 0) + 12 * (count(*) - coalesce(n, 0)) FROM sync_entry,
          (SELECT count(*) n, coalesce(sum(size), 0) bytes FROM sync_entry
            WHERE generation = ?1 AND seq BETWEEN ?2 AND min(?3, ?4) AND tombstone IS NOT NULL)
          WHERE generation = ?1 AND seq BETWEEN ?2 AND ?3
          """, .integer(generation), .integer(pack.from), .integer(pack.to), .integer(horizon)
        ) {
          SyncLiveEntries(
            count: try $0.integer(0, in: StoredRange.count), bytes: try $0.integer(1, in: StoredRange.count))
        } ?? SyncLiveEntries()
      }
    }
  }

  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int) {
    try readingAgain { connection, table in
      guard let present = try SyncLogState.read(connection), present.isSame(as: state), present.phase == nil
      else { throw Self.changedMeanwhile }
      var (body, count) = ([UInt8](), 0)
      try connection.each(
        """
        SELECT id FROM sync_entry WHERE generation = ? AND seq BETWEEN ? AND ?
        AND (tombstone IS NULL OR seq > ?) ORDER BY seq
        """, .integer(state.generation), .integer(interval.lowerBound), .integer(interval.upperBound),
        .integer(horizon)
      ) { found in
        guard let row = try table.row(try found.integer(0)), let number = row.sequence, let entry = row.entry
        else { throw RowOrder.damaged("sync_entry") }
        if SyncStoredEnvelope.isStored(entry) { throw Locked() }
        SyncEntry.write(entry, at: number, into: &body)
        count += 1
      }
      return (body, count)
    }
  }

  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64) {
    try readingAgain { connection, table in
      var (entries, last, bytes) = ([(key: SyncKey, envelope: [UInt8])](), row, Int64(0))
      do {
        try connection.each(
          "SELECT id, seq FROM sync_entry WHERE id > ? AND generation = ? AND seq IS NOT NULL ORDER BY id",
          .integer(row), .integer(pull.generation)
        ) { found in
          let id = try found.integer(0)
          try RowOrder.check(id, after: last, of: "sync_entry")
          guard let row = try table.row(id), let entry = row.entry else { return }
          if SyncStoredEnvelope.isStored(entry) { throw Locked() }
          bytes += SyncEntry.frameSize(entry.count)
          if bytes > limit, !entries.isEmpty { throw Full() }
          entries.append((key: row.key, envelope: entry))
          last = id
        }
      } catch is Full {}
      return (entries, last)
    }
  }
}

/// Drops tombstones up to the horizon.
extension SyncLogTables {
  func exclude(through horizon: Int64, from changes: SyncChanges) throws {
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
    try connection.numbers(
      "SELECT id FROM sync_entry WHERE generation = ? AND seq <= ? AND tombstone IS NOT NULL LIMIT ?",
      .integer(generation), .integer(horizon), .integer(limit))
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
