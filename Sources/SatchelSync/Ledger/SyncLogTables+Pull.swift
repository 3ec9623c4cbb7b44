import SatchelCore
import SatchelRemote
import SatchelStorage

/// Stores the entries of a pull.
extension SyncLogTables {
  func beginPull(all: Bool, from known: SyncLogState) throws -> SyncPull {
    var state = try state()
    guard state.position == known.position, state.generation == known.generation else {
      throw Self.changedMeanwhile
    }
    guard all || state.position == nil else {
      return SyncPull(
        generation: state.generation, isWhole: false, isResumed: state.phase == .pull, state: state)
    }
    let generation = try changing { transaction, _, state in
      let next = try transaction.connection.number("SELECT next_generation FROM sync_log")
      try transaction.connection.run("UPDATE sync_log SET next_generation = ?", .integer(next + 1))
      return next
    }
    try deleteRows(before: generation)
    state.digest.clear()
    (state.count, state.bytes) = (0, 0)
    return SyncPull(generation: generation, isWhole: true, state: state)
  }

  /// Deletes the rows of earlier generations.
  private func deleteRows(before generation: Int64) throws {
    func obsolete(_ connection: Connection, limit: Int64) throws -> [Int64] {
      guard let (valid, previous) = try SyncTracker.generations(connection) else { return [] }
      let ids = try connection.numbers(
        "SELECT id FROM sync_entry WHERE generation < ? LIMIT ?",
        .integer(min(previous ?? valid, valid)), .integer(limit))
      return try ids.isEmpty
        ? connection.numbers(
          "SELECT id FROM sync_entry WHERE generation > ? AND generation < ? LIMIT ?",
          .integer(valid), .integer(generation), .integer(limit)) : ids
    }
    while try !database.read({ try obsolete($0, limit: 1) }).isEmpty {
      let isDone = try database.write { transaction in
        let ids = try obsolete(transaction.connection, limit: Int64(sizes.rowsOfStep))
        for id in ids { try SyncRowTable(connection: transaction.connection).delete(id) }
        return ids.isEmpty
      }
      if isDone { return }
    }
  }

  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws {
    if entries.isEmpty { return }
    let start = pull
    pull.state = try changing { transaction, table, state in
      try Self.check(start, state)
      let connection = transaction.connection
      var sums = start.isWhole ? start.state : state
      let declared = try declaredCollections(connection)
      var writer = try Self.writer(connection)
      for entry in entries {
        let key = entry.envelope.key
        let stored = try table.row(key, generation: start.generation)
        let isOfAnotherLife = try Self.isOfAnotherLife(entry.envelope, writer: writer) {
          try start.isWhole ? table.row(key, generation: state.generation) : stored
        }
        if isOfAnotherLife {
          try Self.replaceWriter(connection)
          writer = try Self.writer(connection)
        }
        var row = stored ?? SyncRow(id: 0, key: key, generation: start.generation)
        if let sequence = row.sequence, sequence >= entry.sequence { continue }
        sums.replace(row.entry, by: entry.envelope.bytes, of: key)
        if (row.sequence ?? 0) <= start.horizon, let old = row.remote ?? row.entry,
          try !Self.isKnown(old, to: entry.envelope.bytes, of: key),
          try row.envelope(old).content.isDeleted
        {
          // The line of versions has ended with a tombstone that the writer did not know any more.
          try row.forgetBase()
        }
        row.sequence = entry.sequence
        row.isTombstone = entry.envelope.content.isDeleted
        let hadRemote = row.remote != nil
        row.setRemote(entry.envelope.bytes, received: transaction.now)
        row.note(entry.envelope)
        row.isUndecided = (row.remote != nil || hadRemote) && declared.contains(key.collection)
        try table.write(row)
      }
      if !start.isWhole {
        sums.phase = .pull
        try sums.writeSums(connection)
      }
      return sums
    }
  }

  /// Whether an entry contains a change of this writer that the store does not have: the store was restored
  /// from a backup, and would use its numbers twice.
  ///
  /// - Parameter local: returns the row with the local content
  private static func isOfAnotherLife(
    _ envelope: SyncEnvelope, writer: String, local: () throws -> SyncRow?
  ) throws -> Bool {
    let named = envelope.writer == writer ? SyncVersionVector(of: envelope) : envelope.ancestors
    guard let named = named.version(of: writer) else { return false }
    let local = try local()
    var known = try local?.allAncestors() ?? SyncVersionVector()
    for bytes in [local?.inFlight?.envelope, local?.remote].compactMap({ $0 }) {
      known.add(try SyncEnvelope(stored: bytes, of: envelope.key))
    }
    guard let own = known.version(of: writer) else { return true }
    return named.number > own.number || named.number == own.number && named.checksum != own.checksum
  }

  static func check(_ pull: SyncPull, _ state: SyncLogState) throws {
    let isSame = state.position == pull.state.position && state.generation == pull.state.generation
    guard isSame, state.phase == nil || state.phase == .pull else { throw changedMeanwhile }
  }

  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool {
    var pull = pull
    pull.horizon = head.horizon
    try drop(&pull)
    let fits = try move(to: head, etag: etag, by: pull, state: &state)
    // An interrupted read of the whole log may no longer be needed.
    if fits, !pull.isWhole { try deleteRows(before: .max) }
    return fits
  }

