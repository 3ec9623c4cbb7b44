import SatchelStorage

/// Splits texts into words as the index of `StorySchema` does: by SQLite's own tokenizer.
final class SearchWords: Sendable {
  private let database: Database

  init() throws {
    database = try Database.open(
      path: ":memory:", options: StoreOptions(),
      migrations: [
        Migration(
          version: 1,
          sql: ChangeLog.schema + """
            CREATE VIRTUAL TABLE text USING fts5(content, tokenize = "\(StorySchema.tokenizer)");
            CREATE VIRTUAL TABLE word USING fts5vocab(text, instance);
            """)
      ])
  }

  /// The words of a text, without case and diacritics, each once.
  func split(_ text: String) throws -> [String] {
    try database.write { transaction in
      let connection = transaction.connection
      try connection.run("INSERT INTO text(rowid, content) VALUES(1, ?)", .text(text))
      defer { try? connection.run("DELETE FROM text") }
      var words: [String] = []
      try connection.each("SELECT DISTINCT term FROM word") { words.append($0.text(0)) }
      return words
    }
  }

  /// A query of FTS5 for texts that have, for each word, one that begins with it; nil for a text without words.
  func query(_ text: String) throws -> String? {
    // Words hold letters and digits only, so that a quote cannot end early.
    let words = try split(text).map { "\"\($0)\" *" }
    return words.isEmpty ? nil : words.joined(separator: " AND ")
  }
}
