import SatchelStorage

extension StoryLibrary {
  /// What holds in every sound store's tables of stories, and does not here.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StorySchema.subject) else { return [] }
    var findings = try database.read { connection in
      var findings: [StoreFinding] = []
      func find(_ code: String, _ message: String) {
        findings.append(StoreFinding(code: code, message: message))
      }
      try connection.each(
        "SELECT name, library FROM story_file WHERE library NOT IN (SELECT id FROM story_library)"
      ) { row in
        find("orphaned_story_file", "\(row.text(0)): its library, \(row.anyInteger(1)), is not there")
      }
      try connection.each(
        """
        SELECT name FROM story_file
        WHERE story IS NOT NULL AND (title_key IS NULL OR length(sha256) IS NOT 32)
        """
      ) { find("story_file", "file \($0.text(0)) is a story, but not all of it is there") }
      let tags = try connection.number(
        "SELECT count(*) FROM story_tag WHERE file NOT IN (SELECT id FROM story_file WHERE story IS NOT NULL)"
      )
      if tags > 0 { find("orphaned_story_tag", "\(tags) tags without a story") }
      try connection.each("SELECT story FROM story_purchase") { row in
        let story = row.text(0)
        if !StoryID.isName(story) { find("story_purchase", "“\(story.prefix(60))” is no name of a story") }
      }
      if try connection.number("SELECT count(*) FROM story_state") != 1 {
        find("story_state", "the state of purchases is not there")
      }
      return findings
    }
    do {
      // Compares the words with the texts; SQLite wants to be able to write for that.
      try database.maintain { connection in
        try connection.run("INSERT INTO story_search(story_search, rank) VALUES('integrity-check', 1)")
      }
    } catch let error as SatchelError where error.code == .damaged {
      findings.append(StoreFinding(code: "story_search", message: "the search index does not fit its texts"))
    }
    return findings
  }
}
