import SatchelCore
import SatchelStorage

/// Decides what is removed, and removes its rows, in one transaction.
struct AssetPruner {
  private let table: AssetTable
  private let now: Int64
  /// The time for which what was used is kept.
  private let grace: Int64
  private var report = AssetPruneReport()
  /// Whether the store has a sync log and records, whose tables say which assets are in the remote.
  private let isSynchronized: Bool
  /// The rows of assets that are not evicted.
  var pinned: Set<Int64> = []
  private var connection: Connection { table.connection }

  init(_ table: AssetTable, now: Int64, grace: Int64 = AssetStore.grace) throws {
    (self.table, self.now, self.grace) = (table, now, grace)
    isSynchronized = try ["sync_asset", "sync_entry", "record"].allSatisfy {
      try AssetTable.has(table: $0, table.connection)
    }
  }

  /// Assets that something refers to, by SHA-256 or URL.
  private static let referenced = """
    SELECT asset FROM asset_reference WHERE asset > 0
    UNION SELECT s.asset FROM asset_reference r JOIN asset_source s ON s.id = r.source WHERE r.source > 0
    AND s.asset IS NOT NULL
    """

  mutating func run(maxBytes: Int64?) throws -> AssetPruneReport {
    try findKept()
    try removeUnused { _ in true }
    if let maxBytes { try shrink(to: maxBytes) }
    report.bytes = try connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    report.onlyCopies = try onlyCopies()
    if let maxBytes { report.overBudget = max(0, report.bytes - maxBytes) }
    try connection.execute("DELETE FROM temp.asset_kept")
    return report
  }

  /// Removes those of some assets, and of what was derived from them, to which nothing refers any more.
  mutating func release(_ ids: Set<Int64>) throws -> (count: Int, bytes: Int64) {
    try findKept()
    var (released, waiting) = (ids, ids.ordered())
    while let id = waiting.popLast() {
      try connection.each(
        "SELECT v.variant FROM asset_variant v JOIN asset a ON a.sha256 = v.origin WHERE a.id = ?",
        .integer(id)
      ) { row in
        let variant = try row.integer(0, in: AssetSchema.ids)
        if released.insert(variant).inserted { waiting.append(variant) }
      }
    }
    try removeUnused { released.contains($0) }
    try connection.execute("DELETE FROM temp.asset_kept")
    return (report.removed, report.removedBytes)
  }

  private func findKept() throws {
    try table.removeStaleReferences()
    try connection.execute(
      "CREATE TEMP TABLE IF NOT EXISTS asset_kept(id INTEGER PRIMARY KEY); DELETE FROM temp.asset_kept;")
    do {
      try connection.execute("INSERT INTO temp.asset_kept \(Self.referenced)")
      try keepVariants()
    } catch let error as SatchelError {
      try nameWrongType()
      throw error
    }
  }

  /// Throws an error that names the place of an asset's row number that is not an integer, as another program wrote it.
  private func nameWrongType() throws {
    func throwDamage(_ row: Statement) throws { throw row.damage(0, "is not an integer") }
    try connection.each(
      "SELECT asset FROM asset_reference WHERE typeof(asset) <> 'integer'", visit: throwDamage)
    try connection.each(
      "SELECT asset, id FROM asset_source WHERE asset IS NOT NULL AND typeof(asset) <> 'integer'",
      visit: throwDamage)
    try connection.each(
      "SELECT variant, name FROM asset_variant WHERE typeof(variant) <> 'integer'", visit: throwDamage)
  }

  /// The bytes of assets that are referred to, and neither at a URL, nor in the remote, nor derived.
  private func onlyCopies() throws -> Int64 {
    let all = try connection.number(
      """
      SELECT ifnull(sum(size), 0) FROM asset a WHERE place > 0 AND id IN (SELECT id FROM temp.asset_kept)
      AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id)
      """)
    guard isSynchronized else { return all }
    return all
      - (try connection.number(
        """
        SELECT ifnull(sum(a.size), 0) FROM asset a JOIN sync_asset s ON s.sha256 = a.sha256
        AND s.generation = (SELECT generation FROM sync_log) AND s.object IS NOT NULL AND s.suspect IS NULL
        WHERE a.place > 0 AND a.id IN (SELECT id FROM temp.asset_kept)
        AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
        AND NOT EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id)
        """))
  }

  /// A variant is kept with the asset or the photo that it was derived from.
  private func keepVariants() throws {
    if try AssetTable.has(table: "photo", connection) {
      try connection.execute(
        """
        INSERT OR IGNORE INTO temp.asset_kept SELECT variant FROM asset_variant
        WHERE length(origin) = 16 AND origin IN (SELECT md5 FROM photo)
        """)
    }
    try connection.execute(
      """
      INSERT OR IGNORE INTO temp.asset_kept WITH RECURSIVE kept(id) AS (SELECT id FROM temp.asset_kept
      UNION SELECT v.variant FROM kept k JOIN asset a ON a.id = k.id JOIN asset_variant v ON v.origin = a.sha256)
      SELECT id FROM kept
      """)
  }

