import SatchelStorage

/// What a store's reader bought, or gave back.
final class StoryPurchases: Sendable {
  private let database: Database
  private let latest = Guarded<(token: Int64, marks: [StoryName: Bool])>((-1, [:]))

  init(_ database: Database) { self.database = database }

  /// All marks, as of now.
  func marks() throws -> [StoryName: Bool] {
    // A store opened to read only may have no stories yet.
    guard try database.has(StorySchema.subject) else { return [:] }
    return try database.read { connection in
      let token = try connection.first("SELECT purchases FROM story_state") { $0.anyInteger(0) } ?? 0
      let known = latest.withLock { $0 }
      if known.token == token { return known.marks }
      var marks: [StoryName: Bool] = [:]
      try connection.each("SELECT story, is_purchased FROM story_purchase") {
        marks[StoryName($0.text(0))] = $0.flag(1)
      }
      latest.withLock { $0 = (token, marks) }
      return marks
    }
  }

  func mark(_ story: String, _ isPurchased: Bool) throws {
    try database.write { transaction in
      let connection = transaction.connection
      let before = try connection.first(
        "SELECT is_purchased FROM story_purchase WHERE story = ?", .text(story)
      ) { $0.flag(0) }
      if before == isPurchased { return }
      try connection.run(
        "INSERT OR REPLACE INTO story_purchase(story, is_purchased, marked_at) VALUES(?, ?, ?)", .text(story),
        .integer(isPurchased ? 1 : 0), .integer(transaction.now))
      try connection.run("UPDATE story_state SET purchases = ?", .integer(.random(in: 1...Int64.max)))
      transaction.note(subject: "stories", keys: [story], place: nil)
    }
  }
}

extension StoryLibrary {
  /// Notes that the reader bought a story, or gave it back. This is kept by id in the store: it holds for every
  /// library of the store, and whether there is a file of the story or not.
  ///
  /// - Throws: `.invalid` for an id that is no name, `.readOnly`, `.busy`, `.full`, `.io`, `.closed`
  public func markPurchased(_ id: String, _ isPurchased: Bool = true) throws {
    try checkOpen()
    try Self.checkName(id)
    try purchases.mark(id, isPurchased)
  }

  /// Ids are names, never paths.
  static func checkName(_ id: String) throws {
    guard StoryID.isName(id) else {
      throw SatchelError(.invalid, "story: “\(id.prefix(60))” is no name of a story")
    }
  }
}
