import SatchelStorage

/// What a store knows of one directory's files; kept in memory where the store may not be written.
final class StoryIndex: Sendable {
  private let database: Database
  private let directory: String
  private let latest = Guarded<StorySnapshot?>(nil)

  /// - Parameter store: where the index is; of a store opened to read only it is copied from
  init(_ store: Database, directory: String) throws {
    self.directory = directory
    let isPrepared = try StorySchema.naming { try store.prepare(StorySchema.subject) }
    guard store.options.isReadOnly else {
      database = store
      return
    }
    var options = StoreOptions()
    options.clock = store.options.clock
    database = try Database.open(
      path: ":memory:", options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    _ = try StorySchema.naming { try database.prepare(StorySchema.subject) }
    guard isPrepared else { return }
    let rows = try store.read { connection in
      let table = StoryFileTable(connection: connection)
      guard let library = try table.library(directory) else { return [StoryFileTable.Row]() }
      let known = try table.known(in: library.id)
      // What an older version checked is read again.
      return try table.rows(in: library.id).filter { known[StoryName($0.record.name)]?.isCurrent == true }
    }
    try database.write { transaction in
      let table = StoryFileTable(connection: transaction.connection)
      let library = try table.claim(directory)
      for row in rows { try table.put(row.record, in: library, isNew: true) }
      try table.renew(library)
    }
  }

  /// What is known of each file.
  func known() throws -> [StoryName: StoryFileTable.Known] {
    try database.read { connection in
      let table = StoryFileTable(connection: connection)
      guard let library = try table.library(directory) else { return [:] }
      return try table.known(in: library.id)
    }
  }

  /// The file that holds a story.
  func file(of story: String) throws -> String? {
    try database.read { try StoryFileTable(connection: $0).file(of: story, in: directory) }
  }

  // MARK: Writing

  /// How many ids observers are told; beyond that something may have changed everywhere.
  private static let mostKeys = 1000

  /// Takes over what an intake found, in one transaction: whoever reads sees all of it, or nothing yet.
  ///
  /// Other processes may have written since the intake looked; what they know already is not counted again.
  func write(_ outcome: StoryIntake.Outcome) throws -> StoryRefresh {
    var refresh = StoryRefresh()
    refresh.read = outcome.read
    refresh.parsed = outcome.parsed
    refresh.unchanged = outcome.unchanged
    guard !outcome.isEmpty else { return refresh }
    try database.write { transaction in
      var counted = refresh
      let table = StoryFileTable(connection: transaction.connection)
      let library = try table.claim(directory)
      var stories: Set<StoryName> = []
      for touched in outcome.touched { try table.setStamp(touched.stamp, of: touched.row) }
      for record in outcome.records {
        let known = try table.known(record.name, in: library)
        if let known, known.0.isCurrent, let hash = record.hash, known.0.hash == hash {
          try table.setStamp(record.stamp, of: known.0.row)
          counted.unchanged += 1
          continue
        }
        try table.put(record, in: library, isNew: known == nil)
        if known == nil { counted.added += 1 } else { counted.changed += 1 }
        for story in [known?.story, record.story] { if let story { stories.insert(StoryName(story)) } }
      }
      for name in outcome.removed {
        guard let known = try table.known(name, in: library) else { continue }
        try table.remove(name, from: library)
        counted.removed += 1
        if let story = known.story { stories.insert(StoryName(story)) }
      }
      if counted.added + counted.changed + counted.removed > 0 {
        try table.renew(library)
        let keys = stories.map(\.text).sorted(by: StoryName.precedes)
        transaction.note(subject: "stories", keys: keys.count > Self.mostKeys ? ["*"] : keys, place: nil)
      }
      refresh = counted
    }
    return refresh
  }

  /// What the rows of such copies say, under the copies' names; nil for one whose row is not there any more.
  func records(of copies: [StoryIntake.Copy]) throws -> [StoryRecord?] {
    guard !copies.isEmpty else { return [] }
    let rows = try database.read { connection in
      let table = StoryFileTable(connection: connection)
      return try table.library(directory).map { try table.rows(in: $0.id) } ?? []
    }
    let byRow = Dictionary(rows.map { ($0.id, $0.record) }, uniquingKeysWith: { $1 })
    return copies.map { copy in
      guard var record = byRow[copy.row], record.hash == copy.hash else { return nil }
      (record.name, record.stamp) = (copy.name, copy.stamp)
      if case .story(var summary, let titleKey) = record.content {
        summary.file = copy.name
        record.content = .story(summary, titleKey: titleKey)
      }
      return record
    }
  }

  // MARK: Listing

  /// Everything, as of now.
  func snapshot() throws -> StorySnapshot { try database.read { try snapshot($0) } }

  private func snapshot(_ connection: Connection) throws -> StorySnapshot {
    let table = StoryFileTable(connection: connection)
    guard let library = try table.library(directory) else { return StorySnapshot(token: 0, rows: []) }
    if let known = latest.withLock({ $0 }), known.token == library.token { return known }
    let snapshot = StorySnapshot(token: library.token, rows: try table.rows(in: library.id))
    latest.withLock { $0 = snapshot }
    return snapshot
  }

  /// The stories of a snapshot that a query of FTS5 finds, and how well: the lower the better.
  func search(
    _ query: String, isRanked: Bool
  ) throws -> (StorySnapshot, hits: [(position: Int, score: Double)]) {
    try database.read { connection in
      let snapshot = try snapshot(connection)
      var hits: [(position: Int, score: Double)] = []
      func take(_ row: Statement) {
        guard let position = snapshot.position(ofRow: row.anyInteger(0)) else { return }
        hits.append((position, isRanked ? Double(row.text(1)) ?? 0 : 0))
      }
      if isRanked {
        // A word of a title says ten times as much as one of a synopsis.
        try connection.each(
          """
          SELECT rowid, bm25(story_search, 10.0, 1.0) FROM story_search WHERE story_search MATCH ?
          """, .text(query), visit: take)
      } else {
        try connection.each(
          "SELECT rowid FROM story_search WHERE story_search MATCH ?", .text(query), visit: take)
      }
      return (snapshot, hits)
    }
  }
}
