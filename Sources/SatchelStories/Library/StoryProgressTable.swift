import SatchelCore
import SatchelStorage

/// Reads and writes the tables `story_progress`, `story_outline` and `story_visit`.
struct StoryProgressTable {
  let connection: Connection

  // MARK: Reading

  func progress(of story: String) throws -> StoryProgress {
    var progress = StoryProgress(story: story)
    let isBegun: Void? = try connection.first(
      "SELECT position, read_at, moved_from, moved_reason FROM story_progress WHERE story = ?", .text(story)
    ) { row in
      progress.position = row.text(0)
      progress.readAt = row.anyInteger(1)
      progress.movedFrom = row.textIfAny(2)
      progress.movedReason = row.textIfAny(3).flatMap { StoryProgress.Reason(rawValue: $0) }
    }
    guard isBegun != nil else { return progress }
    try connection.each(
      "SELECT segment, is_ending FROM story_visit WHERE story = ? ORDER BY id", .text(story)
    ) { row in
      progress.visited.append(row.text(0))
      if row.flag(1) { progress.endings.append(row.text(0)) }
    }
    return progress
  }

  /// Returns the SHA-256 of the version that a story's position refers to.
  func version(of story: String) throws -> [UInt8]? {
    try connection.first("SELECT sha256 FROM story_outline WHERE story = ?", .text(story)) {
      Array($0.bytes(0))
    }
  }

  func outline(of story: String) throws -> [UInt8]? {
    try connection.first("SELECT outline FROM story_outline WHERE story = ?", .text(story)) {
      Array($0.bytes(0))
    }
  }

  /// Returns the stories last read in a library whose files have changed since.
  func outdated(in library: Int64) throws -> [String] {
    var stories: [String] = []
    try connection.each(
      """
      SELECT story FROM story_progress AS p JOIN story_outline AS o USING(story) WHERE p.library = ?1
      AND o.sha256 <> (SELECT sha256 FROM story_file AS f WHERE f.library = ?1 AND f.story = p.story
        ORDER BY name LIMIT 1)
      """, .integer(library)
    ) { stories.append($0.text(0)) }
    return stories
  }

  // MARK: Writing

  /// Stores a position.
  ///
  /// - Parameter readAt: nil keeps the time of the last move by the reader
  func put(
    _ story: String, position: String, library: Int64, readAt: Int64?, from: String?,
    reason: StoryProgress.Reason?
  ) throws {
    try connection.run(
      """
      INSERT INTO story_progress(story, library, position, read_at, moved_from, moved_reason)
      VALUES(?1, ?2, ?3, coalesce(?4, 0), ?5, ?6) ON CONFLICT DO UPDATE SET library = ?2, position = ?3,
      read_at = coalesce(?4, read_at), moved_from = ?5, moved_reason = ?6
      """, .text(story), .integer(library), .text(position), readAt.map { .integer($0) } ?? .null,
      from.map { .text($0) } ?? .null, reason.map { .text($0.rawValue) } ?? .null)
  }

  /// Stores the version of a story that its position refers to.
  func putVersion(of story: String, _ version: Story) throws {
    try version.contentHash.withUnsafeBytes { hash in
      try StoryOutline.bytes(of: version.analysis).withUnsafeBytes { outline in
        try connection.run(
          "INSERT OR REPLACE INTO story_outline(story, sha256, outline) VALUES(?, ?, ?)", .text(story),
          .blob(hash), .blob(outline))
      }
    }
  }

  func visit(_ segment: String, of story: String, isEnding: Bool) throws {
    try connection.run(
      """
      INSERT INTO story_visit(story, segment, is_ending) VALUES(?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET is_ending = max(is_ending, ?3) WHERE is_ending < ?3
      """, .text(story), .text(segment), .integer(isEnding ? 1 : 0))
  }

  /// Renames a visited segment.
  func renameVisit(of story: String, from: String, to: String) throws {
    try connection.run(
      "UPDATE OR IGNORE story_visit SET segment = ? WHERE story = ? AND segment = ?", .text(to), .text(story),
      .text(from))
  }

  /// - Returns: whether there was something to remove
  func remove(_ story: String) throws -> Bool {
    guard try version(of: story) != nil else { return false }
    try connection.run("DELETE FROM story_progress WHERE story = ?", .text(story))
    try connection.run("DELETE FROM story_outline WHERE story = ?", .text(story))
    try connection.run("DELETE FROM story_visit WHERE story = ?", .text(story))
    return true
  }

  // MARK: Checking

  /// Visits what contradicts the rest of the tables.
  func faults(_ report: (_ message: String) -> Void) throws {
    let contradictions: [(StaticString, String)] = [
      (
        "SELECT story FROM story_progress WHERE story NOT IN (SELECT story FROM story_outline)",
        "has no outline"
      ),
      (
        """
        SELECT story FROM story_outline WHERE length(sha256) <> 32
        OR story NOT IN (SELECT story FROM story_progress)
        """, "has an outline without a position, or with an invalid hash"
      ),
      (
        "SELECT DISTINCT story FROM story_visit WHERE story NOT IN (SELECT story FROM story_progress)",
        "has visited segments, but no position"
      ),
      (
        """
        SELECT story FROM story_progress AS p WHERE NOT EXISTS
        (SELECT 1 FROM story_visit AS v WHERE v.story = p.story AND v.segment = p.position)
        """, "is at a segment that was not visited"
      ),
      (
        "SELECT story FROM story_progress WHERE library NOT IN (SELECT id FROM story_library)",
        "was read in a library that does not exist"
      ),
      (
        """
        SELECT story FROM story_progress WHERE (moved_from IS NULL) <> (moved_reason IS NULL)
        OR moved_reason NOT IN ('removed', 'unreachable', 'trap')
        """, "was moved for an unknown reason"
      ),
    ]
    for (sql, message) in contradictions {
      try connection.each(sql) { report("the progress of story “\($0.text(0).prefix(60))” \(message)") }
    }
    try connection.each("SELECT story, outline FROM story_outline") { row in
      if (try? StoryReader.read(row.bytes(1))) == nil {
        report("the progress of story “\(row.text(0).prefix(60))” has an outline that is not a story")
      }
    }
  }

  /// Removes what contradicts the rest of the tables.
  func repair() throws {
    try connection.execute(
      """
      DELETE FROM story_progress WHERE story NOT IN (SELECT story FROM story_outline);
      DELETE FROM story_outline WHERE story NOT IN (SELECT story FROM story_progress);
      DELETE FROM story_visit WHERE story NOT IN (SELECT story FROM story_progress);
      INSERT OR IGNORE INTO story_visit(story, segment, is_ending) SELECT story, position, 0 FROM story_progress;
      INSERT OR IGNORE INTO story_library(id, directory, token)
      SELECT DISTINCT library, 'lost ' || library, 0 FROM story_progress;
      """)
  }
}
