import SatchelJSON

/// The statistics of a story.
public struct StoryStatistics: Equatable, Sendable, JSONConvertible {
  public var segments: Int
  /// The choices whose targets are known, each once.
  public var choices: Int
  /// The number of endings that can be reached.
  public var endings: Int
  /// The number of words of all segments.
  public var words: Int
  /// The number of segments on a shortest path, both ends included; nil when no ending can be reached.
  public var shortestPath: Int?
  /// The number of segments on a longest path; nil when no ending can be reached, or paths are unbounded.
  public var longestPath: Int?
  /// Minutes that the words take at 200 a minute: of a shortest reading, and of all that can be reached.
  public var shortestMinutes: Double
  public var longestMinutes: Double
  /// Different ways from start to an ending.
  public var paths: PathCount
}

extension StoryStatistics {
  private static let wordsPerMinute = 200.0

  /// Those of a text that is not a story.
  static let none = StoryStatistics(
    segments: 0, choices: 0, endings: 0, words: 0, shortestMinutes: 0, longestMinutes: 0,
    paths: .finite(0, isExact: true))

  init(_ analysis: StoryAnalysis) {
    let table = analysis.table
    let counter = PathCounter(analysis)
    segments = table.segments.count
    choices = table.countedChoices
    endings = analysis.graph.endings(analysis.reach)
    words = table.segments.reduce(0) { $0 + Int($1.words) }
    shortestPath = analysis.nearestEnding.map { analysis.reach.path(to: $0).count }
    longestPath = counter.longest
    paths = counter.count
    let time = analysis.readingTime
    shortestMinutes = Double(time?.minWords ?? 0) / Self.wordsPerMinute
    longestMinutes = Double(time?.maxWords ?? 0) / Self.wordsPerMinute
  }

  /// A JSON object with all statistics; "path_count" is -1 for unbounded, and saturates at the largest 64-bit
  /// integer.
  public var json: JSONValue {
    var members = JSONMemberList()
    add(to: &members)
    return members.json
  }

  func add(to members: inout some (JSONMemberSink & ~Copyable)) {
    members.add("segments", Int64(segments))
    members.add("choices", Int64(choices))
    members.add("endings", Int64(endings))
    members.add("words", Int64(words))
    members.add("shortest_path", shortestPath.map { Int64($0) })
    members.add("longest_path", longestPath.map { Int64($0) })
    members.add("shortest_minutes", shortestMinutes)
    members.add("longest_minutes", longestMinutes)
    members.add("path_count", paths.saturated)
  }
}
