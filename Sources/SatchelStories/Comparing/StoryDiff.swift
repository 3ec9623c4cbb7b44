import SatchelJSON

/// What differs between two versions of a story, above all for those who are in the middle of it.
///
/// A reading position is the id of the segment that its reader is at.
public struct StoryDiff: Equatable, Sendable {
  /// A position that a reader of the old version may have saved, and that the new one breaks.
  public struct BrokenPosition: Equatable, Sendable {
    public enum Reason: String, Sendable {
      /// The segment is gone.
      case removed
      /// It is there, but nobody comes to it any more.
      case unreachable
      /// It is there, but no ending can be reached from it any more.
      case trap
    }

    public var segment: String
    public var reason: Reason
    /// A new segment with nearly the same id, or the same text.
    public var suggestion: String?
  }

  /// A choice that leads elsewhere.
  public struct MovedChoice: Equatable, Sendable {
    public var segment: String
    public var choice: String
    public var from: String
    public var to: String
  }

  /// A choice by its segment and its id.
  public struct ChoiceName: Equatable, Sendable {
    public var segment: String
    public var choice: String
  }

  public var broken: [BrokenPosition] = []
  /// The first segments of both, where they differ.
  public var start: (from: String?, to: String?)?
  public var moved: [MovedChoice] = []
  public var addedSegments: [String] = []
  public var removedSegments: [String] = []
  public var addedChoices: [ChoiceName] = []
  public var removedChoices: [ChoiceName] = []
  /// Segments whose text, or whose choices' texts, differ.
  public var changedTexts: [String] = []
  /// Keys of the header whose values differ, with snake_case names.
  public var changedFields: [String] = []

  /// Whether nothing that a reader could see differs.
  public var isSame: Bool { self == StoryDiff() }

  init() {}

  public static func == (left: StoryDiff, right: StoryDiff) -> Bool { left.json == right.json }

  /// {"same", "broken", "start", "moved", "added_segments", …}.
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
  /// What differs in a newer version. Time grows with the segments and choices of both.
  public func changes(to newer: Story) -> StoryDiff {
    StoryComparison(old: analysis, new: newer.analysis).diff
  }
}
