import SatchelCore
import SatchelStorage

extension StoryFileTable {
  /// Returns the row of a directory, and inserts it when it does not exist.
  func ensureLibrary(_ directory: String) throws -> Int64 {
    try connection.run(
      "INSERT INTO story_library(directory, token) VALUES(?, 0) ON CONFLICT DO NOTHING", .text(directory))
    return try library(directory)?.id ?? 0
  }

  /// Changes the token of a library, which invalidates its snapshots.
  func changeToken(of library: Int64) throws {
    try connection.run(
      "UPDATE story_library SET token = ? WHERE id = ?", .integer(.random(in: 1...Int64.max)),
      .integer(library))
  }

  func setMetadata(_ metadata: FileMetadata, of row: Int64) throws {
    try connection.run(
      "UPDATE story_file SET size = ?, modified = ?, changed = ? WHERE id = ?", .integer(metadata.size),
      .integer(metadata.modified), .integer(metadata.changed), .integer(row))
  }

  func remove(_ name: String, from library: Int64) throws {
    guard let row = try known(name, in: library)?.0.row else { return }
    try connection.run("DELETE FROM story_search WHERE rowid = ?", .integer(row))
    try connection.run("DELETE FROM story_tag WHERE file = ?", .integer(row))
    try connection.run("DELETE FROM story_file WHERE id = ?", .integer(row))
  }

  /// Inserts or replaces the row of a file.
  ///
  /// - Parameter isNew: whether the file has no row yet
  func put(_ record: StoryRecord, in library: Int64, isNew: Bool = false) throws {
    switch record.content {
    case .story(let summary, let titleKey):
      try put(record, in: library, summary: summary, titleKey: titleKey, failure: nil, isNew: isNew)
    case .problem(let failure):
      let empty = StorySummary(id: "", file: record.name)
      try put(record, in: library, summary: empty, titleKey: nil, failure: failure, isNew: isNew)
    }
  }

  private func put(
    _ record: StoryRecord, in library: Int64, summary: StorySummary, titleKey: String?,
    failure: StoryFailure?,
    isNew: Bool
  ) throws {
    func text(_ value: String?) -> Binding { value.map { .text($0) } ?? .null }
    func number(_ value: Int?) -> Binding { value.map { .integer(Int64($0)) } ?? .null }
    func thousandths(_ minutes: Double) -> Binding { .integer(Int64((minutes * 1000).rounded())) }
    var row: Int64?
    try (record.hash ?? []).withUnsafeBytes { hash in
      try connection.each(
        """
        INSERT INTO story_file(library, name, size, modified, changed, sha256, checker, problem,
        problem_message, problem_line, problem_column, story, title, title_key, author, original_source,
        culture, synopsis, cover, minutes, age_range, is_purchased, segments, choices, endings, words,
        shortest_path, longest_path, shortest_time, longest_time, path_count, errors, warnings,
        named_files)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
        ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT(library, name) DO UPDATE SET size = excluded.size, modified = excluded.modified,
        changed = excluded.changed, sha256 = excluded.sha256, checker = excluded.checker,
        problem = excluded.problem, problem_message = excluded.problem_message,
        problem_line = excluded.problem_line, problem_column = excluded.problem_column,
        story = excluded.story, title = excluded.title, title_key = excluded.title_key,
        author = excluded.author, original_source = excluded.original_source, culture = excluded.culture,
        synopsis = excluded.synopsis, cover = excluded.cover, minutes = excluded.minutes,
        age_range = excluded.age_range, is_purchased = excluded.is_purchased, segments = excluded.segments,
        choices = excluded.choices, endings = excluded.endings, words = excluded.words,
        shortest_path = excluded.shortest_path, longest_path = excluded.longest_path,
        shortest_time = excluded.shortest_time, longest_time = excluded.longest_time,
        path_count = excluded.path_count, errors = excluded.errors, warnings = excluded.warnings,
        named_files = excluded.named_files
        RETURNING id
        """, .integer(library), .text(record.name), .integer(record.metadata.size),
        .integer(record.metadata.modified),
        .integer(record.metadata.changed), record.hash == nil ? .null : .blob(hash),
        .integer(StorySchema.checker),
        text(failure?.code.rawValue), text(failure?.message), number(failure?.line), number(failure?.column),
        failure == nil ? .text(summary.id) : .null, text(summary.title), text(titleKey), text(summary.author),
        text(summary.originalSource), text(summary.culturalOrigin), text(summary.synopsis),
        text(summary.coverImageName), summary.estimatedReadingMinutes.map { .integer($0) } ?? .null,
        text(summary.ageRange), number(summary.isPurchased ? 1 : 0), number(summary.segments),
        number(summary.choices), number(summary.endings), number(summary.words), number(summary.shortestPath),
        number(summary.longestPath), thousandths(summary.shortestMinutes),
        thousandths(summary.longestMinutes),
        .integer(summary.paths.saturated), number(summary.errors), number(summary.warnings),
        number(summary.namedFiles)
      ) { row = $0.anyInteger(0) }
    }
    guard let row else { return }
    if !isNew {
      try connection.run("DELETE FROM story_search WHERE rowid = ?", .integer(row))
      try connection.run("DELETE FROM story_tag WHERE file = ?", .integer(row))
    }
    if failure == nil { try index(row, title: summary.title, synopsis: summary.synopsis) }
    for (position, tag) in summary.tags.enumerated() {
      try connection.run(
        "INSERT INTO story_tag(file, position, tag) VALUES(?, ?, ?)", .integer(row),
        .integer(Int64(position)),
        .text(tag))
    }
  }

  /// Adds the words of a story to the full-text index.
  func index(_ row: Int64, title: String?, synopsis: String?) throws {
    try Self.tokens(title).withUnsafeBytes { title in
      try Self.tokens(synopsis).withUnsafeBytes { synopsis in
        try connection.run(
          "INSERT INTO story_search(rowid, title, synopsis) VALUES(?, ?, ?)", .integer(row),
          .textBytes(title), .textBytes(synopsis))
      }
    }
  }

  /// Returns the tokens of a text, as the index has them.
  static func tokens(_ text: String?) -> [UInt8] {
    var tokens: [UInt8] = []
    var text = text ?? ""
    text.withUTF8 { SearchTokenizer.appendTokens(of: UnsafeRawBufferPointer($0), to: &tokens) }
    return tokens
  }

  /// Makes the full-text index again, from the titles and synopses, in whatever state it is.
  func indexAgain() throws {
    try connection.remakeVirtualTable(
      "story_search", ownTables: Connection.fullTextTables, sql: StorySchema.searchTable)
    var rows: [(id: Int64, title: String?, synopsis: String?)] = []
    try connection.each("SELECT id, title, synopsis FROM story_file WHERE story IS NOT NULL") {
      rows.append(($0.anyInteger(0), $0.textIfAny(1), $0.textIfAny(2)))
    }
    for row in rows { try index(row.id, title: row.title, synopsis: row.synopsis) }
  }
}
