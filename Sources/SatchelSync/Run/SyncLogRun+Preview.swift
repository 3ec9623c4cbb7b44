import SatchelCore

/// Computes what a sync would do.
extension SyncLogRun {
  /// Reads the new entries of the remote, decides about them, and lists the changes to send. Nothing is
  /// written to the remote; the store is changed as by a sync, so it must be a copy.
  ///
  /// - Throws: as `run` does, and `unavailable` for a lost log that a sync would rebuild
  package mutating func preview() throws -> SyncLogReport {
    let start = Clock.monotonic.now()
    var (state, failures) = (try ledger.state(), 0)
    isPreview = true
    while true {
      try options.cancellation.check()
      // Losses are reported, and not repaired: each attempt is a first one.
      guard let obstacle = try look(0, &state) else { break }
      state = try ledger.state()
      failures += 1
      guard failures < options.rounds else { throw obstacle }
      try remote.pause(afterFailures: failures, since: start, obstacle)
    }
    try finishPhase(&state)
    try ledger.reconcile(&state)
    if state.work.hasInFlight { while try ledger.resolveUpload(&state) {} }
    while let decided = try ledger.decide(&state) {
      report.add(decided)
      report.plan(decided)
    }
    // Merged entries are sent as well, and listed once.
    let merged = Set(report.planned.filter { $0.action == .merge }.map(\.key))
    let (changes, failed) = try ledger.preview()
    // A dry run sends nothing: these are counted as if they were sent.
    for change in changes where !merged.contains(change.key) {
      report.plan(sending: change.key, isDeletion: change.isDeletion)
    }
    report.failed += failed
    return report
  }
}

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

  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure]) {
    try database.read { connection in
      guard let state = try SyncLogState.read(connection) else { return ([], []) }
      let (declared, table) = (Set(try client.collections(connection)), try rows(connection))
      let isUnsent = keys == nil || database.keyring.current == nil
      let unsent = isUnsent ? try client.sensitiveCollections(connection) : []
      var named: Set<String> = []
      var (changes, failed) = ([(key: SyncKey, isDeletion: Bool)](), [SyncFailure]())
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
        changes.append((row.key, isDeletion))
      }
      return (changes, failed)
    }
  }
}
