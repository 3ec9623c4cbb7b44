import SatchelJSON

/// A problem of a story, and its location.
public struct StoryFinding: Error, Equatable, Sendable, JSONConvertible {
  /// The kind of the problem; its raw value never changes.
  public enum Code: String, Sendable, CaseIterable {
    // The four rules of the format.
    case noSegments = "no-segments"
    case brokenChoice = "broken-choice"
    case noAuthenticPath = "no-authentic-path"
    case unreachable
    // Problems for a reader of the story or for an app.
    case trap
    case noEnding = "no-ending"
    case authenticPathBroken = "authentic-path-broken"
    case duplicateSegment = "duplicate-segment"
    case duplicateChoice = "duplicate-choice"
    case missingField = "missing-field"
    case wrongType = "wrong-type"
    case invalidID = "invalid-id"
    case missingAsset = "missing-asset"
    // Problems for the author.
    case endingWithChoices = "ending-with-choices"
    case unmarkedEnding = "unmarked-ending"
    case emptyText = "empty-text"
    case selfChoice = "self-choice"
    case duplicateChoiceText = "duplicate-choice-text"
    case malformedAgeRange = "malformed-age-range"
    case readingTime = "reading-time"
    case dynamicJump = "dynamic-jump"
    case conditionalDeadEnd = "conditional-dead-end"
    case byteOrderMark = "byte-order-mark"
    // Problems of files in a library.
    case duplicateStory = "duplicate-story"
    case unreadable
    case notJSON = "not-json"
    case notAStory = "not-a-story"

    /// The default severity of a finding with this code.
    public var severity: Severity {
      switch self {
      case .endingWithChoices, .unmarkedEnding, .emptyText, .selfChoice, .duplicateChoiceText,
        .malformedAgeRange, .readingTime, .dynamicJump, .conditionalDeadEnd, .byteOrderMark, .duplicateStory:
        .warning
      default: .error
      }
    }

    /// The meaning of the code, in one sentence.
    public var summary: String {
      switch self {
      case .noSegments: "A story has at least one segment."
      case .brokenChoice: "A choice leads to a segment that does not exist."
      case .noAuthenticPath: "No segment is on the authentic path."
      case .unreachable: "A segment cannot be reached from the first one."
      case .trap: "No ending can be reached from a reachable segment."
      case .noEnding: "No ending can be reached from the first segment."
      case .authenticPathBroken: "Authentic segments do not connect the first segment to an ending."
      case .duplicateSegment: "Two segments have the same id."
      case .duplicateChoice: "Two choices have the same id."
      case .missingField: "A required field is missing."
      case .wrongType: "A field has a value of the wrong type."
      case .invalidID: "An id is empty, or a story's id is not a valid file name."
      case .missingAsset: "A picture or sound that the story names is not beside its file."
      case .endingWithChoices: "A segment is marked as an ending, but has choices."
      case .unmarkedEnding: "A segment without choices is not marked as an ending."
      case .emptyText: "A text has no words."
      case .selfChoice: "A choice leads back to its own segment."
      case .duplicateChoiceText: "Two choices of a segment have the same text."
      case .malformedAgeRange: "The age range is neither of the form 5-8 nor of the form 12+."
      case .readingTime: "The estimated reading time does not match the number of words."
      case .dynamicJump: "The target of a macro is known only when the story is played."
      case .conditionalDeadEnd: "Each choice of a segment depends on a condition."
      case .byteOrderMark: "The text starts with a byte-order mark, which is ignored."
      case .duplicateStory: "Two files of a directory hold stories with the same id."
      case .unreadable: "A file cannot be read."
      case .notJSON: "A file is not JSON."
      case .notAStory: "A file is JSON, but not a story."
      }
    }
  }

  /// The severity: an error breaks the story for a reader or for an app, a warning is a hint for the author.
  public enum Severity: String, Sendable {
    case error, warning
  }

  /// A place in a passage of a game.
  public struct Passage: Equatable, Sendable {
    public var name: String
    public var line: Int
    public var column: Int
  }

  public var code: Code
  public var severity: Severity
  /// The JSON Pointer (RFC 6901) into the story; for an imported story, into the JSON that it converts to.
  public var pointer: String
  /// For a story in several files, the name of the one with the problem.
  public var file: String?
  /// The offset, line and column in the source file.
  public var position: JSONPosition
  /// For a game, the passage with the problem, and the line and column in its text.
  public var passage: Passage?
  /// Whether the file is a page, whose lines are not those of the passage.
  package var isInPage = false
  /// The column in Unicode scalars, as SARIF counts columns.
  package var scalarColumn: Int
  /// The message, with the names of the elements concerned.
  public var message: String
  /// The suggested replacement, such as the nearest id.
  public var suggestion: String?

  package init(
    _ code: Code, severity: Severity? = nil, pointer: String, position: JSONPosition, message: String,
    suggestion: String? = nil
  ) {
    self.code = code
    self.severity = severity ?? code.severity
    self.pointer = pointer
    self.position = position
    scalarColumn = position.column
    self.message = message
    self.suggestion = suggestion
  }

  /// A JSON object with code, severity, pointer, file, line, column, passage, message and suggestion.
  public var json: JSONValue {
    [
      "code": .string(code.rawValue), "severity": .string(severity.rawValue), "pointer": .string(pointer),
      "file": file.map { .string($0) } ?? .null, "line": .int(Int64(position.line)),
      "column": .int(Int64(position.column)),
      "passage": passage.map {
        ["name": .string($0.name), "line": .int(Int64($0.line)), "column": .int(Int64($0.column))]
      } ?? .null,
      "message": .string(message), "suggestion": suggestion.map { .string($0) } ?? .null,
    ]
  }
}
