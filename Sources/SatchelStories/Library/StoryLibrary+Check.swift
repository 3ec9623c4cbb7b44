import SatchelCore
import SatchelStorage

extension StoryLibrary {
  private static let rules = [
    // The next refresh rebuilds the index of files.
    Invariant(
      "orphaned_story_file", each: "file %, which does not exist",
      offenders: """
        SELECT name || ' belongs to library ' || library FROM story_file
        WHERE library NOT IN (SELECT id FROM story_library)
        """,
      mending: "DELETE FROM story_file WHERE library NOT IN (SELECT id FROM story_library)"),
    Invariant(
      "story_file", each: "file % is a story, but its row is incomplete",
      offenders: """
        SELECT name FROM story_file WHERE story IS NOT NULL AND (title_key IS NULL OR length(sha256) IS NOT 32)
        """),
    Invariant(
      "story_file", each: "file % must be listed if it is the first one with its story, and only then",
      offenders: """
        SELECT name FROM story_file AS f WHERE story IS NOT NULL AND is_listed = EXISTS(
        SELECT 1 FROM story_file AS other WHERE other.library = f.library AND other.story = f.story
        AND other.language IS f.language AND other.name < f.name)
        """, mending: "\(StoryFileTable.listing)"),
  ]

  /// Returns the violated invariants of the story tables.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StorySchema.subject) else { return [] }
    var findings = try database.read { connection in
      let search = StorySearch(connection: connection)
      return try connection.findings(of: rules)
        + (search.fault().map { [StoreFinding(code: "story_search", message: $0)] } ?? [])
        + (search.facetFault().map { [StoreFinding(code: "story_facet", message: $0)] } ?? [])
    }
    do {
      // SQLite requires write access for it.
      try database.maintain { connection in
        try connection.run("INSERT INTO story_search(story_search) VALUES('integrity-check')")
      }
    } catch let error as SatchelError where error.code == .damaged {
      findings.append(
        StoreFinding(code: "story_search", message: "the search index does not match its tokens"))
    }
    return findings
  }

  /// Restores the consistency of the story tables after rows were lost or changed.
  package static func repair(_ database: Database) throws {
    guard try database.has(StorySchema.subject) else { return }
    try database.write { transaction in
      let connection = transaction.connection
      try connection.mend(rules)
      try StorySearch(connection: connection).remake()
    }
  }
}
