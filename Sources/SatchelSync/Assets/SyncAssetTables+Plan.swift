import SatchelAssets
import SatchelCore
import SatchelStorage

/// Collects what has to be done about the assets of changes.
extension SyncAssetTables {
  /// How the assets of a document get into the remote.
  struct Ways {
    /// With the size of each where it is here.
    var ways: [(digest: AssetDigest, way: AssetRules.Way, size: Int64?)] = []
    /// Why the document cannot go; nil where it can.
    var obstacle: SatchelError?
    /// Whether it goes only after another commit, which reserves objects.
    var isReserving: Bool { ways.contains { $0.way == .reserve } }
  }

  /// Rule 2.
  func ways(
    _ assets: [AssetDigest], of key: SyncKey, at state: SyncLogState, _ storage: (any AssetStorage)?,
    _ context: AssetContext, _ sizes: SyncSizes, isEncrypted: Bool
  ) throws -> Ways {
    var found = Ways()
    for digest in assets {
      let known = try known(digest, at: state, storage, context)
      var way = AssetRules.way(known, adopts: state.head?.adopts ?? false, sizes)
      // Bytes that are here, and only could not be uploaded by this sync, are not lost.
      if way == nil, context.acceptsLoss, try storage?.size(of: digest, connection) == nil { way = .lose }
      let isHeld = context.isHeld && way?.isUpload ?? false
      if way == nil || isHeld || way == .reserve && context.reserved.contains(digest) {
        found.obstacle = Self.obstacle(key, digest, known, context)
        return found
      }
      guard let way else { continue }
      if try way.isUpload && !isEncrypted && storage?.isSensitive(digest, connection) ?? false {
        found.obstacle = SatchelError(
          .unauthorized,
          "\(key): waits for asset \(digest), which is sensitive, and is sent only in an encrypted sync log")
        return found
      }
      found.ways.append((digest, way, known.size))
    }
    return found
  }

  private static func obstacle(
    _ key: SyncKey, _ digest: AssetDigest, _ known: AssetRules.Known, _ context: AssetContext
  ) -> SatchelError {
    if let error = context.failed[digest] {
      return SatchelError(
        error.code, "\(key): waits for asset \(digest), which cannot be uploaded: \(error.message)",
        underlying: error)
    }
    if known.size != nil, !context.isHeld {
      return SatchelError(
        .unavailable,
        "\(key): waits for asset \(digest), whose reservation has left the sync log; the next sync makes another one"
      )
    }
    if known.size != nil {
      return SatchelError(.unavailable, "\(key): waits for asset \(digest), which this sync does not upload")
    }
    return SatchelError(
      .notFound, "\(key): waits for asset \(digest), whose bytes are neither here nor in the remote")
  }

  private func known(
    _ digest: AssetDigest, at state: SyncLogState, _ storage: (any AssetStorage)?, _ context: AssetContext
  ) throws -> AssetRules.Known {
    var known = AssetRules.Known()
    let row = try row(digest, state.generation)
    known.hasEntry = row?.sequence != nil
    known.entry = try row.flatMap { try Self.asset(of: $0) }
    if state.head?.reseals ?? false, let log = state.position?.log {
      // Their keys were shown.
      known.entry?.reservations.removeAll { $0.object.log != log }
    }
    if context.suspects.contains(digest) { known.entry?.isSuspect = true }
    if context.cleared.contains(digest) { known.entry?.isSuspect = false }
    known.isReferred = try isReferred(digest, state.generation)
    known.size = context.failed[digest] == nil ? try storage?.size(of: digest, connection) : nil
    if !known.hasEntry {
      known.former = try located(digest, Self.former).map { ($0.size, $0.location) }
    }
    return known
  }

  /// The row of an asset's entry.
  func row(_ digest: AssetDigest, _ generation: Int64) throws -> SyncRow? {
    try SyncRowTable(connection: connection).row(
      SyncKey(validated: SyncKey.asset, digest.description), generation: generation)
  }

  /// The asset of an entry; nil for a deletion, and for a damaged one.
  static func asset(of row: SyncRow) throws -> SyncAssetEntry? {
    try row.entry.map { try row.envelope($0) }?.content.document.flatMap { try? SyncAssetEntry(parsing: $0) }
  }

  // MARK: Repair

  /// The maximum number of assets that one commit repairs, marks or drops.
  static let maximumOfCommit: Int64 = 1000

