import SatchelCore
import SatchelRemote
import SatchelStorage

/// Checks the tables of the sync log: the sums of the log are computed again from its entries.
package enum SyncLogCheck {
  /// Returns the findings. Reads every entry.
  ///
  /// - Parameter documents: of the local content
  package static func check(_ database: Database, documents: @escaping SyncDocuments) throws -> [StoreFinding]
  {
    guard try database.has(named: SyncLogSchema.name) else { return [] }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      func report(_ table: String, _ message: String) {
        findings.append(StoreFinding(code: table, message: message))
      }
      let orphans = try connection.number(
        "SELECT count(*) FROM sync_entry WHERE collection NOT IN (SELECT id FROM sync_collection)")
      if orphans > 0 { report("sync_collection", "\(orphans) entries of the sync log have no collection") }
      guard let state = try SyncLogState.read(connection) else {
        let entries = try connection.number("SELECT count(*) FROM sync_entry")
        if entries > 0 { report("sync_log", "\(entries) entries belong to no sync log") }
        return findings
      }
      if try SyncLogTables.writer(connection).isEmpty {
        report("sync_writer", "the store has no name among the writers of the sync log")
      }
      // During a long step the sums belong to neither generation.
      if state.phase == nil, orphans == 0 {
        let table = SyncRowTable(connection: connection, documents: documents)
        try checkSums(state, of: table, report)
        try SyncAssetTables(connection).check(table, report)
      }
      if state.phase == nil { checkHead(state, report) }
      return findings
    }
  }

  private static func checkHead(_ state: SyncLogState, _ report: (String, String) -> Void) {
    guard state.headBytes != nil else {
      if state.position != nil { report("sync_log", "the head of the sync log is missing") }
      return
    }
    guard let head = state.head else { return report("sync_log", "the head of the sync log is damaged") }
    let fits =
      head.position == state.position && head.count == state.count && head.bytes == state.bytes
      && head.digest == state.digest
    // After an interrupted sync the position contains the unconfirmed head.
    if !fits, state.etag != nil {
      report("sync_log", "the head of the sync log is not the one that was read")
    }
  }

  private static func checkSums(
    _ state: SyncLogState, of table: SyncRowTable, _ report: (String, String) -> Void
  ) throws {
    var (count, bytes, digest, isComplete) = (Int64(0), Int64(0), SyncDigest(), true)
    try table.connection.each(
      "SELECT id, size FROM sync_entry WHERE generation = ? AND seq IS NOT NULL", .integer(state.generation)
    ) { found in
      guard let row = try table.row(try found.integer(0)), let entry = row.entry else { return }
      let size = SyncStoredEnvelope.size(of: entry)
      if try found.integer(1) != size {
        report("sync_entry", "\(row.key): its size is not that of the envelope")
      }
      if try row.envelope(entry).content.isDeleted != row.isTombstone {
        report("sync_entry", "\(row.key): whether it is a deletion differs from the envelope")
      }
      let open = [row.remote, row.base, row.inFlight?.envelope].compactMap { $0 }
      // Without the ETag the log is read again.
      if state.etag != nil,
        open.contains(where: { ![nil, .sealed].contains(SyncStoredEnvelope.form(of: $0)) })
      {
        report("sync_entry", "\(row.key): its document is not the one that was synchronized")
        isComplete = false
      }
      count += 1
      bytes += size
      digest.add(row.key, entry)
    }
    if count != state.count || bytes != state.bytes {
      report(
        "sync_entry",
        "the sync log has \(count) entries with \(bytes) bytes; \(state.count) with \(state.bytes) were expected"
      )
    } else if isComplete, state.head?.key == nil, state.etag != nil, digest != state.digest {
      // The digest of an encrypted log requires its key. Without the ETag the log is read again.
      report("sync_entry", "the entries of the sync log are not those that it had")
    }
  }
}

extension SyncLogTables {
  /// Makes the tables usable after rows of any were lost: the next sync reads the whole log, and compares it with the
  /// local content. Entries that were synced and are missing locally are applied again, and not treated as
  /// deletions.
  package func repair() throws {
    guard try database.has(named: SyncLogSchema.name) else { return }
    try database.write { transaction in
      let connection = transaction.connection
      guard try connection.number("SELECT count(*) FROM sync_log") > 0 else {
        for sql: StaticString in ["DELETE FROM sync_entry", "DELETE FROM sync_collection"] {
          try connection.run(sql)
        }
        return try SyncAssetTables(connection).clear()
      }
      try connection.run(
        "INSERT OR IGNORE INTO sync_writer(id, writer, sequence, stamp) VALUES(1, ?, 1 << 40, 0)",
        .text(Self.newWriter()))
      try Self.renameWriter(connection)
      try connection.run(
        """
        UPDATE sync_log SET epoch = NULL, log = NULL, number = NULL, etag = NULL, head = NULL, phase = NULL,
        previous = NULL, pending_upload = NULL, pending_upload_base = NULL, pending_upload_deletes = NULL,
        pending_upload_etag = NULL
        """)
      try connection.run(
        "DELETE FROM sync_entry WHERE generation <> (SELECT generation FROM sync_log) OR key IS NULL")
      try connection.run("UPDATE sync_collection SET is_declared = 0")
      try connection.run(
        "UPDATE sync_entry SET in_flight_sequence = NULL, in_flight_number = NULL, in_flight_envelope = NULL")
      try forgetLost(connection)
      try SyncAssetTables(connection).rebuild(SyncRowTable(connection: connection, documents: documents))
    }
  }

  /// Deletes the sync state of content that no longer exists.
  private func forgetLost(_ connection: Connection) throws {
    let table = SyncRowTable(connection: connection)
    let ids = try connection.numbers(
      "SELECT id FROM sync_entry WHERE base IS NOT NULL AND pending IS NULL AND generation >= ? AND generation <= ?",
      .integer(0), .integer(Int64.max))
    for id in ids {
      guard let row = try? table.row(id), try !hasContent(row.key, connection) else { continue }
      try connection.run(
        "UPDATE sync_entry SET remote = coalesce(remote, base), base = NULL, undecided = 1 WHERE id = ?",
        .integer(id))
    }
  }

  private func hasContent(_ key: SyncKey, _ connection: Connection) throws -> Bool {
    do {
      return try client.content(of: key, isEncrypted: true, connection) != nil
    } catch let error as SatchelError where error.code == .invalid || error.code == .unauthorized {
      // The content exists, and cannot be sent: the encryption key is not set.
      return true
    } catch let error as SatchelError where error.code == .notFound {
      // State that was lost cannot be told from state that is no longer marked for synchronizing.
      return false
    }
  }
}
