import SatchelCore
import SatchelStorage

/// The index of the files of one directory. For a read-only store it is a copy in memory.
final class StoryIndex: Sendable {
  private let database: Database
  private let directory: String

  /// - Parameter store: the store with the index; a read-only store is copied
  init(_ store: Database, directory: String) throws {
    self.directory = directory
    let isPrepared = try StorySearch.index.naming { try store.prepare(StorySchema.subject) }
    guard store.options.isReadOnly else {
      database = store
      return
    }
    var options = StoreOptions()
    options.clock = store.options.clock
    database = try Database.open(
      path: ":memory:", options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    _ = try StorySearch.index.naming { try database.prepare(StorySchema.subject) }
    if isPrepared { try copy(store) }
  }

  private func copy(_ store: Database) throws {
    try store.read { connection in
      let stored = StoryFileTable(connection: connection)
      guard let library = try stored.library(directory) else { return }
      try database.write { transaction in
        let table = StoryFileTable(connection: transaction.connection)
        let copy = try table.ensureLibrary(directory)
        try stored.each(in: library) { name, file in
          // Files that an older version checked are read again, and those that are not stories.
          guard file.isCurrent, let story = try StoryRows(connection: connection).story(row: file.row) else {
            return
          }
          let record = StoryRecord(
            name: name, metadata: file.metadata, hash: file.hash, content: .story(story))
          try table.put(record, in: copy)
        }
        try transaction.connection.run(StoryFileTable.listing)
      }
    }
  }

  /// Returns the indexed files by name.
  func known() throws -> [StoryName: StoryFileTable.IndexedFile] {
    try read { connection, library in
      var known: [StoryName: StoryFileTable.IndexedFile] = [:]
      try StoryFileTable(connection: connection).each(in: library) { known[StoryName($0)] = $1 }
      return known
    } ?? [:]
  }

  /// Returns the file that has a story: see `StoryFileTable.file`.
  func file(
    of story: String, language: String? = nil, preferring version: String = ""
  ) throws -> StoryFileTable.File? {
    try database.read {
      try StoryFileTable(connection: $0).file(
        of: story, language: language, preferring: version, in: directory)
    }
  }

  /// Runs `body` with the row of the directory; nil when it has none.
  private func read<Result>(_ body: (Connection, _ library: Int64) throws -> Result) throws -> Result? {
    try database.read { connection in
      guard let library = try StoryFileTable(connection: connection).library(directory) else { return nil }
      return try body(connection, library)
    }
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
          if let known, known.isCurrent, let hash = record.hash, known.hash == hash {
            try table.setMetadata(record.metadata, of: known.row)
            counted.unchanged += 1
            continue
          }
          try table.put(record, in: library, replacing: known?.row)
          if known == nil { counted.added += 1 } else { counted.changed += 1 }
          for story in [known?.story, record.story] { if let story { stories.insert(StoryName(story)) } }
        }
        for name in outcome.removed {
          guard let known = try table.known(name, in: library) else { continue }
          try table.remove(known.row, from: library)
          counted.removed += 1
          if let story = known.story { stories.insert(StoryName(story)) }
        }
        if counted.added + counted.changed + counted.removed > 0 {
          try table.list(stories, in: library)
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
      try database.write { try StorySearch(connection: $0.connection).remake() }
      return try body()
    }
  }

  /// Returns the records of copies, with the copies' names; nil for a copy whose row no longer exists.
  func records(of copies: [DirectoryRefresh.Copy]) throws -> [StoryRecord?] {
    try database.read { connection in
      let (table, rows) = (StoryFileTable(connection: connection), StoryRows(connection: connection))
      return try copies.map { copy in
        guard try table.hash(row: copy.row) == copy.hash, let story = try rows.story(row: copy.row) else {
          return nil
        }
        return StoryRecord(name: copy.name, metadata: copy.metadata, hash: copy.hash, content: .story(story))
      }
    }
  }

  // MARK: Listing

  /// Visits all stories by the names of their files.
  func each(_ visit: (StorySummary) throws -> Void) throws {
    _ = try read { try StoryRows(connection: $0).each(in: $1, visit) }
  }

  /// Visits the stories that match a query, in its order.
  ///
  /// - Parameter isPurchased: see `StoryRows.matches`
  func each(
    _ query: StoryQuery, isPurchased: (_ story: String, _ inFile: Bool) -> Bool,
    _ visit: (StorySummary) throws -> Void
  ) throws {
    let search = try query.search.map { try SearchQuery($0) }
    try makingIndexAgain {
      _ = try read { connection, library in
        let rows = StoryRows(connection: connection)
        let found = try StorySearch.index.naming {
          try rows.matches(query, search, in: library, isPurchased: isPurchased)
        }
        for row in found { if let story = try rows.story(row: row) { try visit(story) } }
      }
    }
  }

  /// Returns a story; nil when the directory has none with this id.
  func story(_ id: String, language: String? = nil) throws -> StorySummary? {
    try database.read { connection in
      try StoryFileTable(connection: connection).file(of: id, language: language, in: directory).flatMap {
        try StoryRows(connection: connection).story(row: $0.row)
      }
    }
  }

  /// Returns the files that are not stories, or not listed, by name.
  func problems() throws -> [StoryProblem] {
    try read { try StoryFileTable(connection: $0).problems(in: $1) } ?? []
  }

  /// Returns the distinct values that stories can be filtered by, sorted.
  func values(_ kind: StoryFacet) throws -> [String] {
    try read { try StorySearch(connection: $0).values(kind, in: $1) } ?? []
  }
}
