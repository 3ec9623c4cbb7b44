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
      "orphaned_story_tag", counted: "% tags have no story",
      offenders: """
        SELECT 1 FROM story_tag WHERE file NOT IN (SELECT id FROM story_file WHERE story IS NOT NULL)
        """,
      mending: """
        DELETE FROM story_tag WHERE file NOT IN (SELECT id FROM story_file WHERE story IS NOT NULL)
        """),
  ]

  /// Returns the violated invariants of the story tables.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StorySchema.subject) else { return [] }
    var findings = try database.read { connection in
      let fault = try StoryFileTable(connection: connection).searchFault()
      return try connection.findings(of: rules)
        + (fault.map { [StoreFinding(code: "story_search", message: $0)] } ?? [])
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
      try StoryFileTable(connection: connection).indexAgain()
    }
  }
}

extension StoryFileTable {
  /// Returns what is wrong with the full-text index; nil when it is sound.
  fileprivate func searchFault() throws -> String? {
    do {
      return try firstSearchFault()
    } catch let error as SatchelError where error.isAboutVirtualTable {
      return "the search index cannot be read; the next search rebuilds it: \(error.message)"
    }
  }

  private func firstSearchFault() throws -> String? {
    var indexed: [Int64: (title: [UInt8], synopsis: [UInt8])] = [:]
    try connection.each("SELECT rowid, title, synopsis FROM story_search") {
      indexed[$0.anyInteger(0)] = (Array($0.bytes(1)), Array($0.bytes(2)))
    }
    var fault: String?
    try connection.each("SELECT id, name, title, synopsis FROM story_file WHERE story IS NOT NULL") { row in
      let stored = indexed.removeValue(forKey: row.anyInteger(0))
      if stored?.title != Self.tokens(row.textIfAny(2)) || stored?.synopsis != Self.tokens(row.textIfAny(3)) {
        fault = fault ?? "the search index does not match the texts of \(row.text(1))"
      }
    }
    return fault ?? (indexed.isEmpty ? nil : "\(indexed.count) entries of the search index are stale")
  }
}
