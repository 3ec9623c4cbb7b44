import SatchelCore
import SatchelJSON
import SatchelStorage

/// The bytes that a prune has removed, and those that the store still keeps.
public struct AssetPruneReport: Equatable, Sendable, JSONConvertible {
  /// The assets whose bytes were removed.
  public var removed = 0
  public var removedBytes: Int64 = 0
  /// The bytes of all assets that are still here.
  public var bytes: Int64 = 0
  /// Of these, the bytes that are kept because they are the only copy that is known of something that is referred to.
  public var onlyCopies: Int64 = 0
  /// The bytes that were put, dropped or read within the last hour, and would have been removed otherwise.
  public var recent: Int64 = 0
  /// The bytes above the limit that was asked for.
  public var overBudget: Int64 = 0
  /// The files that are deleted by a later prune, because a reader, a player or a backup uses files of the folder.
  public var waitingFiles = 0

  public var json: JSONValue {
    [
      "removed": .int(Int64(removed)), "removed_bytes": .int(removedBytes), "bytes": .int(bytes),
      "only_copies": .int(onlyCopies), "recent": .int(recent), "over_budget": .int(overBudget),
      "waiting_files": .int(Int64(waitingFiles)),
    ]
  }
}

extension AssetStore {
  /// Removes the bytes of assets to which nothing refers. With a limit, also of assets that can be had again, until all
  /// together have at most so many bytes: variants first, then what the catalogue has fetched from URLs, the least
  /// recently used first. Never removed are the only known copies of what is referred to, and what was put, dropped or
  /// read within the last hour.
  ///
  /// - Throws: `SatchelError` `.invalid` for a negative limit and in a transaction, `.readOnly`, `.full`, `.io`, `.closed`
  @discardableResult
  public func prune(maxBytes: Int64? = nil) throws -> AssetPruneReport {
    if let maxBytes, maxBytes < 0 {
      throw SatchelError(.invalid, "max_bytes: \(maxBytes) must not be negative")
    }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only")
    }
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid, "\(database.path): assets cannot be pruned in a transaction, which may be rolled back")
    }
    guard try database.has(AssetSchema.subject) else { return AssetPruneReport() }
    var report = try write { table, transaction in
      var pruner = AssetPruner(table, now: transaction.now)
      return try pruner.run(maxBytes: maxBytes)
    }
    report.waitingFiles = try collect()
    return report
  }

  /// Removes all assets to which nothing refers any more, as a part of signing out, whenever they were used. `collect`
  /// deletes their files after the commit.
  package static func signOut(in transaction: Transaction, of database: Database) throws {
    guard try database.has(AssetSchema.subject) else { return }
    var pruner = AssetPruner(AssetTable(transaction.connection), now: transaction.now, grace: 0)
    _ = try pruner.run(maxBytes: nil)
  }

  /// Removes what nothing refers to, at most once an hour, and files without a row once in 30 days; a failure is left to
  /// the next time.
  func cleanIfDue() {
    let now = Clock.monotonic.now()
    let isDue = lastCleaning.withLock { last in
      guard let known = last else {
        last = now
        return false
      }
      guard now - known >= Self.grace else { return false }
      last = now
      return true
    }
    guard isDue, !database.isInTransaction else { return }
    _ = try? prune()
    let swept = try? read { try $0.connection.numberIfAny("SELECT swept_at FROM asset_sweep") } ?? nil
    if database.clock.now() - ((swept ?? nil) ?? 0) >= Self.sweepInterval { _ = try? sweep() }
  }

  /// The time between two comparisons of the folder with the rows, in milliseconds: 30 days.
  private static var sweepInterval: Int64 { 30 * 24 * Self.grace }

  /// Deletes the files of removed assets.
  ///
  /// - Returns: the number of files that are left for later, because files of the folder are in use
  package func collect() throws -> Int {
    guard !database.isMemory, folder.exists else { return 0 }
    let newest = try database.read { try AssetGarbage($0).newest }
    guard newest > 0 else { return 0 }
    // After this no loss of power brings back a row that names these files.
    try database.sync(always: true)
    guard let lock = try folder.lockExclusive() else {
      return try database.read { try AssetGarbage($0).files(through: newest).count }
    }
    try database.write { transaction in
      let garbage = AssetGarbage(transaction.connection)
      for file in try garbage.files(through: newest) { try folder.remove(file.digest) }
      try garbage.removeAll(through: newest)
    }
    withExtendedLifetime(lock) {}
    return 0
  }

  /// Compares the folder with the rows, and deletes files without a row: an unclean end may have left them.
  ///
  /// - Returns: the number of such files
  @discardableResult
  package func sweep() throws -> Int {
    guard !database.isMemory, folder.exists, !database.options.isReadOnly else { return 0 }
    try folder.removeAbandoned()
    let found = try write { table, transaction in
      var found = 0
      let garbage = AssetGarbage(table.connection)
      try folder.each { digest in
        if try table.row(digest)?.place == .file { return }
        try garbage.remove(digest)
        try garbage.add(digest)
        found += 1
      }
      try table.connection.run(
        "INSERT OR REPLACE INTO asset_sweep(id, swept_at) VALUES(1, ?)", .integer(transaction.now))
      return found
    }
    _ = try collect()
    return found
  }
}

