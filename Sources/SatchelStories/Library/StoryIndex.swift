import SatchelCore
import SatchelStorage

/// The index of the files of one directory. For a read-only store it is a copy in memory.
final class StoryIndex: Sendable {
  private let database: Database
  private let directory: String
  private let latest = Locked<StorySnapshot?>(nil)

  /// - Parameter store: the store with the index; a read-only store is copied
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
      // Files that an older version checked are read again.
      return try table.rows(in: library.id).filter { known[StoryName($0.record.name)]?.isCurrent == true }
    }
    try database.write { transaction in
      let table = StoryFileTable(connection: transaction.connection)
      let library = try table.ensureLibrary(directory)
      for row in rows { try table.put(row.record, in: library, isNew: true) }
      try table.changeToken(of: library)
    }
  }

  /// Returns the indexed files by name.
  func known() throws -> [StoryName: StoryFileTable.IndexedFile] {
    try database.read { connection in
      let table = StoryFileTable(connection: connection)
      guard let library = try table.library(directory) else { return [:] }
      return try table.known(in: library.id)
    }
  }

  /// Returns the name of the file that has a story.
  func file(of story: String) throws -> String? {
    try database.read { try StoryFileTable(connection: $0).file(of: story, in: directory) }
  }

  /// Returns the SHA-256 of the file that has a story.
  func hash(of story: String) throws -> [UInt8]? {
    try database.read { try StoryFileTable(connection: $0).hash(of: story, in: directory) }
  }

  // MARK: Writing

  /// The maximum number of keys in a change; with more, observers are notified of `*`.
  private static let maxKeys = 1000

  /// Writes the outcome of a directory refresh, in one transaction.
  ///
  /// Other processes may have written the same changes meanwhile; these are not counted again.
  ///
  /// - Returns: the result, and the stories of files that were added, changed or removed
  func write(_ outcome: DirectoryRefresh.Outcome) throws -> (refresh: StoryRefresh, stories: Set<StoryName>) {
    var refresh = StoryRefresh()
    var changed: Set<StoryName> = []
    refresh.read = outcome.read
    refresh.parsed = outcome.parsed
    refresh.unchanged = outcome.unchanged
    guard !outcome.isEmpty else { return (refresh, []) }
    try makingIndexAgain {
      try database.write { transaction in
        var counted = refresh
        let table = StoryFileTable(connection: transaction.connection)
        let library = try table.ensureLibrary(directory)
        var stories: Set<StoryName> = []
        for touched in outcome.touched { try table.setMetadata(touched.metadata, of: touched.row) }
        for record in outcome.records {
          let known = try table.known(record.name, in: library)
          if let known, known.0.isCurrent, let hash = record.hash, known.0.hash == hash {
            try table.setMetadata(record.metadata, of: known.0.row)
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
          try table.changeToken(of: library)
          let keys = stories.map(\.text).ordered(by: StoryName.precedes)
          transaction.note(subject: .stories, keys: keys.count > Self.maxKeys ? ["*"] : keys)
        }
        (refresh, changed) = (counted, stories)
      }
    }
    return (refresh, changed)
  }

  /// Runs `body`, again with a new full-text index where it meets one that is of another version of FTS5, or damaged:
  /// the index is derived from the files' rows.
  private func makingIndexAgain<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SatchelError where error.isAboutVirtualTable && !database.options.isReadOnly {
      try database.write { try StoryFileTable(connection: $0.connection).indexAgain() }
      return try body()
    }
  }

  /// Returns the records of copies, with the copies' names; nil for a copy whose row no longer exists.
  func records(of copies: [DirectoryRefresh.Copy]) throws -> [StoryRecord?] {
    guard !copies.isEmpty else { return [] }
    let rows = try database.read { connection in
      let table = StoryFileTable(connection: connection)
      return try table.library(directory).map { try table.rows(in: $0.id) } ?? []
    }
    let byRow = Dictionary(rows.map { ($0.id, $0.record) }, uniquingKeysWith: { $1 })
    return copies.map { copy in
      guard var record = byRow[copy.row], record.hash == copy.hash else { return nil }
      (record.name, record.metadata) = (copy.name, copy.metadata)
      if case .story(var summary, let titleKey) = record.content {
        summary.file = copy.name
        record.content = .story(summary, titleKey: titleKey)
      }
      return record
    }
  }

  // MARK: Listing

  /// Returns a snapshot of the current index.
  func snapshot() throws -> StorySnapshot { try database.read { try snapshot($0) } }

  private func snapshot(_ connection: Connection) throws -> StorySnapshot {
    let table = StoryFileTable(connection: connection)
    guard let library = try table.library(directory) else { return StorySnapshot(token: 0, rows: []) }
    if let known = latest.withLock({ $0 }), known.token == library.token { return known }
    let snapshot = StorySnapshot(token: library.token, rows: try table.rows(in: library.id))
    latest.withLock { $0 = snapshot }
    return snapshot
  }

  /// Returns the stories that match an FTS5 query, with their scores: a lower score is better.
  func search(
    _ query: String, isRanked: Bool
  ) throws -> (StorySnapshot, hits: [(position: Int, score: Double)]) {
    try makingIndexAgain { try found(query, isRanked: isRanked) }
  }

  private func found(
    _ query: String, isRanked: Bool
  ) throws -> (StorySnapshot, hits: [(position: Int, score: Double)]) {
    try database.read { connection in
      let snapshot = try snapshot(connection)
      var hits: [(position: Int, score: Double)] = []
      func append(_ row: Statement) {
        guard let position = snapshot.position(ofRow: row.anyInteger(0)) else { return }
        hits.append((position, isRanked ? Double(row.text(1)) ?? 0 : 0))
      }
      if isRanked {
        // A word of a title has ten times the weight of one of a synopsis.
        try connection.each(
          """
          SELECT rowid, bm25(story_search, 10.0, 1.0) FROM story_search WHERE story_search MATCH ?
          """, .text(query), visit: append)
      } else {
        try connection.each(
          "SELECT rowid FROM story_search WHERE story_search MATCH ?", .text(query), visit: append)
      }
      return (snapshot, hits)
    }
  }
}
