import SatchelCore
import SatchelRemote
import SatchelStorage

/// Collects changes, and confirms them.
extension SyncLogTables {
  struct Full: Error {}

  func changes(_ held: inout SyncLogState) throws -> SyncChanges {
    let known = held
    let changes = try readingAgain { connection, table in
      let state = try present(connection, known: known)
      guard state.phase == nil, state.upload == nil else { throw Self.changedMeanwhile }
      let writer = try Self.latest(connection)
      var collected = Collected(changes: SyncChanges(start: state, state: state), writer: writer.name)
      collected.changes.latest = writer.sequence
      let now = database.clock.now()
      collected.changes.hasPostponed =
        try connection.number(
          "SELECT EXISTS(SELECT 1 FROM sync_entry WHERE retry_at > ? AND retry_at <= ?)", .integer(now),
          .integer(now + SyncBackoff.longest)) > 0
      let declared = Set(try client.collections(connection))
      // Of changes that cannot be sent the first is tried, so that the report names them.
      let isUnsent = keys == nil || database.keyring.current == nil
      let unsent = isUnsent ? try client.sensitiveCollections(connection) : []
      var named: Set<String> = []
      var limit = sizes.commit(state.bytes)
      do {
        // The unary plus excludes the other indexes, so that a sync with few changes reads few rows.
        try connection.each(
          """
          SELECT id, pending FROM sync_entry WHERE pending IS NOT NULL AND +generation = ? AND remote IS NULL
          AND conflict IS NULL AND undecided IS NULL AND in_flight_sequence IS NULL
          AND (retry_at IS NULL OR retry_at <= ? OR retry_at > ?) ORDER BY pending
          """, .integer(state.generation), .integer(now), .integer(now + SyncBackoff.longest)
        ) { found in
          let sequence = try found.integer(1, in: StoredRange.count)
          if collected.bytes >= limit, collected.changes.expectedBytes == 0 {
            // Many changes are pending: the packs are sized for the log after them.
            try collected.expect(connection)
            limit = sizes.commit(collected.changes.expectedBytes)
          }
          if collected.isFull(before: sequence, limit) { throw Full() }
          guard let row = try table.row(try found.integer(0)), declared.contains(row.key.collection) else {
            return
          }
          if unsent.contains(row.key.collection), row.deletion == nil {
            guard named.insert(row.key.collection).inserted else { return }
          }
          try collect(row, sequence, at: now, from: connection, into: &collected)
        }
      } catch is Full {}
      return collected.changes
    }
    held = changes.start
    return changes
  }

  /// Collected changes; those of one transaction are sent together.
  private struct Collected: ~Copyable {
    var changes: SyncChanges
    let writer: String
    var bytes: Int64 = 0
    /// The transaction, where it begins, and the state before it.
    var sequence: Int64 = -1
    var start = 0
    var before: SyncLogState?

    /// Estimates the bytes of all entries when everything that is pending is sent, from what was collected so far.
    mutating func expect(_ connection: Connection) throws {
      let pending = try connection.number("SELECT count(*) FROM sync_entry WHERE pending IS NOT NULL")
      let (start, now) = (changes.start.bytes, changes.state.bytes)
      let growth = Double(now - start) / Double(max(changes.changes.count, 1))
      changes.expectedBytes = max(now, start + Int64(growth * Double(pending)))
    }

    /// Whether no more changes fit. A transaction that does not fit with the others is left for the next
    /// commit; one that exceeds the limit alone is cut.
    mutating func isFull(before next: Int64, _ limit: Int64) -> Bool {
      if bytes >= limit, !changes.changes.isEmpty {
        changes.hasMore = true
        guard next == sequence else { return true }
        if start > 0, let before {
          changes.changes.removeSubrange(start...)
          changes.state = before
        } else {
          changes.isCut = true
        }
        return true
      }
      if next != sequence {
        (sequence, start, before) = (next, changes.changes.count, changes.state)
      }
      return false
    }
  }

  private func collect(
    _ row: SyncRow, _ sequence: Int64, at now: Int64, from connection: Connection,
    into collected: inout Collected
  ) throws {
    // The digest requires the bytes of the replaced envelope.
    if let entry = row.entry, SyncStoredEnvelope.isStored(entry) { throw Locked() }
    let base = try row.baseEnvelope
    let outgoing: SyncOutgoing
    do {
      outgoing =
        try client.content(of: row.key, isEncrypted: keys != nil, connection)
        ?? SyncOutgoing(
          content: row.deletion
            ?? SyncContent(
              document: nil, revision: (base?.content.revision ?? 0) + 1, created: base?.content.created ?? 0,
              modified: now), version: base?.version ?? 1)
      guard outgoing.content.document?.count ?? 0 <= SyncEnvelope.maximumDocument else {
        throw SatchelError(
          .invalid,
          "\(row.key): a document that is synchronized has at most \(SyncEnvelope.maximumDocument) bytes"
        ).at(limit: SyncEnvelope.maximumDocument)
      }
      guard !outgoing.isSensitive || keys != nil else {
        throw SatchelError(
          .unauthorized, "\(row.key): is sensitive, and is sent only in an encrypted sync log")
      }
    } catch let error as SatchelError {
      collected.changes.failures.append(SyncChanges.Failure(row: row.id, key: row.key, error: error))
      return
    }
    // A rebuilt log contains the tombstones of its predecessor.
    if outgoing.content.isDeleted, base == nil, row.ancestors == nil {
      collected.changes.obsolete.append(SyncChanges.Obsolete(row: row.id, sequence: sequence))
      return
    }
    let salt =
      outgoing.isSensitive
      ? keys?.salt(
        row.key, writer: collected.writer, number: sequence, outgoing.content.document ?? []) : nil
    let envelope = SyncEnvelope(
      outgoing.content, of: row.key, version: outgoing.version, writer: collected.writer, number: sequence,
      base: base, ancestors: try row.allAncestors(), assets: outgoing.assets, salt: salt)
    collected.changes.state.replace(row.entry, by: envelope.bytes, of: row.key)
    collected.bytes += SyncEntry.frameSize(envelope.bytes.count)
    collected.changes.changes.append(
      SyncChanges.Change(
        row: row.id, sequence: sequence, replaced: row.sequence, ancestors: row.ancestors, envelope: envelope)
    )
  }

  // MARK: Upload

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
    let stored = try table.stored(change.envelope, isUnchanged: true)
    try stored.withUnsafeBytes { envelope in
      try (change.ancestors?.bytes ?? []).withUnsafeBytes { ancestors in
        try connection.run(
          """
          UPDATE sync_entry SET in_flight_sequence = ?, in_flight_number = ?, in_flight_envelope = ?
          WHERE id = ? AND key = ? AND collection = (SELECT id FROM sync_collection WHERE name = ?)
          AND generation = ? AND seq IS ? AND remote IS NULL AND conflict IS NULL AND ancestors IS ?
          AND pending IS NOT NULL AND in_flight_sequence IS NULL
          """, .integer(change.sequence), .integer(change.number), .blob(envelope), .integer(change.row),
          .text(key.id), .text(key.collection), .integer(generation),
          Binding(change.replaced), change.ancestors == nil ? .null : .blob(ancestors))
      }
    }
    guard connection.changes == 1 else { throw Refused() }
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
      try Self.arrive(&row, sent, at: transaction.now)
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
      if !head.adopts { try AssetTables(transaction.connection).forgetFormer() }
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
