import SatchelCore
extension Store {
  /// Returns the usage of the store's file: the size of each subject and collection, the free pages, and the
  /// spooled changes in the outbox file. Reads every page; changes nothing.
  ///
  /// - Throws: `SatchelError` `.damaged`, `.newer`, `.busy` while another process holds the outbox file,
  ///   `.io`, `.closed`; `.cancelled` and `.timedOut`: see `Interrupt`
  public func statistics() throws -> StoreStatistics {
    try database.interruptible { try readStatistics() }
  }

  private func readStatistics() throws -> StoreStatistics {
    let known = Set(try Self.subjects.filter { try database.has($0) }.map(\.name))
    var statistics = try database.read { connection in
      try StatisticsReader(connection: connection, subjects: known).read(path: path)
    }
    (statistics.fileBytes, statistics.walBytes) = (database.fileBytes, database.walBytes)
    guard !database.isMemory else { return statistics }
    do {
      guard let content = try OutboxFile(store: path).read() else { return statistics }
      let through = try database.read { connection in
        guard known.contains(OutboxSchema.subject.name) else { return Int64(-1) }
        let found = try connection.first(
          "SELECT through FROM outbox_applied WHERE file = ?", .text(content.identity)
        ) { try $0.integer(0) }
        return found ?? -1
      }
      statistics.spooled = content.frames.count { $0.number > through }
      statistics.outboxDamages = content.damages.map(\.message)
    } catch let error as SatchelError where error.code == .invalid {
      // A file that is not an outbox file is at the path.
      statistics.outboxDamages = [error.message]
    }
    return statistics
  }
}

/// Reads the page usage of one snapshot of a store.
private struct StatisticsReader {
  let connection: Connection
  /// The subjects whose tables exist.
  let subjects: Set<String>

  /// Table name prefixes and their subjects; all other tables belong to the catalogue.
  private static let owners = [
    ("photo", "photos"), ("story_", "stories"), ("record", "records"), ("conflict", "conflicts"),
    ("outbox_", "outbox"), ("remote_", "remote"), ("sync_", "sync"), ("sqlite_", "store"),
    ("change", "store"), ("subject", "store"), ("asset", "assets"),
  ]

  func read(path: String) throws -> StoreStatistics {
    // The first read fixes the snapshot for all following reads.
    let pages = try connection.number("PRAGMA page_count")
    let free = try connection.number("PRAGMA freelist_count")
    let size = try connection.number("PRAGMA page_size")
    let used = try bytes(inUse: (pages - free) * size)
    let counts = try counts()
    let names = Set(counts.keys).union(used?.keys.map { $0 } ?? [])
    let subjects = names.map {
      StoreStatistics.Subject(
        name: $0, bytes: used.map { [name = $0] in $0[name] ?? 0 }, counts: counts[$0] ?? [])
    }
    return StoreStatistics(
      path: path, fileBytes: 0, walBytes: 0, pages: Int(pages), freePages: Int(free), pageSize: size,
      subjects: subjects.ordered { ($1.bytes ?? 0, $0.name) < ($0.bytes ?? 0, $1.name) },
      collections: try collections(),
      assets: try assets(), catalogue: try Catalogue.statistics(connection), spooled: 0, outboxDamages: [],
      rejected: try rejected())
  }

  /// The size of each subject's tables and indexes. Pages of the file's own structure count for the store.
  private func bytes(inUse total: Int64) throws -> [String: Int64]? {
    guard try connection.number("SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')") == 1 else {
      return nil
    }
    var bytes: [String: Int64] = [:]
    var rest = total
    try connection.each(
      """
      SELECT coalesce(s.tbl_name, 'sqlite_schema'), sum(d.pgsize) FROM dbstat d
      LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE GROUP BY 1
      """
    ) { row in
      let table = row.text(0)
      let owner = Self.owners.first { table.hasPrefix($0.0) }?.1 ?? "catalogue"
      bytes[owner, default: 0] += try row.integer(1)
      rest -= try row.integer(1)
    }
    bytes["store", default: 0] += max(0, rest)
    return bytes
  }

