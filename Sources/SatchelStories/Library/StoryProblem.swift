import SatchelJSON

/// Why a file of a library is not among its stories. There is one for each such file.
public struct StoryProblem: Error, Equatable, Sendable {
  /// The file's name in the library's directory.
  public var file: String
  /// `unreadable`, `notJSON`, `notAStory`, `duplicateStory`; `missingField`, `wrongType` or `invalidID` of a
  /// story without an id that could name it; and of a story that is not sound, its first error.
  public var code: StoryFinding.Code
  /// What is wrong, in words.
  public var message: String
  /// Where, counted from 1; nil when it is about the whole file.
  public var line: Int?
  public var column: Int?
  /// The story's id, where that is known.
  public var story: String?
  /// Of a story that is not sound, all that a check found.
  public var findings: [StoryFinding] = []

  init(file: String, _ failure: StoryFailure, story: String? = nil) {
    self.file = file
    code = failure.code
    message = failure.message
    (line, column) = (failure.line, failure.column)
    self.story = story
  }

  /// With snake_case keys.
  public var json: JSONValue {
    [
      "file": .string(file), "code": .string(code.rawValue), "message": .string(message),
      "line": line.map { .int(Int64($0)) } ?? .null, "column": column.map { .int(Int64($0)) } ?? .null,
      "story": story.map { .string($0) } ?? .null, "findings": .array(findings.map(\.json)),
    ]
  }
}