/// Decides what is removed, and removes its rows, in one transaction.
struct AssetPruner {
  private let table: AssetTable
  private let now: Int64
  /// The time for which what was used is kept.
  private let grace: Int64
  private var report = AssetPruneReport()
  private var connection: Connection { table.connection }

  init(_ table: AssetTable, now: Int64, grace: Int64 = AssetStore.grace) {
    (self.table, self.now, self.grace) = (table, now, grace)
  }

  /// Assets that something refers to, by SHA-256 or URL.
  private static let referenced = """
    SELECT asset FROM asset_reference WHERE asset > 0
    UNION SELECT s.asset FROM asset_reference r JOIN asset_source s ON s.id = r.source WHERE r.source > 0
    AND s.asset IS NOT NULL
    """

  mutating func run(maxBytes: Int64?) throws -> AssetPruneReport {
    try table.removeStaleReferences()
    try connection.execute(
      "CREATE TEMP TABLE IF NOT EXISTS asset_kept(id INTEGER PRIMARY KEY); DELETE FROM temp.asset_kept;")
    try connection.execute("INSERT INTO temp.asset_kept \(Self.referenced)")
    try keepVariants()
    try removeUnused()
    if let maxBytes { try shrink(to: maxBytes) }
    report.bytes = try connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    report.onlyCopies = try connection.number(
      """
      SELECT ifnull(sum(size), 0) FROM asset a WHERE place > 0 AND id IN (SELECT id FROM temp.asset_kept)
      AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id)
      """)
    if let maxBytes { report.overBudget = max(0, report.bytes - maxBytes) }
    try connection.execute("DELETE FROM temp.asset_kept")
    return report
  }

  /// A variant is kept with the asset or the photo that it was derived from.
  private func keepVariants() throws {
    let hasPhotos = try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'photo'") > 0
    if hasPhotos {
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
      guard let digest = AssetDigest(Array(row.bytes(1))) else { return }
      found.append(
        Candidate(
          row: AssetTable.Row(
            id: try row.integer(0), size: try row.integerIfAny(2),
            place: AssetTable.Place(rawValue: try row.integer(3, in: 0...2)) ?? .absent,
            usedAt: try row.integer(4)), digest: digest))
    }
    return found
  }

  private func isRecent(_ row: AssetTable.Row) -> Bool { grace > 0 && row.usedAt > now - grace }

  /// Removes assets to which nothing refers, with their rows.
  private mutating func removeUnused() throws {
    let unused = try candidates(
      """
      SELECT id, sha256, size, place, used_at FROM asset WHERE id NOT IN (SELECT id FROM temp.asset_kept)
      ORDER BY id
      """)
    for candidate in unused {
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
  }

  private mutating func removeBytes(_ candidate: Candidate) throws {
    guard candidate.row.place != .absent else { return }
    try table.removeBytes(candidate.row, candidate.digest)
    report.removed += 1
    report.removedBytes += candidate.row.size ?? 0
  }

  /// Removes the bytes of assets that can be had again.
  private mutating func shrink(to maxBytes: Int64) throws {
    var bytes = try connection.number("SELECT ifnull(sum(size), 0) FROM asset WHERE place > 0")
    guard bytes > maxBytes else { return }
    let variants = try candidates(
      """
      SELECT id, sha256, size, place, used_at FROM asset a WHERE place > 0
      AND EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id) ORDER BY used_at, id
      """)
    // Of the catalogue only: its backend has them. A document is the user's, and its server may be gone.
    let fetched = try candidates(
      """
      SELECT id, sha256, size, place, used_at FROM asset a WHERE place > 0
      AND EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND subject NOT IN (1, 2))
      AND NOT EXISTS(SELECT 1 FROM asset_source s JOIN asset_reference r ON r.source = s.id
      WHERE s.asset = a.id AND r.subject NOT IN (1, 2)) ORDER BY used_at, id
      """)
    for candidate in variants + fetched {
      if bytes <= maxBytes { return }
      guard !isRecent(candidate.row) else {
        report.recent += candidate.row.size ?? 0
        continue
      }
      try removeBytes(candidate)
      bytes -= candidate.row.size ?? 0
    }
  }
}
