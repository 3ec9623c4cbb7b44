import SatchelJSON

/// The reader's progress in a story.
public struct StoryProgress: Equatable, Sendable, JSONConvertible {
  public typealias Reason = StoryDiff.BrokenPosition.Reason

  /// The id of the story.
  public var story: String
  /// The reader, and which of the reader's slots it is.
  public var slot = ReadingSlot()
  /// The language of the file that was read last; nil for a file without one.
  public var language: String?
  /// The segment that the reader is at; nil for a story that was not begun.
  public var position: String?
  /// The visited segments, in the order of their first visits.
  public var visited: [String] = []
  /// Those of the visited segments that were endings, in the order of their first visits.
  public var endings: [String] = []
  /// The time of the last move, in Unix milliseconds.
  public var readAt: Int64?
  /// The app's own data, such as the variables of a game; null when there are none.
  public var data = JSONValue.null
  /// The position that a new version of the story broke, so that the reader was moved to `position`; nil after
  /// the next move.
  public var movedFrom: String?
  /// How that version broke it.
  public var movedReason: Reason?

  /// A JSON object with snake_case keys.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func texts(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
    return [
      "story": .string(story), "reader": .string(slot.reader), "slot": .string(slot.slot),
      "language": text(language), "position": text(position), "visited": texts(visited),
      "endings": texts(endings), "read_at": readAt.map { .int($0) } ?? .null, "moved_from": text(movedFrom),
      "moved_reason": text(movedReason?.rawValue), "data": data,
    ]
  }
}

/// A reading position that a new version of its story broke, and where it was moved.
public struct StoryMove: Equatable, Sendable, JSONConvertible {
  public var story: String
  /// The slot whose position it is.
  public var slot = ReadingSlot()
  public var from: String
  public var to: String
  public var reason: StoryProgress.Reason

  public var json: JSONValue {
    [
      "story": .string(story), "reader": .string(slot.reader), "slot": .string(slot.slot),
      "from": .string(from), "to": .string(to), "reason": .string(reason.rawValue),
    ]
  }
}
