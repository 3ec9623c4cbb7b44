import SatchelJSON

/// All that a library's directory holds.
public struct StoryListing: Equatable, Sendable {
  /// By file name.
  public var stories: [StorySummary]
  /// Files that are not among the stories, and why; by file name.
  public var problems: [StoryProblem]

  /// {"stories", "problems"}.
  public var json: JSONValue {
    ["stories": .array(stories.map(\.json)), "problems": .array(problems.map(\.json))]
  }
}
