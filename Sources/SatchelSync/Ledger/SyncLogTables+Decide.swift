import SatchelCore
import SatchelStorage

/// Decides about entries, without the network.
extension SyncLogTables {
  /// Decides about all undecided entries, except those with an envelope in flight, whose outcome must be
  /// known first.
  package func decideAll() throws {
    var state = try state()
    while try decide(&state) != nil {}
  }

  func decide(_ state: inout SyncLogState) throws -> SyncDecided? {
    guard state.work.hasUndecided else { return nil }
    let decided = try changing(&state) { transaction, table, state in
      let decided = try decide(in: transaction, table, state)
      state.work = try work(transaction.connection)
      return decided
    }
    // The remaining entries belong to collections that are no longer declared.
    if decided == nil { state.work.hasUndecided = false }
    return decided
  }

  private func decide(
    in transaction: Transaction, _ table: SyncRowTable, _ state: SyncLogState
  ) throws -> SyncDecided? {
    guard state.phase == nil else { return nil }
    let connection = transaction.connection
    let total = try undecided(connection, limit: sizes.decidedAtOnce + 1)
    let limit = total <= sizes.decidedAtOnce ? total : sizes.rowsOfStep
    var ids: [Int64] = []
    for name in try client.collections(connection) where ids.count < limit {
      guard let collection = try table.collection(name) else { continue }
      ids += try connection.numbers(
        """
        SELECT id FROM sync_entry WHERE generation = ? AND collection = ? AND undecided IS NOT NULL
        AND in_flight_sequence IS NULL AND (? OR remote IS NULL OR substr(remote, 1, 1) <> x'01') LIMIT ?
        """, .integer(state.generation), .integer(collection), opens, .integer(Int64(limit - ids.count)))
    }
    if ids.isEmpty { return nil }
    let rows = try ids.compactMap { try table.row($0) }
    guard rows.contains(where: \.isUndecided) else { throw RowOrder.damaged("sync_entry") }
    return try decide(
      waiting(for: rows, state, in: transaction, table) + rows, isLast: ids.count == total, in: transaction,
      table)
  }

  /// The rows of entries that wait for others, and are decided again together with them: each may be valid only with
  /// the other.
  private func waiting(
    for rows: [SyncRow], _ state: SyncLogState, in transaction: Transaction, _ table: SyncRowTable
  ) throws -> [SyncRow] {
    let known = Set(rows.map(\.id))
    return try client.waiting(for: rows.map(\.key), in: transaction).compactMap { key in
      let row = try table.row(key, generation: state.generation)
      return row.flatMap { row in
        row.remote == nil || row.conflict != nil || row.inFlight != nil || known.contains(row.id) ? nil : row
      }
    }
  }

  private func decide(
    _ rows: [SyncRow], isLast: Bool, in transaction: Transaction, _ table: SyncRowTable
  ) throws -> SyncDecided {
    var (entries, decidable, decided) = ([SyncUndecided](), [SyncRow](), SyncDecided())
    // Open and waiting conflicts about entries that the remote has lost: there is nothing to decide any more.
    var lost: [SyncKey] = []
    for var row in rows {
      row.isUndecided = false
      if let stored = row.remote, SyncStoredEnvelope.isStored(stored) {
        // It is sealed under another key than the log's, or damaged: the entry is read again, and then decided.
        try table.write(row)
        if keys != nil || SyncStoredEnvelope.form(of: stored) != .sealed {
          try SyncLogTables.readAgain(transaction.connection)
        }
        continue
      }
      let (remote, base) = (try row.entryEnvelope, try row.baseEnvelope)
      if let remote, row.conflict == remote.checksum {
        try table.write(row)
      } else if base?.checksum == remote?.checksum {
        row.conflict = nil
        lost.append(row.key)
        try table.write(row)
      } else if let remote, try row.allAncestors().include(remote) {
        // The remote lost data: the local content is sent again, over a version that it was built on.
        row.conflict = nil
        lost.append(row.key)
        try Self.resend(&row, over: remote, transaction)
        try table.write(row)
        decided.outcomes.append(SyncDecided.Outcome(key: row.key, decision: .resend, isDeletion: false))
      } else {
        row.conflict = nil
        decidable.append(row)
        // The document is in memory until it is decided about: its pages are free for the local content.
        try row.redactRemote()
        try table.write(row)
        let isFork = base.map { base in row.pending == nil && remote?.isFork(of: base) == true } ?? false
        entries.append(
          SyncUndecided(
            key: row.key, base: isFork ? nil : base, remote: remote,
            isChanged: isFork || row.pending != nil, isFork: isFork, deletion: row.deletion))
      }
    }
    try client.keepLost(lost, in: transaction)
    let made = try client.decide(entries, isLast: isLast, in: transaction)
    let decisions = made.decisions
    decided.lost = made.lost
    decided.failures = made.failures
    guard decisions.count == entries.count else {
      throw SatchelError(.internal, "\(decisions.count) decisions for \(entries.count) entries")
    }
    for (index, decision) in decisions.enumerated() {
      try carryOut(
        decision, on: entries[index], of: decidable[index], in: transaction, table, noting: &decided)
    }
    return decided
  }

  private func carryOut(
    _ decision: SyncDecision, on entry: SyncUndecided, of seen: SyncRow, in transaction: Transaction,
    _ table: SyncRowTable, noting decided: inout SyncDecided
  ) throws {
    // The client may have changed the row, by recording changes.
    guard var row = try table.row(seen.id) else { return }
    if row.remote != nil { row.remote = seen.remote }
    if let form = seen.remote.flatMap({ seen.form(of: $0) }) { row.forms.append(form) }
    decided.outcomes.append(
      SyncDecided.Outcome(
        key: row.key, decision: decision, isDeletion: entry.remote?.content.isDeleted ?? true))
    switch decision {
    case .match, .apply:
      // A tombstone that the log has dropped leaves nothing.
      guard let remote = entry.remote, row.sequence != nil else { return try table.delete(row.id) }
      row.setBase(remote.bytes, received: row.received)
      row.ancestors = nil
      row.pending = nil
      row.deletion = nil
    case .keep, .merged, .resend:
      try Self.resend(&row, over: entry.remote, transaction)
      if decision == .merged { row.pending = try SyncTracker.ownSequence(transaction.connection) }
    case .conflict:
      row.conflict = entry.remote?.checksum
      row.pending = try row.pending ?? SyncTracker.ownSequence(transaction.connection)
    case .waiting where entry.remote == nil:
      // It cannot be deleted here, and its tombstone is no longer in the log: it is sent again.
      row.ancestors = try row.allAncestors()
      row.base = nil
      row.pending = try row.pending ?? SyncTracker.ownSequence(transaction.connection)
    case .waiting: break
    }
    row.isUndecided = false
    try table.write(row)
  }

  /// Marks the local content as pending, to replace an entry.
  private static func resend(
    _ row: inout SyncRow, over remote: SyncEnvelope?, _ transaction: Transaction
  ) throws {
    var all = try row.allAncestors()
    if let remote { all.add(remote) }
    row.setBase(remote?.bytes, received: row.received)
    try row.setAncestors(all)
    row.pending = try row.pending ?? SyncTracker.ownSequence(transaction.connection)
  }
}
