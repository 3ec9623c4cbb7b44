import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

/// Collects changes, with envelopes made from one snapshot.
extension SyncLogTables {
  struct Full: Error {}

  func changes(_ held: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges {
    let known = held
    let changes = try readingAgain { connection, table in
      let state = try present(connection, known: known)
      guard state.phase == nil, state.upload == nil else { throw Self.changedMeanwhile }
      let writer = try Self.latest(connection)
      var collected = Collected(
        changes: SyncChanges(start: state), writer: writer.name,
        maximumAssets: sizes.bytesOfCommit)
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
          if collected.isWaiting(sequence) { return }
          guard let row = try table.row(try found.integer(0)), declared.contains(row.key.collection) else {
            return
          }
          if unsent.contains(row.key.collection), row.deletion == nil {
            guard named.insert(row.key.collection).inserted else { return }
          }
          try collect(row, sequence, at: now, assets, from: connection, into: &collected)
        }
      } catch is Full {}
      try addUpkeep(of: assets, connection, collected.changes)
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
    var before: (state: SyncLogState, assets: AssetPlan)?
    /// A transaction of which a change waits for an asset: all of it waits.
    var waiting: Int64 = -1
    /// A transaction that goes only after the next commit, which reserves objects for it.
    var reserving: Int64 = -1
    var isReserving: Bool { reserving == sequence }
    /// The maximum bytes of assets that one commit uploads.
    let maximumAssets: Int64

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
      let isFull = bytes >= limit || changes.assets.bytes >= maximumAssets
      if isFull, !changes.changes.isEmpty {
        changes.hasMore = true
        guard next == sequence else { return true }
        if start > 0 {
          removeTransaction()
        } else {
          changes.isCut = true
        }
        return true
      }
      if next != sequence {
        (sequence, start) = (next, changes.changes.count)
        before = (changes.state, changes.assets)
      }
      return false
    }

    private mutating func removeTransaction() {
      guard let before else { return }
      changes.changes.removeSubrange(start...)
      (changes.state, changes.assets) = (before.state, before.assets)
      if changes.reserving == sequence { changes.reserving = nil }
    }

    func isWaiting(_ next: Int64) -> Bool { waiting == next }

    /// Leaves the transaction for later, because of an asset of one of its changes.
    mutating func wait() {
      removeTransaction()
      waiting = sequence
    }

    /// Leaves the transaction for the next commit, and collects what to reserve for it.
    mutating func reserve() {
      if isReserving { return }
      removeTransaction()
      reserving = sequence
      changes.reserving = changes.reserving ?? sequence
    }
  }

  /// Adds repairs of assets, and what this sync knows of their objects.
  private func addUpkeep(
    of assets: AssetContext, _ connection: Connection, _ changes: SyncChanges
  ) throws {
    (changes.assets.suspects, changes.assets.cleared) = (assets.suspects, assets.cleared)
    changes.assets.reserved = assets.reserved
    let tables = SyncAssetTables(connection)
    try tables.addReseals(to: &changes.assets, at: changes.start, client.assets, assets, sizes)
    guard changes.start.work.hasDoubts || assets.searches else { return }
    try tables.addRepairs(
      to: &changes.assets, at: changes.start, client.assets, assets, sizes, isEncrypted: keys != nil)
  }

  /// Adds what has to be done about the assets of a change.
  ///
  /// - Returns: false when the change waits
  private func collect(
    _ digests: [AssetDigest], of key: SyncKey, _ assets: AssetContext, _ connection: Connection,
    into collected: inout Collected
  ) throws -> Bool {
    if digests.isEmpty { return !collected.isReserving }
    let found = try SyncAssetTables(connection).ways(
      digests, of: key, at: collected.changes.start, client.assets, assets, sizes, isEncrypted: keys != nil)
    if let obstacle = found.obstacle {
      collected.wait()
      collected.changes.waiting.append(SyncFailure(key, obstacle))
      return false
    }
    if found.isReserving { collected.reserve() }
    for (digest, way, size) in found.ways where !collected.isReserving || way == .reserve {
      collected.changes.assets.add(digest, way, size: size)
    }
    return !collected.isReserving
  }

  private func collect(
    _ row: SyncRow, _ sequence: Int64, at now: Int64, _ assets: AssetContext, from connection: Connection,
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
          "\(row.key): a document that is synchronized has at most \(SyncEnvelope.maximumDocument) bytes; "
            + "put large content as assets, to which documents refer"
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
    guard try collect(outgoing.assets, of: row.key, assets, connection, into: &collected) else { return }
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
}
