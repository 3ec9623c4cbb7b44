import SatchelCore
import SatchelStorage

/// Reads entries that are sent as they are: those of packs that are rewritten, and of new logs.
extension SyncLogTables {
  /// An envelope that cannot be opened with the log's key.
  struct Locked: Error {}

  /// Reads envelopes that are sent as they are. Where one cannot be opened, the log is read again first.
  func readingAgain<Result>(
    _ body: (Connection, SyncRowTable) throws -> Result
  ) throws -> Result {
    do {
      return try database.read { try body($0, rows($0)) }
    } catch is Locked {
      try database.write { try Self.readAgain($0.connection) }
      throw SatchelError(.busy, "an entry of the sync log cannot be opened in the store, and is read again")
    }
  }

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
