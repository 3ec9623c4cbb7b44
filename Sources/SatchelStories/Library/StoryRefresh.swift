import SatchelJSON

/// What a library found when it looked at its directory again. The counts are of files.
public struct StoryRefresh: Equatable, Sendable {
  public var added = 0
  /// Files with other content than before.
  public var changed = 0
  public var removed = 0
  public var unchanged = 0
  /// How many files had to be read, to compare their content with what is known.
  public var read = 0
  /// How many of these were parsed and checked.
  public var parsed = 0
  /// Files that are not among the stories, and why; by file name.
  public var problems: [StoryProblem] = []

  /// {"added", "changed", "removed", "unchanged", "read", "parsed", "problems"}.
  public var json: JSONValue {
    [
      "added": .int(Int64(added)), "changed": .int(Int64(changed)), "removed": .int(Int64(removed)),
      "unchanged": .int(Int64(unchanged)), "read": .int(Int64(read)), "parsed": .int(Int64(parsed)),
      "problems": .array(problems.map(\.json)),
    ]
  }
}
