import SatchelCore
import SatchelStorage

/// Reads and writes the tables `story_library`, `story_file` and `story_tag`.
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
  }

  /// A row with its record.
  struct Row {
    var id: Int64
    var record: StoryRecord
  }

  // MARK: Reading

  func library(_ directory: String) throws -> (id: Int64, token: Int64)? {
    try connection.first("SELECT id, token FROM story_library WHERE directory = ?", .text(directory)) {
      ($0.anyInteger(0), $0.anyInteger(1))
    }
  }

  func known(in library: Int64) throws -> [StoryName: IndexedFile] {
    var known: [StoryName: IndexedFile] = [:]
    known.reserveCapacity(
      Int(
        clamping: try connection.number(
          "SELECT count(*) FROM story_file WHERE library = ?", .integer(library))))
    try connection.each(
      """
      SELECT name, id, size, modified, changed, sha256, checker,
      CASE WHEN sha256 IS NULL THEN problem_message END FROM story_file WHERE library = ?
      """, .integer(library)
    ) { known[StoryName($0.text(0))] = Self.known($0) }
    return known
  }

  private static func known(_ row: Statement) -> IndexedFile {
    IndexedFile(
      row: row.anyInteger(1),
      metadata: FileMetadata(
        size: row.anyInteger(2), modified: row.anyInteger(3), changed: row.anyInteger(4)),
      hash: row.isNull(5) ? nil : Array(row.bytes(5)), message: row.textIfAny(7),
      isCurrent: row.anyInteger(6) >= StorySchema.checker)
  }

  /// Returns the row of a file and the id of its story.
  func known(_ name: String, in library: Int64) throws -> (IndexedFile, story: String?)? {
    try connection.first(
      """
      SELECT name, id, size, modified, changed, sha256, checker,
      CASE WHEN sha256 IS NULL THEN problem_message END, story
      FROM story_file WHERE library = ? AND name = ?
      """, .integer(library), .text(name)
    ) { (Self.known($0), $0.textIfAny(8)) }
  }

  /// Returns the first file, by name, that has a story with this id.
  func file(of story: String, in directory: String) throws -> String? {
    try connection.first(
      """
      SELECT name FROM story_file WHERE library = (SELECT id FROM story_library WHERE directory = ?)
      AND story = ? ORDER BY name LIMIT 1
      """, .text(directory), .text(story)
    ) { $0.text(0) }
  }

  /// Returns the SHA-256 of the first file, by name, that has a story with this id.
  func hash(of story: String, in directory: String) throws -> [UInt8]? {
    try connection.first(
      """
      SELECT sha256 FROM story_file WHERE library = (SELECT id FROM story_library WHERE directory = ?)
      AND story = ? ORDER BY name LIMIT 1
      """, .text(directory), .text(story)
    ) { Array($0.bytes(0)) }
  }

  /// Returns all files of a library, sorted by name.
  func rows(in library: Int64) throws -> [Row] {
    var rows: [Row] = []
    try connection.each(
      """
      SELECT id, name, size, modified, changed, sha256, problem, problem_message, problem_line, problem_column,
      story, title, title_key, author, original_source, culture, synopsis, cover, minutes, age_range,
      is_purchased, segments, choices, endings, words, shortest_path, longest_path, shortest_time,
      longest_time, path_count, errors, warnings, named_files
      FROM story_file WHERE library = ? ORDER BY name
      """, .integer(library)
    ) { rows.append(try Self.read($0)) }
    try addTags(to: &rows)
    return rows
  }

  private static func read(_ row: Statement) throws -> Row {
    let record = StoryRecord(
      name: row.text(1),
      metadata: FileMetadata(
        size: row.anyInteger(2), modified: row.anyInteger(3), changed: row.anyInteger(4)),
      hash: row.isNull(5) ? nil : Array(row.bytes(5)), content: try content(row))
    return Row(id: row.anyInteger(0), record: record)
  }

  private static func content(_ row: Statement) throws -> StoryRecord.Content {
    func number(_ column: Int32) -> Int? { row.isNull(column) ? nil : Int(clamping: row.anyInteger(column)) }
    if let problem = row.textIfAny(6) {
      guard let code = StoryFinding.Code(rawValue: problem) else {
        throw SatchelError(.damaged, "story_file: unknown problem “\(problem)”")
      }
      return .problem(
        StoryFailure(code: code, message: row.text(7), line: number(8), column: number(9)))
    }
    let header = StoryHeader(
      title: row.textIfAny(11), author: row.textIfAny(13), originalSource: row.textIfAny(14),
      culturalOrigin: row.textIfAny(15), synopsis: row.textIfAny(16), coverImageName: row.textIfAny(17),
      estimatedReadingMinutes: row.isNull(18) ? nil : row.anyInteger(18), ageRange: row.textIfAny(19),
      isPurchased: row.flag(20))
    let statistics = StoryStatistics(
      segments: number(21) ?? 0, choices: number(22) ?? 0, endings: number(23) ?? 0, words: number(24) ?? 0,
      shortestPath: number(25), longestPath: number(26), shortestMinutes: Double(row.anyInteger(27)) / 1000,
      longestMinutes: Double(row.anyInteger(28)) / 1000, paths: PathCount(saturated: row.anyInteger(29)))
    var summary = StorySummary(id: row.text(10), file: row.text(1), header: header, statistics: statistics)
    summary.errors = number(30) ?? 0
    summary.warnings = number(31) ?? 0
    summary.namedFiles = number(32) ?? 0
    return .story(summary, titleKey: row.text(12))
  }

  /// Adds the tags, which are stored in the order of the files' rows.
  private func addTags(to rows: inout [Row]) throws {
    var positions: [Int64: Int] = [:]
    for (position, row) in rows.enumerated() where row.record.story != nil { positions[row.id] = position }
    guard let first = positions.keys.min(), let last = positions.keys.max() else { return }
    var current: Int64 = -1
    var tags: [String] = []
    func finish() {
      guard let position = positions[current],
        case .story(var summary, let key) = rows[position].record.content
      else { return }
      summary.header.tags = tags
      rows[position].record.content = .story(summary, titleKey: key)
    }
    try connection.each(
      "SELECT file, tag FROM story_tag WHERE file BETWEEN ? AND ? ORDER BY file, position", .integer(first),
      .integer(last)
    ) { row in
      if row.anyInteger(0) != current {
        finish()
        (current, tags) = (row.anyInteger(0), [])
      }
      tags.append(row.text(1))
    }
    finish()
  }
}
