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
  /// The bytes that would have been removed for the limit otherwise, and that offline regions keep.
  public var pinnedBytes: Int64 = 0
  /// The files that are deleted by a later prune, because a reader, a player or a backup uses files of the folder.
  public var waitingFiles = 0

  public var json: JSONValue {
    [
      "removed": .int(Int64(removed)), "removed_bytes": .int(removedBytes), "bytes": .int(bytes),
      "only_copies": .int(onlyCopies), "recent": .int(recent), "over_budget": .int(overBudget),
      "pinned_bytes": .int(pinnedBytes), "waiting_files": .int(Int64(waitingFiles)),
    ]
  }
}

extension AssetStore {
  /// Removes the bytes of assets to which nothing refers. With a limit, also of assets that can be had again, until all
  /// together have at most so many bytes: variants first, then what the catalogue has fetched from URLs, then what is in
  /// the remote, the least recently used first. Never removed are the only known copies of what is referred to, what belongs
  /// to an offline region, and what was put, dropped or read within the last hour.
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
      var pruner = try AssetPruner(table, now: transaction.now)
      if maxBytes != nil { pruner.pinned = try pinned(transaction.connection) }
      return try pruner.run(maxBytes: maxBytes)
    }
    report.waitingFiles = try collect()
    return report
  }

  /// Removes all assets to which nothing refers any more, as a part of signing out, whenever they were used. `collect`
  /// deletes their files after the commit.
  package static func signOut(in transaction: Transaction, of database: Database) throws {
    guard try database.has(AssetSchema.subject) else { return }
    var pruner = try AssetPruner(AssetTable(transaction.connection), now: transaction.now, grace: 0)
    _ = try pruner.run(maxBytes: nil)
  }

  /// Removes those of some assets to which nothing refers any more, whenever they were used. `collect` deletes their
  /// files after the commit.
  ///
  /// - Parameter ids: their rows
  package static func release(
    _ ids: Set<Int64>, in transaction: Transaction
  ) throws -> (count: Int, bytes: Int64) {
    var pruner = try AssetPruner(AssetTable(transaction.connection), now: transaction.now, grace: 0)
    return try pruner.release(ids)
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
    try removeAbandoned()
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
    let found = try write { table, transaction in
      var found = 0
      let garbage = AssetGarbage(table.connection)
      try folder.each { name in
        if try table.namesFile(name) { return }
        try garbage.remove(name)
        try garbage.add(name)
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
