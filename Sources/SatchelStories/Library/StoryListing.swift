import SatchelJSON

/// The stories and problems of a library.
public struct StoryListing: Equatable, Sendable, JSONConvertible {
  /// The stories, sorted by file name.
  public var stories: [StorySummary]
  /// The files that are not stories, with the reasons, sorted by file name.
  public var problems: [StoryProblem]

  /// A JSON object with stories and problems.
  public var json: JSONValue {
    ["stories": .array(stories.map(\.json)), "problems": .array(problems.map(\.json))]
  }
}

/// The result of a refresh. The counts are numbers of files.
public struct StoryRefresh: Equatable, Sendable, JSONConvertible {
  public var added = 0
  /// The number of files whose content changed.
  public var changed = 0
  public var removed = 0
  public var unchanged = 0
  /// The number of files that were read, to compare their content with the index.
  public var read = 0
  /// The number of files that were parsed and checked.
  public var parsed = 0
  /// The files that are not stories, with the reasons, sorted by file name.
  public var problems: [StoryProblem] = []
  /// The reading positions that changed files broke, and where they were moved.
  public var moved: [StoryMove] = []

  /// A JSON object with added, changed, removed, unchanged, read, parsed, problems and moved.
  public var json: JSONValue {
    [
      "added": .int(Int64(added)), "changed": .int(Int64(changed)), "removed": .int(Int64(removed)),
      "unchanged": .int(Int64(unchanged)), "read": .int(Int64(read)), "parsed": .int(Int64(parsed)),
      "problems": .array(problems.map(\.json)), "moved": .array(moved.map(\.json)),
    ]
  }
}

/// The reason why a file of a library is not one of its stories. There is one problem for each such file.
public struct StoryProblem: Error, Equatable, Sendable, JSONConvertible {
  /// The name of the file in the library's directory.
  public var file: String
  /// The kind of the problem: `unreadable`, `notJSON`, `notAStory` or `duplicateStory`; `missingField`,
  /// `wrongType` or `invalidID` for a story without a valid id; for a story that is not sound, the code of
  /// its first error.
  public var code: StoryFinding.Code
  /// The message.
  public var message: String
  /// The line, counted from 1; nil when the problem concerns the whole file.
  public var line: Int?
  /// The column, counted from 1; nil when the problem concerns the whole file.
  public var column: Int?
  /// The id of the story, when it is known.
  public var story: String?
  /// For a story that is not sound, all findings of the check.
  public var findings: [StoryFinding] = []

  init(file: String, _ failure: StoryFailure, story: String? = nil) {
    self.file = file
    code = failure.code
    message = failure.message
    (line, column) = (failure.line, failure.column)
    self.story = story
  }

  /// A JSON object with snake_case keys.
  public var json: JSONValue {
    [
      "file": .string(file), "code": .string(code.rawValue), "message": .string(message),
      "line": line.map { .int(Int64($0)) } ?? .null, "column": column.map { .int(Int64($0)) } ?? .null,
      "story": story.map { .string($0) } ?? .null, "findings": .array(findings.map(\.json)),
    ]
  }
}