  private func move(
    to head: SyncHead, etag: ETag, by pull: SyncPull, state held: inout SyncLogState
  ) throws -> Bool {
    try changing(&held) { transaction, _, state in
      try Self.check(pull, state)
      let sums = pull.isWhole ? pull.state : state
      guard sums.digest == head.digest, sums.count == head.count, sums.bytes == head.bytes else {
        if !pull.isWhole, !pull.isResumed {
          state.hasDiverged = true
          try state.write(transaction.connection)
        }
        return false
      }
      try Self.claim(transaction.connection)
      if pull.isWhole {
        let count = try transaction.connection.number(
          "SELECT count(*) FROM sync_entry WHERE generation = ? AND seq IS NOT NULL",
          .integer(pull.generation))
        guard count == sums.count else { throw Self.changedMeanwhile }
        (state.digest, state.count, state.bytes) = (sums.digest, sums.count, sums.bytes)
        if head.adopts, let known = state.position, known.log != head.position.log {
          try SyncAssetTables(transaction.connection).keepFormer(state.generation)
        }
        state.previous = state.generation
        state.generation = pull.generation
        state.droppedThrough = pull.droppedThrough
        state.hasDiverged = false
        state.phase = .rejoin
      } else {
        state.phase = nil
      }
      if !head.adopts { try SyncAssetTables(transaction.connection).forgetFormer() }
      state.move(to: head, head.serialized(), etag)
      try state.write(transaction.connection)
      state.work = try work(transaction.connection)
      return true
    }
  }

  // MARK: Rejoin

  /// Moves a part of the local state to the valid generation. Synced entries that it lacks are sent again.
  ///
  /// - Returns: whether some is left
  func rejoin(_ held: inout SyncLogState) throws -> Bool {
    try changing(&held) { transaction, table, state in
      guard state.phase == .rejoin, let previous = state.previous else { return false }
      let connection = transaction.connection
      let ids = try connection.numbers(
        "SELECT id FROM sync_entry WHERE generation = ? LIMIT ?", .integer(previous),
        .integer(Int64(sizes.rowsOfStep)))
      let declared = try declaredCollections(connection)
      // Entries that were only waiting here, and that the log has lost.
      var lost: [SyncKey] = []
      for id in ids {
        guard let row = try table.row(id), row.generation == previous else {
          throw RowOrder.damaged("sync_entry")
        }
        let isDeclared = declared.contains(row.key.collection)
        if try !move(row, to: state, in: transaction, table, isDeclared: isDeclared), isDeclared {
          lost.append(row.key)
        }
      }
      try client.keepLost(lost, in: transaction)
      if ids.count == sizes.rowsOfStep { return true }
      state.previous = nil
      state.droppedThrough = 0
      state.phase = nil
      try state.write(connection)
      state.work = try work(connection)
      return false
    }
  }

  /// Moves a row to the valid generation.
  ///
  /// - Returns: false for a row without local content that the log has no entry of any more: it is deleted
  private func move(
    _ old: SyncRow, to state: SyncLogState, in transaction: Transaction, _ table: SyncRowTable,
    isDeclared: Bool
  ) throws -> Bool {
    let new = try table.row(old.key, generation: state.generation)
    guard old.isLocal else {
      try table.delete(old.id)
      return new != nil
    }
    var row = old
    row.generation = state.generation
    row.sequence = new?.sequence
    let entry = new?.entry
    row.isTombstone = new?.isTombstone ?? false
    // Of these entries, those that the log lacks were deleted, and an entry replaces one of them even where its writer
    // did not know the tombstone between them.
    let isShared = (old.sequence ?? .max) <= state.droppedThrough
    if let base = row.base, try !Self.isKnown(base, to: entry, of: row.key) {
      if !isShared {
        row.ancestors = try row.allAncestors()
        // A deletion that the log has lost is decided against the entry that replaced it.
        let content = try row.envelope(base).dated(row.baseReceived).content
        if content.isDeleted, row.pending == nil { row.deletion = content }
        row.base = nil
        row.pending = try row.pending ?? SyncTracker.ownSequence(transaction.connection)
      } else if entry != nil {
        try row.forgetBase()
      }
    }
    // An entry that was read again was received before.
    row.setRemote(entry, received: SyncStoredEnvelope.isSame(old.entry, entry) ? old.received : new?.received)
    // An entry that waited, or had a conflict, may be gone: that ends them.
    row.isUndecided =
      isDeclared && (row.remote != nil || old.remote != nil || entry == nil && row.base != nil)
    if let new { try table.delete(new.id) }
    if row.isLocal || row.sequence != nil { try table.write(row) } else { try table.delete(row.id) }
    return true
  }

  /// Whether an entry is an envelope, or was built on it.
  private static func isKnown(_ base: [UInt8], to entry: [UInt8]?, of key: SyncKey) throws -> Bool {
    guard let entry else { return false }
    return try SyncStoredEnvelope.isSame(entry, base)
      || SyncEnvelope(stored: entry, of: key).isBuilt(on: SyncEnvelope(stored: base, of: key))
  }
}
