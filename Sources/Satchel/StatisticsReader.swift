/// Reads how one state of a store uses its pages.
struct StatisticsReader {
  let connection: Connection
  /// The subjects whose tables are there.
  let subjects: Set<String>

  /// The beginnings of tables' names, and whose they are; what is nobody's is the catalogue's.
  private static let owners = [
    ("photo_", "photos"), ("story_", "stories"), ("record", "records"), ("state_", "state"),
    ("spill_", "journal"), ("remote_", "remote"), ("sqlite_", "store"), ("change", "store"),
    ("subject", "store"),
  ]

  func read(path: String) throws -> StoreStatistics {
    // The first read decides which state is seen, by all that follow.
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
      path: path, fileBytes: 0, pages: Int(pages), freePages: Int(free), pageSize: size,
      subjects: subjects.sorted { ($1.bytes ?? 0, $0.name) < ($0.bytes ?? 0, $1.name) },
      collections: try collections(), spilled: 0, spillDamages: [], refused: try refused())
  }

  /// Bytes of each subject's tables and indexes. Pages that only say where others belong are the store's.
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
    if subjects.contains(PhotoSchema.subject.name) {
      counts["photos"] = [
        try count("directories", "SELECT count(*) FROM photo_catalogue"),
        try count(
          "photos",
          """
          SELECT coalesce(sum(coalesce(l.photos, 0) + s.added - s.removed), 0) FROM photo_shard s
          LEFT JOIN photo_level l ON l.id = s.base
          """),
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
        try count("collections", "SELECT count(*) FROM record_collection WHERE version > 0"),
        StoreStatistics.Count(name: "records", count: try collections().reduce(0) { $0 + $1.records }),
      ]
    }
    if subjects.contains(StateSchema.subject.name) {
      counts["state"] = [
        try count("values", "SELECT count(*) FROM state_value"),
        try count("items", "SELECT count(*) FROM state_item"),
      ]
    }
    if subjects.contains(JournalSchema.subject.name) {
      counts["journal"] = [StoreStatistics.Count(name: "refused", count: try refused())]
    }
    return counts
  }

  private func count(_ name: String, _ sql: StaticString) throws -> StoreStatistics.Count {
    StoreStatistics.Count(name: name, count: Int(try connection.number(sql)))
  }

  private func refused() throws -> Int {
    guard subjects.contains(JournalSchema.subject.name) else { return 0 }
    return Int(try connection.number("SELECT count(*) FROM spill_refused"))
  }

  private func collections() throws -> [StoreStatistics.Collection] {
    guard subjects.contains(RecordSchema.subject.name) else { return [] }
    var collections: [StoreStatistics.Collection] = []
    try connection.each(
      """
      SELECT name, version,
        (SELECT count(*) FROM record r WHERE r.id > c.id << 40 AND r.id < (c.id + 1) << 40),
        (SELECT coalesce(sum(length(body)), 0) FROM record r WHERE r.id > c.id << 40 AND r.id < (c.id + 1) << 40),
        (SELECT count(*) FROM record_sync s WHERE s.collection = c.id AND s.pending IS NOT NULL),
        (SELECT count(*) FROM record_conflict f WHERE f.collection = c.id)
      FROM record_collection c WHERE version > 0 ORDER BY name
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
