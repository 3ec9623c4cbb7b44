import SatchelAssets
import SatchelCore
import SatchelStorage

/// Collects what has to be done about the assets of changes.
extension SyncAssetTables {
  /// How the assets of a document get into the remote.
  struct Ways {
    /// With the size of each where it is here.
    var ways: [(digest: AssetDigest, way: AssetRules.Way, size: Int64?, isSensitive: Bool)] = []
    /// Why the document cannot go; nil where it can.
    var obstacle: SatchelError?
    /// Whether it goes only after another commit, which reserves objects.
    var isReserving: Bool { ways.contains { $0.way == .reserve } }
    /// Whether all of its assets are in the remote.
    var isPresent: Bool { ways.allSatisfy { $0.way == .present } }
  }

  /// Rule 2.
  func ways(
    _ assets: [AssetDigest], of key: SyncKey, at state: SyncLogState, _ storage: (any AssetStorage)?,
    _ context: AssetContext, _ sizes: SyncSizes, isEncrypted: Bool
  ) throws -> Ways {
    var found = Ways()
    for digest in assets {
      let known = try known(digest, at: state, storage, context)
      let way = AssetRules.way(known, adopts: state.head?.adopts ?? false, sizes)
      if way == nil || context.isHeld && way?.isUpload ?? false {
        found.obstacle = Self.obstacle(key, digest, known, context)
        return found
      }
      guard let way else { continue }
      let isSensitive = try way.isUpload && storage?.isSensitive(digest, connection) ?? false
      if isSensitive, !isEncrypted {
        found.obstacle = SatchelError(
          .unauthorized,
          "\(key): waits for asset \(digest), which is sensitive, and is sent only in an encrypted sync log")
        return found
      }
      found.ways.append((digest, way, known.size, isSensitive))
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
    guard let storage, !context.isHeld else { return }
    let halfDead = context.searches ? try halfDead(state.generation) : []
    var bytes: Int64 = 0
    for digest in try needed(state.generation, context) + halfDead {
      let entry = try row(digest, state.generation).flatMap { try Self.asset(of: $0) }
      guard context.failed[digest] == nil, let size = try storage.size(of: digest, connection) else {
        continue
      }
      if try !isEncrypted && storage.isSensitive(digest, connection) { continue }
      bytes += size
      if bytes > sizes.assetBundle, bytes > size { return }
      plan.add(digest, AssetRules.upload(size, entry, sizes), size: size)
    }
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
    case .present, .adopt: false
    }
  }
}
