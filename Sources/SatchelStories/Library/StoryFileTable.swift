import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads and writes the tables `story_library` and `story_file`.
struct StoryFileTable {
  let connection: Connection

  /// The part of a file's row that detects changes.
  struct IndexedFile {
    var row: Int64
    var metadata: FileMetadata
    /// The SHA-256 of the content; nil for a file that could not be read.
    var hash: [UInt8]?
    /// For a file that could not be read, the message.
    var message: String?
    /// Whether it was checked by this version of the rules or a later one.
    var isCurrent: Bool
    /// The id of its story.
    var story: String?
  }

  // MARK: Reading

  func library(_ directory: String) throws -> Int64? {
    try connection.numberIfAny("SELECT id FROM story_library WHERE directory = ?", .text(directory))
  }

  /// Visits the files of a library by name.
  func each(in library: Int64, _ visit: (_ name: String, IndexedFile) throws -> Void) throws {
    try connection.each(
      """
      SELECT name, id, size, modified, changed, sha256, checker,
      CASE WHEN sha256 IS NULL THEN problem_message END FROM story_file WHERE library = ? ORDER BY name
      """, .integer(library)
    ) { try visit($0.text(0), Self.known($0)) }
  }

  private static func known(_ row: Statement) -> IndexedFile {
    IndexedFile(
      row: row.anyInteger(1),
      metadata: FileMetadata(
        size: row.anyInteger(2), modified: row.anyInteger(3), changed: row.anyInteger(4)),
      hash: row.isNull(5) ? nil : Array(row.bytes(5)), message: row.textIfAny(7),
      isCurrent: row.anyInteger(6) >= StorySchema.checker)
  }

  /// Returns the row of a file, with the id of its story.
  func known(_ name: String, in library: Int64) throws -> IndexedFile? {
    try connection.first(
      """
      SELECT name, id, size, modified, changed, sha256, checker,
      CASE WHEN sha256 IS NULL THEN problem_message END, story
      FROM story_file WHERE library = ? AND name = ?
      """, .integer(library), .text(name)
    ) { row in
      var known = Self.known(row)
      known.story = row.textIfAny(8)
      return known
    }
  }

  /// A file that has a story.
  struct File {
    var row: Int64
    var name: String
    /// The SHA-256 of its content, in hexadecimal digits.
    var version: String
  }

  /// Returns the first file, by name, that has a story with this id.
  ///
  /// - Parameters:
  ///   - language: its language; nil for any
  ///   - version: one with this content is preferred
  func file(
    of story: String, language: String? = nil, preferring version: String = "", in directory: String
  ) throws -> File? {
    try connection.first(
      """
      SELECT id, name, lower(hex(sha256)) AS version FROM story_file
      WHERE library = (SELECT id FROM story_library WHERE directory = ?1) AND story = ?2
      AND (?3 IS NULL OR language = ?3) ORDER BY version <> ?4, name LIMIT 1
      """, .text(directory), .text(story), Binding(language), .text(version)
    ) { File(row: $0.anyInteger(0), name: $0.text(1), version: $0.text(2)) }
  }

  /// Returns the SHA-256 of the content of a row's file.
  func hash(row: Int64) throws -> [UInt8]? {
    try connection.first("SELECT sha256 FROM story_file WHERE id = ?", .integer(row)) { Array($0.bytes(0)) }
  }

  /// Returns the files that are not among the stories of a library, by name.
  func problems(in library: Int64) throws -> [StoryProblem] {
    var problems: [StoryProblem] = []
    try connection.each(
      """
      SELECT f.name, f.problem, f.problem_message, f.problem_line, f.problem_column, f.story, (
        SELECT other.name FROM story_file AS other WHERE other.library = f.library AND other.story = f.story
        AND other.language IS f.language AND other.is_listed = 1)
      FROM story_file AS f INDEXED BY story_file_problem WHERE f.library = ? AND f.is_listed = 0 ORDER BY f.name
      """, .integer(library)
    ) { row in
      let (story, name) = (row.textIfAny(5), row.text(0))
      if let story {
        let failure = StoryFailure(
          code: .duplicateStory, message: "the story “\(story)” is already in \(row.text(6))")
        return problems.append(StoryProblem(file: name, failure, story: story))
      }
      guard let code = StoryFinding.Code(rawValue: row.text(1)) else {
        throw row.damage(1, "unknown problem “\(row.text(1))”")
      }
      let failure = StoryFailure(
        code: code, message: row.text(2), line: try row.integerIfAny(3).map { Int($0) },
        column: try row.integerIfAny(4).map { Int($0) })
      problems.append(StoryProblem(file: name, failure))
    }
    return problems
  }

  // MARK: Writing

