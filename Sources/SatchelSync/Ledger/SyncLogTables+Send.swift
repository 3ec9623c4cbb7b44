import SatchelCore
import SatchelRemote
import SatchelStorage

/// Brings changes into flight, and confirms them.
extension SyncLogTables {
  private struct Refused: Error {}

  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at held: inout SyncLogState
  ) throws -> Bool {
    let state = held
    var rest = changes.changes[...]
    do {
      repeat {
        let part = rest.prefix(sizes.rowsOfStep)
        rest = rest.dropFirst(sizes.rowsOfStep)
        try changing(&held) { transaction, table, present in
          guard present.isSame(as: state), present.phase == nil, present.upload == nil else {
            throw Refused()
          }
          for change in part { try Self.setInFlight(change, generation: state.generation, table) }
          guard rest.isEmpty else { return }
          // Another process may have cleared those of an earlier part.
          let count = try transaction.connection.number(
            "SELECT count(*) FROM sync_entry WHERE in_flight_sequence IS NOT NULL")
          guard count == changes.changes.count else { throw Refused() }
          present.upload = upload
          try present.write(transaction.connection)
          try Self.claim(transaction.connection)
        }
      } while !rest.isEmpty
    } catch is Refused {
      return false
    }
    try sync()
    return true
  }

  /// The row may have been deleted since, with its number given to another record.
  private static func setInFlight(
    _ change: SyncChanges.Change, generation: Int64, _ table: SyncRowTable
  ) throws {
    let (connection, key) = (table.connection, change.envelope.key)
    if key.collection == SyncKey.asset, change.row == 0 { try insert(key, generation: generation, table) }
    let stored = try table.stored(change.envelope, isUnchanged: true)
    try stored.withUnsafeBytes { envelope in
      try (change.ancestors?.bytes ?? []).withUnsafeBytes { ancestors in
        try connection.run(
          """
          UPDATE sync_entry SET in_flight_sequence = ?, in_flight_number = ?, in_flight_envelope = ?
          WHERE (id = ?4 OR ?4 = 0) AND key = ?5 AND collection = (SELECT id FROM sync_collection WHERE name = ?6)
          AND generation = ?7 AND seq IS ?8 AND conflict IS NULL AND ancestors IS ?9
          AND (remote IS NULL AND pending IS NOT NULL OR ?6 = '@asset') AND in_flight_sequence IS NULL
          """, .integer(change.sequence), .integer(change.number), .blob(envelope), .integer(change.row),
          .text(key.id), .text(key.collection), .integer(generation),
          Binding(change.replaced), change.ancestors == nil ? .null : .blob(ancestors))
      }
    }
    guard connection.changes == 1 else { throw Refused() }
  }

  /// Makes the row of an asset that has no entry yet.
  private static func insert(_ key: SyncKey, generation: Int64, _ table: SyncRowTable) throws {
    try table.connection.run(
      "INSERT OR IGNORE INTO sync_entry(collection, key, generation, size, attempts) VALUES(?, ?, ?, 0, 0)",
      .integer(try table.makeCollection(key.collection)), .text(key.id), .integer(generation))
  }

  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state held: inout SyncLogState
  ) throws -> Bool {
    let isOurs = try changing(&held) { transaction, table, state in
      // After a newer head was read, the envelopes in flight are searched for in that head.
      guard state.phase == nil, state.upload?.head == upload.head, state.etag == upload.base else {
        return false
      }
      state.upload?.etag = etag
      state.phase = .confirm
      state.compactions = compactions
      _ = try confirmStep(in: transaction, table, &state)
      return true
    }
    try sync()
    return isOurs
  }

  /// Turns a part of the envelopes in flight into the entries and bases of their rows.
  ///
  /// - Returns: whether some are left
  func confirmStep(
    in transaction: Transaction, _ table: SyncRowTable, _ state: inout SyncLogState
  ) throws -> Bool {
    guard state.phase == .confirm, let upload = state.upload else { return false }
    let ids = try rowsInFlight(table)
    for id in ids {
      guard var row = try table.row(id), let sent = row.inFlight else {
        throw RowOrder.damaged("sync_entry")
      }
      state.replace(row.entry, by: sent.envelope, of: row.key)
      if row.key.collection == SyncKey.asset {
        // It has no local content.
        row.inFlight = nil
      } else {
        try Self.arrive(&row, sent, at: transaction.now)
      }
      row.sequence = sent.number
      row.setRemote(sent.envelope, received: transaction.now)
      row.isTombstone = try row.envelope(sent.envelope).content.isDeleted
      row.isUndecided = false
      try table.write(row)
    }
    var isOpen = ids.count == sizes.rowsOfStep
    let head = try upload.parsed ?? SyncHead(parsing: upload.head)
    if !isOpen, head.horizon > 0 {
      isOpen = try drop(state.generation, through: head.horizon, of: &state, table)
    }
    if !isOpen {
      let fits = state.digest == head.digest && state.count == head.count && state.bytes == head.bytes
      if !head.adopts { try SyncAssetTables(transaction.connection).forgetFormer() }
      // Without the ETag the head is read again, and the entries with it.
      state.move(to: head, upload.head, fits ? upload.etag : nil)
      state.upload = nil
      state.phase = nil
    }
    try state.write(transaction.connection)
    if !isOpen { state.work = try work(transaction.connection) }
    return isOpen
  }

  private func rowsInFlight(_ table: SyncRowTable) throws -> [Int64] {
    try table.connection.numbers(
      "SELECT id FROM sync_entry WHERE in_flight_sequence > ? LIMIT ?", .integer(-1),
      .integer(Int64(sizes.rowsOfStep)))
  }

  /// Makes an uploaded envelope the base. Only the change that was sent is confirmed.
  private static func arrive(_ row: inout SyncRow, _ sent: SyncRow.InFlight, at now: Int64) throws {
    var all = try row.allAncestors()
    all.add(try row.envelope(sent.envelope))
    row.setBase(sent.envelope, received: now)
    try row.setAncestors(all)
    if row.pending == sent.sequence { (row.pending, row.deletion) = (nil, nil) }
    row.inFlight = nil
  }

  func resolveUpload(_ held: inout SyncLogState) throws -> Bool {
    try changing(&held) { transaction, table, state in
      guard state.phase == nil else { throw Self.changedMeanwhile }
      // Another process may have resolved the upload that was seen, and have begun one that can still be written.
      if let upload = state.upload, upload.base == state.etag { throw Self.changedMeanwhile }
      let declared = try declaredCollections(transaction.connection)
      let replaced = try Self.replacedWriter(transaction.connection)
      let ids = try rowsInFlight(table)
      for id in ids {
        guard var row = try table.row(id), let sent = row.inFlight else {
          throw RowOrder.damaged("sync_entry")
        }
        if row.key.collection == SyncKey.asset {
          row.inFlight = nil
          if row.sequence == nil { try table.delete(id) } else { try table.write(row) }
          continue
        }
        // Without a pending upload the head was never written.
        if state.upload != nil, try Self.has(row, sent.envelope, replaced: replaced) {
          try Self.arrive(&row, sent, at: transaction.now)
        }
        row.inFlight = nil
        row.isUndecided = row.remote != nil && declared.contains(row.key.collection)
        try table.write(row)
      }
      if ids.count == sizes.rowsOfStep { return true }
      if state.upload != nil {
        state.upload = nil
        try state.write(transaction.connection)
      }
      state.work = try work(transaction.connection)
      return false
    }
  }

  /// Whether the entry of a row is an envelope, or was built on it.
  ///
  /// - Parameter replaced: a name whose numbers have two contents, so that a number does not say which of them an entry
  ///   was built on
  private static func has(_ row: SyncRow, _ sent: [UInt8], replaced: String?) throws -> Bool {
    guard let entry = row.entry else { return false }
    if SyncStoredEnvelope.isSame(entry, sent) { return true }
    let sent = try row.envelope(sent)
    return try sent.writer != replaced && row.envelope(entry).isBuilt(on: sent)
  }
}
