import SatchelCore
import SatchelStorage

/// The schema of the story tables: an index of files, which can be rebuilt at any time.
package enum StorySchema {
  package static let subject = SubjectSchema(
    name: "stories", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "story_file.size": StoredRange.any, "story_file.modified": StoredRange.any,
        "story_file.changed": StoredRange.any, "story_file.minutes": StoredRange.any,
        "story_file.path_count": StoredRange.any, "story_file.shortest_time": StoredRange.any,
        "story_file.longest_time": StoredRange.any, "story_file.lowest_age": 0...120,
        "story_file.highest_age": 0...120, "story_file.is_purchased": StoredRange.flag,
        "story_file.is_listed": StoredRange.flag, "story_facet.kind": StoryFacet.range,
      ],
      documents: ["story_file.tags", "story_file.extra"],
      times: ["story_file.modified": .kept, "story_file.changed": .kept]))

  private static let version1 = """
    -- Directories.
    CREATE TABLE story_library(
      id INTEGER PRIMARY KEY,
      directory TEXT NOT NULL UNIQUE
    ) STRICT;

    -- One row for each file, story or not. The columns that detect changes come first, so that a refresh
    -- reads only the start of each row. Times are Unix nanoseconds. `sha256` is NULL for a file that could
    -- not be read; `checker` is the version of the rules that checked it. Reading times are in thousandths of
    -- a minute; `tags` is a JSON array, and `extra` an object. Of the files with the same story in one language, `is_listed` is 1 for
    -- the first one by name.
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
      language TEXT,
      title TEXT,
      title_key TEXT,
      author TEXT,
      original_source TEXT,
      culture TEXT,
      synopsis TEXT,
      cover TEXT,
      minutes INTEGER,
      age_range TEXT,
      lowest_age INTEGER,
      highest_age INTEGER,
      tags TEXT NOT NULL,
      extra TEXT,
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
      is_listed INTEGER NOT NULL,
      UNIQUE(library, name),
      CHECK((story IS NULL) <> (problem IS NULL))
    ) STRICT;
    CREATE INDEX story_file_story ON story_file(library, story, language, name) WHERE story IS NOT NULL;
    CREATE INDEX story_file_problem ON story_file(library, name) WHERE is_listed = 0;
    -- All that conditions and orders need, by title: a query reads the rows of its result only.
    CREATE INDEX story_file_listed ON story_file(
      library, title_key, title, story, language, minutes, path_count, lowest_age, highest_age, is_purchased)
      WHERE is_listed = 1;

    -- The values that stories can be filtered by: see StoryFacet.
    CREATE TABLE story_facet(
      library INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      value TEXT NOT NULL,
      file INTEGER NOT NULL,
      PRIMARY KEY(library, kind, value, file)
    ) STRICT, WITHOUT ROWID;

    \(StorySearch.schema)
    """

  /// The version of the rules and of the index. Files that were checked by an older version are checked
  /// again.
  static let checker: Int64 = 3
}