  /// Returns the row of a directory, and inserts it when it does not exist.
  func ensureLibrary(_ directory: String) throws -> Int64 {
    try connection.run(
      "INSERT INTO story_library(directory) VALUES(?) ON CONFLICT DO NOTHING", .text(directory))
    return try library(directory) ?? 0
  }

  func setMetadata(_ metadata: FileMetadata, of row: Int64) throws {
    try connection.run(
      "UPDATE story_file SET size = ?, modified = ?, changed = ? WHERE id = ?", .integer(metadata.size),
      .integer(metadata.modified), .integer(metadata.changed), .integer(row))
  }

  func remove(_ row: Int64, from library: Int64) throws {
    try StorySearch(connection: connection).remove(row: row, in: library)
    try connection.run("DELETE FROM story_file WHERE id = ?", .integer(row))
  }

  /// Inserts or replaces the row of a file.
  ///
  /// - Parameter known: the row that it has
  func put(_ record: StoryRecord, in library: Int64, replacing known: Int64? = nil) throws {
    let search = StorySearch(connection: connection)
    // Not INSERT OR REPLACE, for which SQLite would copy each page that it changes to a statement journal.
    if let known { try remove(known, from: library) }
    var (story, failure): (StorySummary?, StoryFailure?)
    switch record.content {
    case .story(let summary): story = summary
    case .problem(let problem): failure = problem
    }
    let summary = story ?? StorySummary(id: "", file: record.name)
    let (header, statistics) = (summary.header, summary.statistics)
    let ages = header.ageRange.flatMap { AgeRange($0) }
    func number(_ value: Int?) -> Binding { Binding(value.map { Int64($0) }) }
    func thousandths(_ minutes: Double) -> Binding { .integer(Int64((minutes * 1000).rounded())) }
    try (record.hash ?? []).withUnsafeBytes { hash in
      try connection.run(
        """
        INSERT INTO story_file(id, library, name, size, modified, changed, sha256, checker, problem,
        problem_message, problem_line, problem_column, story, title, title_key, author, original_source,
        culture, synopsis, cover, minutes, age_range, lowest_age, highest_age, tags, is_purchased, segments,
        choices, endings, words, shortest_path, longest_path, shortest_time, longest_time, path_count, errors,
        warnings, named_files, is_listed, language, extra)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
        ?, ?, ?, ?, ?, ?, ?, ?)
        """, Binding(known), .integer(library), .text(record.name), .integer(record.metadata.size),
        .integer(record.metadata.modified), .integer(record.metadata.changed),
        record.hash == nil ? .null : .blob(hash), .integer(StorySchema.checker),
        Binding(failure?.code.rawValue),
        Binding(failure?.message), number(failure?.line), number(failure?.column), Binding(story?.id),
        Binding(header.title), Binding(story?.titleKey),
        Binding(header.author), Binding(header.originalSource), Binding(header.culturalOrigin),
        Binding(header.synopsis), Binding(header.coverImageName), Binding(header.estimatedReadingMinutes),
        Binding(header.ageRange), number(ages?.lowest), number(ages?.highest),
        .text(StoryTags.text(header.tags)), .integer(summary.isPurchased ? 1 : 0),
        number(statistics.segments),
        number(statistics.choices), number(statistics.endings), number(statistics.words),
        number(statistics.shortestPath), number(statistics.longestPath),
        thousandths(statistics.shortestMinutes),
        thousandths(statistics.longestMinutes), .integer(statistics.paths.saturated), number(summary.errors),
        number(summary.warnings), number(summary.namedFiles), .integer(story == nil ? 0 : 1),
        Binding(header.language),
        header.extra.isEmpty ? .null : .text(try JSONValue.object(header.extra).text))
    }
    if let story { try search.add(story.header, row: known ?? connection.lastInsertedRow, in: library) }
  }

  /// Corrects which of the files with the same story are listed.
  static let listing: StaticString = """
    UPDATE story_file AS f SET is_listed = 1 - is_listed WHERE story IS NOT NULL AND is_listed = EXISTS(
    SELECT 1 FROM story_file AS other WHERE other.library = f.library AND other.story = f.story
    AND other.language IS f.language AND other.name < f.name)
    """

  /// The number of stories from which one pass over all of them is faster.
  private static let maxSingly = 500

  /// Corrects which of the files of these stories are listed.
  func list(_ stories: Set<StoryName>, in library: Int64) throws {
    if stories.count > Self.maxSingly { return try connection.run(Self.listing) }
    let statement = try connection.prepared(" AND library = ? AND story = ?", after: Self.listing)
    for story in stories {
      try statement.bind([.integer(library), .text(story.text)])
      while try statement.step() {}
      statement.reset()
    }
  }
}