  private struct Candidate {
    var row: AssetTable.Row
    var digest: AssetDigest
  }

  private func candidates(_ sql: StaticString) throws -> [Candidate] {
    var found: [Candidate] = []
    try connection.each(sql) { row in
      guard let digest = AssetDigest(Array(row.bytes(6))) else { return }
      found.append(Candidate(row: try AssetTable.read(row), digest: digest))
    }
    return found
  }

  private func isRecent(_ row: AssetTable.Row) -> Bool { grace > 0 && row.usedAt > now - grace }

  /// Removes assets to which nothing refers, with their rows.
  private mutating func removeUnused(where isSelected: (Int64) -> Bool) throws {
    let unused = try candidates(
      """
      SELECT id, size, place, used_at, name, key, sha256 FROM asset LEFT JOIN asset_seal ON asset = id
      WHERE id NOT IN (SELECT id FROM temp.asset_kept)
      ORDER BY id
      """)
    for candidate in unused where isSelected(candidate.row.id) {
      guard !isRecent(candidate.row) else {
        if candidate.row.place != .absent { report.recent += candidate.row.size ?? 0 }
        continue
      }
      try removeBytes(candidate)
      try table.remove(candidate.row.id)
    }
    try connection.run(
      """
      DELETE FROM asset_source WHERE asset IS NULL
      AND id NOT IN (SELECT source FROM asset_reference WHERE source > 0)
      """)
    try connection.run(
      "DELETE FROM asset_transfer WHERE asset < 0 AND -asset NOT IN (SELECT id FROM asset_source)")
  }

  private mutating func removeBytes(_ candidate: Candidate) throws {
    guard candidate.row.place != .absent else { return }
    try table.removeBytes(candidate.row, candidate.digest)
    report.removed += 1
    report.removedBytes += candidate.row.size ?? 0
  }

  /// The assets that the sync log has, to which nothing refers but records without unsent changes.
  private func inRemote() throws -> [Candidate] {
    guard isSynchronized else { return [] }
    return try candidates(
      """
      SELECT id, size, place, used_at, name, key, sha256 FROM asset a LEFT JOIN asset_seal ON asset = id
      WHERE place > 0
      AND EXISTS(SELECT 1 FROM sync_asset s WHERE s.generation = (SELECT generation FROM sync_log)
      AND s.sha256 = a.sha256 AND s.object IS NOT NULL AND s.suspect IS NULL AND s.doubt IS NULL
      AND s.unreferenced IS NULL)
      AND NOT EXISTS(SELECT 1 FROM asset_reference r WHERE r.asset = a.id AND NOT (r.subject = 3 AND EXISTS(
      SELECT 1 FROM record k JOIN record_collection c ON c.id = k.id >> 40 JOIN sync_collection n ON n.name = c.name
      JOIN sync_entry e ON e.collection = n.id AND e.key = k.key
      AND e.generation = (SELECT generation FROM sync_log)
      WHERE k.id = r.owner AND e.pending IS NULL AND e.in_flight_sequence IS NULL AND e.undecided IS NULL)))
      ORDER BY used_at, id
      """)
  }

  /// Removes the bytes of assets that can be had again.
  private mutating func shrink(to maxBytes: Int64) throws {
    var bytes = try connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    guard bytes > maxBytes else { return }
    let variants = try candidates(
      """
      SELECT id, size, place, used_at, name, key, sha256 FROM asset a LEFT JOIN asset_seal ON asset = id
      WHERE place > 0
      AND EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id) ORDER BY used_at, id
      """)
    // Of the catalogue only: its backend has them. A document is the user's, and its server may be gone.
    let fetched = try candidates(
      """
      SELECT id, size, place, used_at, name, key, sha256 FROM asset a LEFT JOIN asset_seal ON asset = id
      WHERE place > 0
      AND EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND subject NOT IN (1, 2))
      AND NOT EXISTS(SELECT 1 FROM asset_source s JOIN asset_reference r ON r.source = s.id
      WHERE s.asset = a.id AND r.subject NOT IN (1, 2)) ORDER BY used_at, id
      """)
    // An asset that was fetched may be in the remote as well.
    var seen: Set<Int64> = []
    for candidate in try variants + fetched + inRemote() where seen.insert(candidate.row.id).inserted {
      if bytes <= maxBytes { return }
      if pinned.contains(candidate.row.id) {
        report.pinnedBytes += candidate.row.size ?? 0
        continue
      }
      guard !isRecent(candidate.row) else {
        report.recent += candidate.row.size ?? 0
        continue
      }
      try removeBytes(candidate)
      bytes -= candidate.row.size ?? 0
    }
  }
}
