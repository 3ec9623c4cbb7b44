import SatchelStorage

/// The tables of libraries of stories: an index of what stands in files, which can be made anew at any time; and
/// what readers bought, which cannot.
package enum StorySchema {
  package static let subject = SubjectSchema(
    name: "stories", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "story_library.token": StoredRange.any, "story_file.size": StoredRange.any,
        "story_file.modified": StoredRange.any, "story_file.changed": StoredRange.any,
        "story_file.minutes": StoredRange.any, "story_file.path_count": StoredRange.any,
        "story_file.shortest_time": StoredRange.any, "story_file.longest_time": StoredRange.any,
        "story_file.is_purchased": StoredRange.flag, "story_purchase.is_purchased": StoredRange.flag,
        "story_state.purchases": StoredRange.any,
      ]))

  private static let version1 = """
    -- Directories. `token` is another one after each refresh that changed anything.
    CREATE TABLE story_library(
      id INTEGER PRIMARY KEY,
      directory TEXT NOT NULL UNIQUE,
      token INTEGER NOT NULL
    ) STRICT;

    -- One row a file, story or not. What tells whether it changed comes first, so that looking for changes
    -- reads the beginning of each row only. Times are Unix nanoseconds. `sha256` is NULL for a file that was not
    -- read; `checker` is the version of the rules that it was checked by. The times of readings are in
    -- thousandths of a minute.
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

    -- Words of titles and synopses; the texts themselves stay in story_file.
    CREATE VIRTUAL TABLE story_search USING fts5(
      title, synopsis, content = 'story_file', content_rowid = 'id',
      tokenize = "\(tokenizer)"
    );
    CREATE TRIGGER story_file_added AFTER INSERT ON story_file BEGIN
      INSERT INTO story_search(rowid, title, synopsis) VALUES(new.id, new.title, new.synopsis);
    END;
    CREATE TRIGGER story_file_changed AFTER UPDATE OF title, synopsis ON story_file BEGIN
      INSERT INTO story_search(story_search, rowid, title, synopsis)
      VALUES('delete', old.id, old.title, old.synopsis);
      INSERT INTO story_search(rowid, title, synopsis) VALUES(new.id, new.title, new.synopsis);
    END;
    CREATE TRIGGER story_file_removed AFTER DELETE ON story_file BEGIN
      INSERT INTO story_search(story_search, rowid, title, synopsis)
      VALUES('delete', old.id, old.title, old.synopsis);
      DELETE FROM story_tag WHERE file = old.id;
    END;

    -- What a reader bought, or gave back: by story alone, so that it outlives files and directories.
    CREATE TABLE story_purchase(
      story TEXT PRIMARY KEY,
      is_purchased INTEGER NOT NULL,
      marked_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- One row. `purchases` is another number after each change of story_purchase.
    CREATE TABLE story_state(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      purchases INTEGER NOT NULL
    ) STRICT;
    INSERT INTO story_state(id, purchases) VALUES(1, 0);
    """

  /// How texts become words: letters and digits of any script, without case and diacritics.
  static let tokenizer = "unicode61 remove_diacritics 2"

  /// Grows with every change of what checking finds or the index keeps: files that were checked by an older
  /// version are checked again.
  static let checker: Int64 = 1

  /// Runs `body`, and says in plain words when SQLite was built without full-text search.
  package static func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SatchelError where error.message.hasSuffix("no such module: fts5 (SQLite 1)") {
      throw SatchelError(
        .internal, "this SQLite was built without FTS5, which the search of stories needs", underlying: error)
    }
  }
}
