import SatchelJSON

/// A segment of a story, and its choices.
public struct StorySegment: Equatable, Sendable, JSONConvertible {
  /// A choice at the end of a segment.
  public struct Choice: Equatable, Sendable {
    public var id: String
    public var text: String
    /// The id of the segment that it leads to, which may not exist; empty for a dynamic choice without a target.
    public var nextSegmentID: String
    /// Whether only the game knows where it leads: perhaps to `nextSegmentID`. Without a text it is not offered to
    /// readers, but code that may lead on.
    public var isDynamic = false
    /// The members of the file that are the app's.
    public var extra = JSONObject()
  }

  public var id: String
  public var text: String
  public var isAuthenticPath: Bool
  /// Whether it is marked as an ending, or has no choices; of a game, also whether it leads only back to the start.
  public var isEnding: Bool
  public var choices: [Choice]
  /// The members of the file that are the app's.
  public var extra: JSONObject

  init(_ analysis: StoryAnalysis, _ index: Int) {
    let table = analysis.table
    id = analysis.id(index)
    text = table.segmentText(index)
    isAuthenticPath = table.segments[index].flags.contains(.isAuthentic)
    isEnding = analysis.graph.isEnding[index]
    extra = table.extra(ofSegment: index)
    choices = table.choiceRange(index).map {
      let choice = table.choices[$0]
      return Choice(
        id: table.choiceID($0, of: index), text: table.text.string(choice.text),
        nextSegmentID: table.text.string(choice.target), isDynamic: choice.flags.contains(.isDynamic),
        extra: table.extra(ofSegment: index, choice: $0))
    }
  }

  /// A JSON object with id, text, is_authentic_path, is_ending, extra, and choices with id, text, next_segment_id,
  /// is_dynamic and extra.
  public var json: JSONValue {
    [
      "id": .string(id), "text": .string(text), "is_authentic_path": .bool(isAuthenticPath),
      "is_ending": .bool(isEnding),
      "choices": .array(
        choices.map {
          [
            "id": .string($0.id), "text": .string($0.text), "next_segment_id": .string($0.nextSegmentID),
            "is_dynamic": .bool($0.isDynamic), "extra": .object($0.extra),
          ]
        }), "extra": .object(extra),
    ]
  }
}
