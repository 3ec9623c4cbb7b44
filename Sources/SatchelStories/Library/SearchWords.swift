import SatchelCore
import SatchelStorage

/// Splits texts into words with the tokenizer of the index of `StorySchema`.
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

  /// Returns the distinct words of a text, without case and diacritics.
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

  /// Returns an FTS5 query for texts in which each word is a prefix of some word; nil for a text without
  /// words.
  func query(_ text: String) throws -> String? {
    // Words contain only letters and digits, so quoting is safe.
    let words = try split(text).map { "\"\($0)\" *" }
    return words.isEmpty ? nil : words.joined(separator: " AND ")
  }
}
