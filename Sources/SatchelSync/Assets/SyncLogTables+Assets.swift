import SatchelAssets
import SatchelCore
import SatchelStorage

/// Writes the entries of assets.
extension SyncLogTables {
  var assets: (any AssetStorage)? { client.assets }

  func addAssets(
    number: Int64, horizon: Int64?, to changes: SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject] {
    let edit = AssetEdit(changes: changes, number: number, horizon: horizon)
    try database.read { connection in
      guard let state = try SyncLogState.read(connection), state.isSame(as: changes.start), state.phase == nil
      else { throw Self.changedMeanwhile }
      let writer = try Self.writer(connection)
      try edit.apply(changes.assets, SyncAssetTables(connection), of: assets, writer: writer, object: object)
      try edit.collect(SyncAssetTables(connection))
    }
    if edit.new.isEmpty { return [] }
    let (writer, sequence) = try database.write { transaction in
      let sequence = try SyncTracker.sequence(transaction)
      return (try Self.writer(transaction.connection), sequence)
    }
    edit.addChanges(writer: writer, sequence: sequence, at: database.clock.now())
    return try database.read { try edit.dropped(SyncAssetTables($0)) }
  }

  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt] {
    try database.read { connection in
      guard let generation = try SyncTracker.generations(connection)?.valid else { return [] }
      var digests: [AssetDigest] = []
      try connection.each(
        """
        SELECT sha256 FROM sync_asset WHERE generation = ? AND (suspect IS NOT NULL OR doubt IS NOT NULL)
        AND (doubt IS NOT NULL OR ?) LIMIT ?
        """, .integer(generation), .integer(suspects ? 1 : 0), .integer(Int64(limit))
      ) { digests.append(try SyncAssetTables.digest($0, 0)) }
      return try digests.compactMap { digest in
        try SyncAssetTables(connection).located(digest, generation).map {
          AssetDoubt(digest: digest, size: $0.size, location: $0.location, isSuspect: $0.isSuspect)
        }
      }
    }
  }

  func doubt(_ objects: [AssetObject]) throws {
    if objects.isEmpty { return }
    try database.write { transaction in
      for object in objects {
        try transaction.connection.run(
          """
          UPDATE sync_asset SET doubt = 1 WHERE object = ? AND generation = (SELECT generation FROM sync_log)
          """, .text(object.description))
      }
    }
  }

  func endDoubts(_ digests: [AssetDigest]) throws {
    if digests.isEmpty { return }
    try database.write { transaction in
      for digest in digests {
        try digest.bytes.withUnsafeBytes {
          try transaction.connection.run(
            """
            UPDATE sync_asset SET doubt = NULL WHERE sha256 = ? AND generation = (SELECT generation FROM sync_log)
            """, .blob($0))
        }
      }
    }
  }

  func namedObjects() throws -> Set<AssetObject> {
    try database.read { connection in
      var named: Set<AssetObject> = []
      try connection.each(
        "SELECT object, next FROM sync_asset WHERE generation = (SELECT generation FROM sync_log)"
      ) { row in
        let names = [row.textIfAny(0) ?? ""] + (row.textIfAny(1) ?? "").split(separator: " ").map(String.init)
        for name in names { if let object = AssetObject(name) { named.insert(object) } }
      }
      return named
    }
  }
}

extension SyncLogTables {
  /// The assets that documents of the store refer to, that have an object and no URL, and whose bytes are not here.
  package func assetsOnlyInRemote() throws -> [(digest: AssetDigest, size: Int64)] {
    guard try database.has(named: SyncLogSchema.name), try database.has(AssetSchema.subject) else {
      return []
    }
    return try database.read { connection in
      var found: [(digest: AssetDigest, size: Int64)] = []
      try connection.each(
        """
        SELECT s.sha256, s.size FROM sync_asset s JOIN asset a ON a.sha256 = s.sha256
        WHERE s.generation = (SELECT generation FROM sync_log) AND s.object IS NOT NULL AND a.place = 0
        AND EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id)
        AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND source > 0)
        AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id) ORDER BY a.id
        """
      ) { row in
        let size = try row.integer(1, in: 0...AssetLayout.maximumSize)
        found.append((try SyncAssetTables.digest(row, 0), size))
      }
      return found
    }
  }
}

