import SatchelStorage

extension StoryLibrary {
  /// Removes purchases and the reader's progress, as a part of signing out; the index of files is the device's.
  package static func signOut(in transaction: Transaction, of database: Database) throws {
    guard try database.has(StorySchema.subject) else { return }
    let connection = transaction.connection
    var stories: [String] = []
    try connection.each("SELECT story FROM story_purchase UNION SELECT story FROM story_progress") {
      stories.append($0.text(0))
    }
    for sql: StaticString in [
      "DELETE FROM story_purchase", "DELETE FROM story_progress", "DELETE FROM story_outline",
      "DELETE FROM story_visit",
    ] {
      try connection.run(sql)
    }
    try connection.run("UPDATE story_state SET purchases = ?", .integer(.random(in: 1...Int64.max)))
    if !stories.isEmpty { transaction.note(subject: .stories, keys: stories) }
  }
}
