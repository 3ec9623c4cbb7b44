import SatchelJSON

/// Something wrong with a story, and where.
public struct StoryFinding: Error, Equatable, Sendable {
  /// What is wrong, by a name that never changes.
  public enum Code: String, Sendable, CaseIterable {
    // The four rules of the format.
    case noSegments = "no-segments"
    case brokenChoice = "broken-choice"
    case noAuthenticPath = "no-authentic-path"
    case unreachable
    // What a reader would run into.
    case trap
    case noEnding = "no-ending"
    case authenticPathBroken = "authentic-path-broken"
    case duplicateSegment = "duplicate-segment"
    case duplicateChoice = "duplicate-choice"
    case missingField = "missing-field"
    case wrongType = "wrong-type"
    case invalidID = "invalid-id"
    // What an author would want to know.
    case endingWithChoices = "ending-with-choices"
    case unmarkedEnding = "unmarked-ending"
    case emptyText = "empty-text"
    case selfChoice = "self-choice"
    case duplicateChoiceText = "duplicate-choice-text"
    case malformedAgeRange = "malformed-age-range"
    case readingTime = "reading-time"
    case dynamicJump = "dynamic-jump"
    // What only a library of files can have.
    case duplicateStory = "duplicate-story"
    case unreadable
    case notJSON = "not-json"
    case notAStory = "not-a-story"

    /// The severity that a finding of this code has, unless its words say otherwise.
    public var severity: Severity {
      switch self {
      case .endingWithChoices, .unmarkedEnding, .emptyText, .selfChoice, .duplicateChoiceText,
        .malformedAgeRange, .readingTime, .dynamicJump, .duplicateStory:
        .warning
      default: .error
      }
    }

    /// What the code means, in one sentence.
    public var summary: String {
      switch self {
      case .noSegments: "A story has at least one segment."
      case .brokenChoice: "A choice leads to a segment that does not exist."
      case .noAuthenticPath: "No segment is on the authentic path."
      case .unreachable: "A segment cannot be reached from the first one."
      case .trap: "From a segment that can be reached, no ending can be."
      case .noEnding: "No ending can be reached from the first segment."
      case .authenticPathBroken: "Authentic segments do not connect the first segment to an ending."
      case .duplicateSegment: "Two segments have the same id."
      case .duplicateChoice: "Two choices have the same id."
      case .missingField: "A required field is missing."
      case .wrongType: "A field holds a value of another type."
      case .invalidID: "An id is empty, or a story's id is no name of a file."
      case .endingWithChoices: "A segment is marked as an ending, but has choices."
      case .unmarkedEnding: "A segment without choices is not marked as an ending."
      case .emptyText: "A text has no words."
      case .selfChoice: "A choice leads back to its own segment."
      case .duplicateChoiceText: "Two choices of a segment have the same text."
      case .malformedAgeRange: "The age range is neither like 5-8 nor like 12+."
      case .readingTime: "The reading time is far from what the words say."
      case .dynamicJump: "A macro jumps to where only playing tells."
      case .duplicateStory: "Two files of a directory hold stories with the same id."
      case .unreadable: "A file cannot be read."
      case .notJSON: "A file is not JSON."
      case .notAStory: "A file is JSON, but no story."
      }
    }
  }

  /// How bad it is: an error breaks the story for its reader or for an app, a warning is for its author.
  public enum Severity: String, Sendable {
    case error, warning
  }

  public var code: Code
  public var severity: Severity
  /// RFC 6901 pointer into the story's JSON; of an imported story, into the JSON it would become.
  public var pointer: String
  /// Offset, line and column in the file that was read.
  public var position: JSONPosition
  /// The column in Unicode scalars, as SARIF counts.
  package var scalarColumn: Int
  /// What is wrong, in words, with the names of what it is about.
  public var message: String
  /// What was probably meant, such as the nearest id.
  public var suggestion: String?

  public init(
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

  /// As JSON: code, severity, pointer, line, column, message, suggestion.
  public var json: JSONValue {
    [
      "code": .string(code.rawValue), "severity": .string(severity.rawValue), "pointer": .string(pointer),
      "line": .int(Int64(position.line)), "column": .int(Int64(position.column)),
      "message": .string(message), "suggestion": suggestion.map { .string($0) } ?? .null,
    ]
  }
}