/// An asset of the sync log, for the local half: its bytes can be evicted if they are in the remote, an entry refers to
/// them, and no unsent change does.
package struct RemoteAsset: Sendable, Equatable {
  package var size: Int64
  /// Whether an object has its bytes, which no device has found to be unreadable.
  package var isReadable: Bool
  /// Whether an entry of the log refers to it.
  package var isReferred: Bool

  /// - Returns: nil where the log has no entry of the asset, and for a store that is not bound to a log
  package init?(_ digest: AssetDigest, _ connection: Connection) throws {
    guard let generation = try SyncTracker.generations(connection)?.valid else { return nil }
    let found = try digest.bytes.withUnsafeBytes { digest in
      try connection.first(
        """
        SELECT size, object IS NOT NULL AND suspect IS NULL AND doubt IS NULL, unreferenced IS NULL FROM sync_asset
        WHERE generation = ? AND sha256 = ?
        """, .integer(generation), .blob(digest)
      ) { (try $0.integer(0, in: 0...AssetLayout.maximumSize), $0.flag(1), $0.flag(2)) }
    }
    guard let found else { return nil }
    (size, isReadable, isReferred) = found
  }
}

/// An asset whose object could not be read.
struct AssetDoubt: Sendable {
  var digest: AssetDigest
  var size: Int64
  var location: SyncAssetEntry.Location
  /// Whether its entry says so.
  var isSuspect: Bool
}

/// The entries of assets that one commit changes, under construction. A class, because a structure of these members is
/// copied and destroyed by some 25 KB of code.
final class AssetEdit {
  private let changes: SyncChanges
  let number: Int64
  /// Nil for a purge.
  let horizon: Int64?
  /// The new entries; the inner value is nil for a tombstone.
  private(set) var new: [AssetDigest: SyncAssetEntry?] = [:]
  /// The rows and assets as they are.
  private var old: [AssetDigest: (row: SyncRow?, asset: SyncAssetEntry?)] = [:]
  private var generation: Int64 { changes.start.generation }

  init(changes: SyncChanges, number: Int64, horizon: Int64?) {
    (self.changes, self.number, self.horizon) = (changes, number, horizon)
  }

  private func asset(_ digest: AssetDigest, _ tables: SyncAssetTables) throws -> SyncAssetEntry? {
    if let asset = new[digest] { return asset }
    if let known = old[digest] { return known.asset }
    let row = try tables.row(digest, generation)
    let asset = try row.flatMap { try SyncAssetTables.asset(of: $0) }
    old[digest] = (row, asset)
    return asset
  }

  /// Rules 1 and 3: names what was uploaded, reserved and adopted; rule 7: suspects.
  func apply(
    _ plan: AssetPlan, _ tables: SyncAssetTables, of storage: (any AssetStorage)?, writer: String,
    object: () -> AssetObject
  ) throws {
    func isSensitive(_ digest: AssetDigest) throws -> Bool {
      try storage?.isSensitive(digest, tables.connection) ?? false
    }
    for (digest, found) in plan.located {
      let known = try asset(digest, tables) ?? SyncAssetEntry(size: found.size)
      var entry = known.located(at: found.location, size: found.size)
      entry.unused = known.unused
      entry.isSensitive = try known.isSensitive || isSensitive(digest)
      new[digest] = entry
    }
    for (digest, size) in plan.reservations {
      var entry = try asset(digest, tables) ?? SyncAssetEntry(size: size)
      entry.isSensitive = try entry.isSensitive || isSensitive(digest)
      entry.reserve(SyncAssetEntry.Reservation(object: object(), key: AssetSeal.newKey(), writer: writer))
      new[digest] = entry
    }
    for digest in plan.lost {
      // A device that has the bytes knows by it that they are needed.
      var entry = try asset(digest, tables) ?? SyncAssetEntry(size: 0)
      entry.isSuspect = true
      new[digest] = entry
    }
    for (digest, found) in plan.adoptions where try asset(digest, tables) == nil {
      var entry = SyncAssetEntry(size: found.size, location: found.location)
      entry.isSuspect = true
      new[digest] = entry
    }
    for (digests, isSuspect) in [(plan.suspects, true), (plan.cleared, false)] {
      for digest in digests where plan.located[digest] == nil {
        guard var entry = try asset(digest, tables), entry.isSuspect != isSuspect else { continue }
        entry.isSuspect = isSuspect
        new[digest] = entry
      }
    }
  }

