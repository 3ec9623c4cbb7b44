import SatchelCore
import SatchelStorage

/// Reads and writes the purchases of a store.
final class StoryPurchases: Sendable {
  private let database: Database
  private let latest = Locked<(token: Int64, states: [StoryName: Bool])>((-1, [:]))

  init(_ database: Database) { self.database = database }

  /// Returns the purchase state of all stories that have one.
  func states() throws -> [StoryName: Bool] {
    // A read-only store may have no story tables yet.
    guard try database.has(StorySchema.subject) else { return [:] }
    return try database.read { connection in
      let token = try connection.first("SELECT purchases FROM story_state") { $0.anyInteger(0) } ?? 0
      let known = latest.withLock { $0 }
      if known.token == token { return known.states }
      var states: [StoryName: Bool] = [:]
      try connection.each("SELECT story, is_purchased FROM story_purchase") {
        states[StoryName($0.text(0))] = $0.flag(1)
      }
      latest.withLock { $0 = (token, states) }
      return states
    }
  }

  func set(_ story: String, _ isPurchased: Bool) throws {
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
      transaction.note(subject: .stories, keys: [story])
    }
  }
}

extension StoryLibrary {
  /// Marks a story as purchased or not purchased. The store keeps the state by id: it applies to every
  /// library of the store, whether or not a file of the story exists.
  ///
  /// - Throws: `.invalid` for an invalid id, `.readOnly`, `.busy`, `.full`, `.io`, `.closed`
  public func markPurchased(_ id: String, _ isPurchased: Bool = true) throws {
    try checkOpen()
    try Self.checkName(id)
    try purchases.set(id, isPurchased)
  }

  /// Throws for an id that is not a valid name.
  static func checkName(_ id: String) throws {
    guard StoryID.isName(id) else {
      throw SatchelError(.invalid, "story: “\(id.prefix(60))” is not a valid story id")
        .at(subject: Change.Subject.stories.rawValue)
    }
  }
}
