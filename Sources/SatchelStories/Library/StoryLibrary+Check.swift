import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Returns the violated invariants of the story tables.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StorySchema.subject) else { return [] }
    var findings = try database.read { connection in
      var findings: [StoreFinding] = []
      func report(_ code: String, _ message: String) {
        findings.append(StoreFinding(code: code, message: message))
      }
      try connection.each(
        "SELECT name, library FROM story_file WHERE library NOT IN (SELECT id FROM story_library)"
      ) { row in
        report(
          "orphaned_story_file",
          "file \(row.text(0)) belongs to library \(row.anyInteger(1)), which does not exist")
      }
      try connection.each(
        """
        SELECT name FROM story_file
        WHERE story IS NOT NULL AND (title_key IS NULL OR length(sha256) IS NOT 32)
        """
      ) { report("story_file", "file \($0.text(0)) is a story, but its row is incomplete") }
      let tags = try connection.number(
        "SELECT count(*) FROM story_tag WHERE file NOT IN (SELECT id FROM story_file WHERE story IS NOT NULL)"
      )
      if tags > 0 { report("orphaned_story_tag", "\(tags) tags have no story") }
      try connection.each("SELECT story FROM story_purchase") { row in
        let story = row.text(0)
        if !StoryID.isName(story) {
          report("story_purchase", "“\(story.prefix(60))” is not a valid story id")
        }
      }
      if try connection.number("SELECT count(*) FROM story_state") != 1 {
        report("story_state", "the row with the state of purchases is missing")
      }
      return findings
    }
    do {
      // Compares the index with the texts; SQLite requires write access for it.
      try database.maintain { connection in
        try connection.run("INSERT INTO story_search(story_search, rank) VALUES('integrity-check', 1)")
      }
    } catch let error as SatchelError where error.code == .damaged {
      findings.append(
        StoreFinding(code: "story_search", message: "the search index does not match its texts"))
    }
    return findings
  }
}
