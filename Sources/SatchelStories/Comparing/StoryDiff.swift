import SatchelJSON

/// The differences between two versions of a story, in particular those that break saved reading positions.
///
/// A reading position is the id of the segment that a reader is at.
public struct StoryDiff: Equatable, Sendable, JSONConvertible {
  /// A reading position of the old version that the new version breaks.
  public struct BrokenPosition: Equatable, Sendable {
    public enum Reason: String, Sendable {
      /// The segment was removed.
      case removed
      /// The segment exists, but can no longer be reached.
      case unreachable
      /// The segment exists, but no ending can be reached from it any longer.
      case trap
    }

    public var segment: String
    public var reason: Reason
    /// A new segment with the same text or a similar id.
    public var suggestion: String?
  }

  /// A choice whose target changed.
  public struct MovedChoice: Equatable, Sendable {
    public var segment: String
    public var choice: String
    public var from: String
    public var to: String
  }

  /// Identifies a choice by its segment and its id.
  public struct ChoiceName: Equatable, Sendable {
    public var segment: String
    public var choice: String
  }

  public var broken: [BrokenPosition] = []
  /// The first segments of both versions, when they differ.
  public var start: (from: String?, to: String?)?
  public var moved: [MovedChoice] = []
  public var addedSegments: [String] = []
  public var removedSegments: [String] = []
  public var addedChoices: [ChoiceName] = []
  public var removedChoices: [ChoiceName] = []
  /// The segments whose text, or whose choices' texts, differ.
  public var changedTexts: [String] = []
  /// The snake_case keys of the header whose values differ.
  public var changedFields: [String] = []

  /// Whether there is no difference that a reader could see.
  public var isSame: Bool { self == StoryDiff() }

  init() {}

  public static func == (left: StoryDiff, right: StoryDiff) -> Bool { left.json == right.json }

  /// A JSON object with same, broken, start, moved, added_segments and so on.
  public var json: JSONValue {
    func names(_ list: [ChoiceName]) -> JSONValue {
      .array(list.map { ["segment": .string($0.segment), "choice": .string($0.choice)] })
    }
    func texts(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    let differences: [(String, JSONValue)] = [
      (
        "broken",
        .array(
          broken.map {
            [
              "segment": .string($0.segment), "reason": .string($0.reason.rawValue),
              "suggestion": text($0.suggestion),
            ]
          })
      ),
      ("start", start.map { ["from": text($0.from), "to": text($0.to)] } ?? .null),
      (
        "moved",
        .array(
          moved.map {
            [
              "segment": .string($0.segment), "choice": .string($0.choice), "from": .string($0.from),
              "to": .string($0.to),
            ]
          })
      ),
      ("added_segments", texts(addedSegments)), ("removed_segments", texts(removedSegments)),
      ("added_choices", names(addedChoices)), ("removed_choices", names(removedChoices)),
      ("changed_texts", texts(changedTexts)), ("changed_fields", texts(changedFields)),
    ]
    let isSame = differences.allSatisfy { $0.1 == .null || $0.1 == .array([]) }
    return .object(JSONObject([("same", .bool(isSame))] + differences))
  }
}

extension Story {
  /// Returns the differences to a newer version, in time proportional to the segments and choices of both.
  public func changes(to newer: Story) -> StoryDiff {
    StoryComparison(old: analysis, new: newer.analysis).diff
  }
}