  /// Rules 4 and 5, for what the commit refers to, or no longer does, and for what other devices have left.
  func collect(_ tables: SyncAssetTables) throws {
    let rows = Set(changes.changes.map(\.row))
    let referred = Set(changes.changes.flatMap(\.envelope.assets))
    var affected = referred.union(new.keys)
    for row in rows { affected.formUnion(try tables.references(of: row)) }
    affected.formUnion(try tables.collectable(generation, horizon: horizon ?? .max))
    for digest in affected {
      guard let entry = try asset(digest, tables) else { continue }
      // The records of what this sync has reserved come later.
      if horizon == nil, entry.location == nil, isReserved(digest) { continue }
      let isReferred = try referred.contains(digest) || tables.isReferred(digest, generation, exceptBy: rows)
      let collected = AssetRules.collected(entry, isReferred: isReferred, number: number, horizon: horizon)
      if collected != entry { new[digest] = .some(collected) }
    }
  }

  private func isReserved(_ digest: AssetDigest) -> Bool {
    changes.assets.reservations[digest] != nil || changes.assets.reserved.contains(digest)
  }

  /// Adds the new entries to the changes.
  func addChanges(writer: String, sequence: Int64, at now: Int64) {
    for (digest, entry) in new.ordered(by: { $0.key < $1.key }) {
      let row = old[digest]?.row
      let base = row?.entry.flatMap { try? row?.envelope($0) }
      if entry == nil, base == nil { continue }
      let content = SyncContent(
        document: entry?.serialized(), revision: (base?.content.revision ?? 0) + 1,
        created: base?.content.created ?? now, modified: now)
      let envelope = SyncEnvelope(
        content, of: SyncKey(validated: SyncKey.asset, digest.description), version: 1, writer: writer,
        number: sequence, base: base, ancestors: base.map { SyncVersionVector(of: $0) } ?? SyncVersionVector()
      )
      changes.state.replace(row?.entry, by: envelope.bytes, of: envelope.key)
      changes.changes.append(
        SyncChanges.Change(
          row: row?.id ?? 0, sequence: sequence, replaced: row?.sequence, ancestors: nil, envelope: envelope))
    }
  }

  /// Rule 6: the objects that the entries no longer name.
  func dropped(_ tables: SyncAssetTables) throws -> [AssetObject] {
    var dropped = Set(new.keys.flatMap { old[$0]?.asset?.objects ?? [] })
    for entry in new.values { for object in entry?.objects ?? [] { dropped.remove(object) } }
    // An object may have contents of other entries.
    return try dropped.filter { object in
      try tables.digests(in: object, generation).allSatisfy { new[$0] != nil }
    }.ordered()
  }
}

extension SyncAssetTables {
  /// The assets that an entry refers to.
  func references(of entry: Int64) throws -> [AssetDigest] {
    var found: [AssetDigest] = []
    try connection.each("SELECT sha256 FROM sync_asset_reference WHERE entry = ?", .integer(entry)) {
      found.append(try Self.digest($0, 0))
    }
    return found
  }

  /// Whether another entry than some refers to an asset.
  func isReferred(_ digest: AssetDigest, _ generation: Int64, exceptBy entries: Set<Int64>) throws -> Bool {
    struct Found: Error {}
    do {
      try digest.bytes.withUnsafeBytes { digest in
        try connection.each(
          "SELECT entry FROM sync_asset_reference WHERE generation = ? AND sha256 = ?", .integer(generation),
          .blob(digest)
        ) { if !entries.contains(try $0.integer(0)) { throw Found() } }
      }
      return false
    } catch is Found { return true }
  }

  /// Assets to mark, to drop, and whose mark is to be removed.
  func collectable(_ generation: Int64, horizon: Int64) throws -> [AssetDigest] {
    var found: [AssetDigest] = []
    for sql: StaticString in [
      """
      SELECT sha256 FROM sync_asset WHERE generation = ? AND unreferenced IS NOT NULL AND coalesce(unused, 0) < ?
      LIMIT ?
      """,
      """
      SELECT sha256 FROM sync_asset WHERE generation = ? AND unused IS NOT NULL AND unreferenced IS NULL AND ? >= 0
      LIMIT ?
      """,
    ] {
      try connection.each(
        sql, .integer(generation), .integer(max(horizon, 1)), .integer(Self.maximumOfCommit)
      ) { found.append(try Self.digest($0, 0)) }
    }
    return found
  }

  /// The assets with contents in an object, or a reservation of it.
  func digests(in object: AssetObject, _ generation: Int64) throws -> [AssetDigest] {
    var found: [AssetDigest] = []
    try connection.each(
      "SELECT sha256 FROM sync_asset WHERE object = ? AND generation = ?", .text(object.description),
      .integer(generation)
    ) { found.append(try Self.digest($0, 0)) }
    return found
  }
}