  /// Adds uploads that others need: of suspect and absent objects, and, in a sweep, of contents in objects of which half
  /// is dead.
  func addRepairs(
    to plan: inout AssetPlan, at state: SyncLogState, _ storage: (any AssetStorage)?, _ context: AssetContext,
    _ sizes: SyncSizes, isEncrypted: Bool
  ) throws {
    guard storage != nil, !context.isHeld else { return }
    let needed = try needed(state.generation, context)
    let halfDead = context.searches ? try halfDead(state.generation) : []
    var bytes: Int64 = 0
    for (digests, isRepair) in [(needed, true), (halfDead, false)] {
      for digest in digests {
        let known = try known(digest, at: state, storage, context)
        guard let size = known.size, try isEncrypted || !(storage?.isSensitive(digest, connection) ?? false),
          !isRepair || AssetRules.needsRepair(known.entry, isReferred: known.isReferred)
        else { continue }
        let way = AssetRules.upload(size, known.entry, sizes)
        if way == .reserve, context.reserved.contains(digest) { continue }
        bytes += size
        if bytes > sizes.assetBundle, bytes > size { return }
        if isRepair { plan.repairs.insert(digest) }
        plan.add(digest, way, size: size)
      }
    }
  }

  /// Adds uploads of contents that were sealed before the log was encrypted: its old packs showed their keys. Those that are
  /// not here are read from where they are.
  func addReseals(
    to plan: inout AssetPlan, at state: SyncLogState, _ storage: (any AssetStorage)?, _ context: AssetContext,
    _ sizes: SyncSizes
  ) throws {
    guard state.head?.reseals ?? false, let log = state.position?.log else { return }
    let shown = try shown(state.generation, exceptIn: log)
    plan.isResealed = shown.isEmpty
    guard storage != nil, context.reseals, !context.isHeld else { return }
    var bytes: Int64 = 0
    for digest in shown {
      let known = try known(digest, at: state, storage, context)
      guard let entry = known.entry, let location = entry.location, context.failed[digest] == nil,
        known.size != nil || !entry.isSuspect
      else { continue }
      let way = AssetRules.upload(entry.size, entry, sizes)
      if way == .reserve, context.reserved.contains(digest) { continue }
      bytes += entry.size
      if bytes > sizes.bytesOfCommit, bytes > entry.size { return }
      if known.size == nil { plan.former[digest] = (entry.size, location) }
      plan.add(digest, way, size: entry.size)
    }
  }

  /// The assets with an object or a reservation that has the name of another log.
  private func shown(_ generation: Int64, exceptIn log: String) throws -> [AssetDigest] {
    var found: [AssetDigest] = []
    try connection.each(
      """
      SELECT sha256, object, next FROM sync_asset WHERE generation = ?1
      AND (substr(object, 1, 16) <> ?2 OR next IS NOT NULL) LIMIT ?3
      """, .integer(generation), .text(log), .integer(Self.maximumOfCommit)
    ) { row in
      let next = (row.textIfAny(2) ?? "").split(separator: " ").map(String.init)
      if ([row.textIfAny(1)].compactMap { $0 } + next).contains(where: { AssetObject($0)?.log != log }) {
        found.append(try Self.digest(row, 0))
      }
    }
    return found
  }

  /// Contents that something refers to, in objects of which half is dead.
  private func halfDead(_ generation: Int64) throws -> [AssetDigest] {
    var objects: [String] = []
    try connection.each(
      """
      SELECT object, max(whole), sum(size + 16 * max((size + 65535) / 65536, 1)) FROM sync_asset
      WHERE generation = ? AND object IS NOT NULL AND size < whole GROUP BY object
      """, .integer(generation)
    ) { row in
      if AssetRules.isHalfDead(of: row.anyInteger(1), living: row.anyInteger(2)) {
        objects.append(row.text(0))
      }
    }
    let found = try objects.compactMap { AssetObject($0) }.flatMap { try digests(in: $0, generation) }
    return try found.filter { try isReferred($0, generation) }
  }

  /// The assets that an entry refers to, and whose bytes cannot be read from the remote.
  private func needed(_ generation: Int64, _ context: AssetContext) throws -> [AssetDigest] {
    var needed: [AssetDigest] = []
    try connection.each(
      """
      SELECT sha256 FROM sync_asset WHERE generation = ? AND (suspect IS NOT NULL OR doubt IS NOT NULL)
      AND unreferenced IS NULL LIMIT ?
      """, .integer(generation), .integer(Self.maximumOfCommit)
    ) { needed.append(try Self.digest($0, 0)) }
    needed.removeAll { context.cleared.contains($0) || context.suspects.contains($0) }
    needed += try context.suspects.ordered().filter { try isReferred($0, generation) }
    if context.searches {
      try connection.each(
        """
        SELECT DISTINCT r.sha256 FROM sync_asset_reference r LEFT JOIN sync_asset a USING(generation, sha256)
        WHERE r.generation = ? AND a.object IS NULL LIMIT ?
        """, .integer(generation), .integer(Self.maximumOfCommit)
      ) { needed.append(try Self.digest($0, 0)) }
    }
    return needed
  }
}

extension AssetRules.Way {
  /// Whether it needs more requests than the head.
  var isUpload: Bool {
    switch self {
    case .upload, .complete, .reserve: true
    case .present, .adopt, .lose: false
    }
  }
}
