import SatchelJSON

/// The metadata, statistics and purchase state of a story, from the library's index.
public struct StorySummary: Equatable, Sendable, JSONConvertible {
  public var id: String
  /// The name of its file in the library's directory.
  public var file: String
  public var title: String?
  public var author: String?
  public var originalSource: String?
  public var culturalOrigin: String?
  public var synopsis: String?
  public var coverImageName: String?
  /// The estimate in the file.
  public var estimatedReadingMinutes: Int64?
  /// The age range as written, such as "5-8".
  public var ageRange: String?
  public var tags: [String] = []
  /// Whether the story is purchased: the state in the store, or the value in the file when the store has
  /// none.
  public var isPurchased = false
  public var segments = 0
  public var choices = 0
  /// The number of endings that can be reached.
  public var endings = 0
  /// The number of words of all segments.
  public var words = 0
  /// The number of segments on a shortest path; nil when no ending can be reached.
  public var shortestPath: Int?
  /// The number of segments on a longest path; nil when no ending can be reached, or paths are unbounded.
  public var longestPath: Int?
  /// The minutes for the words on a shortest path, at 200 words a minute.
  public var shortestMinutes = 0.0
  /// The minutes for the words of all reachable segments, at 200 words a minute.
  public var longestMinutes = 0.0
  /// The number of different paths from the start to an ending: -1 for unbounded, `Int64.max` for that many
  /// or more.
  public var pathCount: Int64 = 0
  /// The number of errors that a check finds.
  public var errors = 0
  /// The number of warnings that a check finds.
  public var warnings = 0

  init(id: String, file: String) {
    self.id = id
    self.file = file
  }

  /// A JSON object with the keys of `StoryHeader.json` and `StoryStatistics.json`, and file, errors and
  /// warnings.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int?) -> JSONValue { value.map { .int(Int64($0)) } ?? .null }
    return [
      "id": .string(id), "file": .string(file), "title": text(title), "author": text(author),
      "original_source": text(originalSource), "cultural_origin": text(culturalOrigin),
      "synopsis": text(synopsis), "cover_image_name": text(coverImageName),
      "estimated_reading_minutes": estimatedReadingMinutes.map { .int($0) } ?? .null,
      "age_range": text(ageRange), "tags": .array(tags.map { .string($0) }),
      "is_purchased": .bool(isPurchased), "segments": number(segments), "choices": number(choices),
      "endings": number(endings), "words": number(words), "shortest_path": number(shortestPath),
      "longest_path": number(longestPath), "shortest_minutes": .double(shortestMinutes),
      "longest_minutes": .double(longestMinutes), "path_count": .int(pathCount), "errors": number(errors),
      "warnings": number(warnings),
    ]
  }
}
