import SatchelCore
import SatchelStorage

/// The schema of the story tables: an index of files, which can be rebuilt at any time.
package enum StorySchema {
  package static let subject = SubjectSchema(
    name: "stories", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "story_library.token": StoredRange.any, "story_file.size": StoredRange.any,
        "story_file.modified": StoredRange.any, "story_file.changed": StoredRange.any,
        "story_file.minutes": StoredRange.any, "story_file.path_count": StoredRange.any,
        "story_file.shortest_time": StoredRange.any, "story_file.longest_time": StoredRange.any,
        "story_file.is_purchased": StoredRange.flag,
      ],
      times: ["story_file.modified": .kept, "story_file.changed": .kept]))

  static let searchTable =
    "CREATE VIRTUAL TABLE story_search USING fts5(title, synopsis, tokenize = 'ascii')"

  private static let version1 = """
    -- Directories. Each refresh with changes replaces `token`.
    CREATE TABLE story_library(
      id INTEGER PRIMARY KEY,
      directory TEXT NOT NULL UNIQUE,
      token INTEGER NOT NULL
    ) STRICT;

    -- One row for each file, story or not. The columns that detect changes come first, so that a refresh
    -- reads only the start of each row. Times are Unix nanoseconds. `sha256` is NULL for a file that could
    -- not be read; `checker` is the version of the rules that checked it. Reading times are in thousandths of
    -- a minute.
    CREATE TABLE story_file(
      id INTEGER PRIMARY KEY,
      library INTEGER NOT NULL,
      name TEXT NOT NULL,
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      sha256 BLOB,
      checker INTEGER NOT NULL,
      problem TEXT,
      problem_message TEXT,
      problem_line INTEGER,
      problem_column INTEGER,
      story TEXT,
      title TEXT,
      title_key TEXT,
      author TEXT,
      original_source TEXT,
      culture TEXT,
      synopsis TEXT,
      cover TEXT,
      minutes INTEGER,
      age_range TEXT,
      is_purchased INTEGER NOT NULL,
      segments INTEGER NOT NULL,
      choices INTEGER NOT NULL,
      endings INTEGER NOT NULL,
      words INTEGER NOT NULL,
      shortest_path INTEGER,
      longest_path INTEGER,
      shortest_time INTEGER NOT NULL,
      longest_time INTEGER NOT NULL,
      path_count INTEGER NOT NULL,
      errors INTEGER NOT NULL,
      warnings INTEGER NOT NULL,
      named_files INTEGER NOT NULL,
      UNIQUE(library, name),
      CHECK((story IS NULL) <> (problem IS NULL))
    ) STRICT;
    CREATE INDEX story_file_story ON story_file(library, story, name) WHERE story IS NOT NULL;

    CREATE TABLE story_tag(
      file INTEGER NOT NULL,
      position INTEGER NOT NULL,
      tag TEXT NOT NULL,
      PRIMARY KEY(file, position)
    ) STRICT, WITHOUT ROWID;

    -- The full-text index of titles and synopses: tokens, by the row of story_file.
    \(searchTable);
    """

  /// The version of the rules and of the index. Files that were checked by an older version are checked
  /// again.
  static let checker: Int64 = 2

  /// Runs `body`, and throws a clear error when SQLite was built without full-text search.
  package static func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SatchelError where error.isAboutMissingModule {
      throw SatchelError(
        .internal, "SQLite was built without FTS5, which the search of stories requires", underlying: error)
    }
  }
}