  private func counts() throws -> [String: [StoreStatistics.Count]] {
    var counts = [
      "catalogue": [
        try count("places", "SELECT count(*) FROM context"),
        try count("entities", "SELECT count(*) FROM entity WHERE size IS NOT NULL"),
      ]
    ]
    if subjects.contains(RegionSchema.subject.name) {
      counts["catalogue"]?.append(try count("regions", "SELECT count(*) FROM region"))
    }
    if subjects.contains(PhotoSchema.subject.name) {
      counts["photos"] = [
        try count("directories", "SELECT count(*) FROM photo_catalogue"),
        try count("photos", "SELECT coalesce(sum(photos), 0) FROM photo_shard"),
      ]
    }
    if subjects.contains(StorySchema.subject.name) {
      counts["stories"] = [
        try count("directories", "SELECT count(*) FROM story_library"),
        try count("stories", "SELECT count(*) FROM story_file WHERE story IS NOT NULL"),
      ]
    }
    if subjects.contains(RecordSchema.subject.name) {
      counts["records"] = [
        try count("collections", "SELECT count(*) FROM record_collection WHERE version > 0 AND id > 0"),
        StoreStatistics.Count(name: "records", count: try collections().reduce(0) { $0 + $1.records }),
      ]
    }
    if subjects.contains(RecordSchema.subject.name) {
      let state = try StateStore.counts(connection)
      counts["state"] = [
        StoreStatistics.Count(name: "values", count: state.values),
        StoreStatistics.Count(name: "members", count: state.members),
        StoreStatistics.Count(name: "scores", count: state.scores),
        StoreStatistics.Count(name: "items", count: state.items),
      ]
    }
    if subjects.contains(AssetSchema.subject.name) {
      counts["assets"] = [try count("assets", "SELECT count(*) FROM asset WHERE place > 0")]
    }
    if subjects.contains(OutboxSchema.subject.name) {
      counts["outbox"] = [StoreStatistics.Count(name: "rejected", count: try rejected())]
    }
    return counts
  }

  private func count(_ name: String, _ sql: StaticString) throws -> StoreStatistics.Count {
    StoreStatistics.Count(name: name, count: Int(try connection.number(sql)))
  }

  private func assets() throws -> AssetStatistics {
    guard subjects.contains(AssetSchema.subject.name) else { return AssetStatistics() }
    return try AssetStore.statistics(connection)
  }

  private func rejected() throws -> Int {
    guard subjects.contains(OutboxSchema.subject.name) else { return 0 }
    return Int(try connection.number("SELECT count(*) FROM outbox_rejected"))
  }

  private func collections() throws -> [StoreStatistics.Collection] {
    guard subjects.contains(RecordSchema.subject.name) else { return [] }
    var collections: [StoreStatistics.Collection] = []
    try connection.each(
      """
      SELECT name, version,
        (SELECT count(*) FROM record r WHERE r.id > c.id << 40 AND r.id < (c.id + 1) << 40),
        (SELECT coalesce(sum(length(body)), 0) FROM record r
          WHERE r.id > c.id << 40 AND r.id < (c.id + 1) << 40),
        (SELECT count(*) FROM sync_collection s JOIN sync_entry e ON e.collection = s.id
          WHERE s.name = c.name AND e.pending IS NOT NULL),
        (SELECT count(*) FROM conflict f WHERE f.subject = 0 AND f.owner = c.id)
      FROM record_collection c WHERE version > 0 AND id > 0 ORDER BY name
      """
    ) { row in
      collections.append(
        StoreStatistics.Collection(
          name: row.text(0), version: Int(try row.integer(1)), records: Int(try row.integer(2)),
          bytes: try row.integer(3), pending: Int(try row.integer(4)), conflicts: Int(try row.integer(5))))
    }
    return collections
  }
}
